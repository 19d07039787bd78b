"""The Django database backend: SQLite with vec0, WAL and immediate transactions."""

import os
from typing import Any

from django.db.backends.sqlite3 import base

from icm_site.sqlite import opening, vec


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's SQLite backend; `read_only` tells, once connected, if it may write.

    OPTIONS takes `read_only` besides what Django knows.
    """

    read_only = False

    def get_connection_params(self) -> dict[str, Any]:
        """Add our defaults: 20 s of waiting, transactions that start as IMMEDIATE."""
        params = super().get_connection_params()
        self._asked_read_only = bool(params.pop("read_only", False))
        chosen = self.settings_dict["OPTIONS"].get("transaction_mode")
        self.transaction_mode = (chosen or "IMMEDIATE").upper()
        return {"timeout": opening.TIMEOUT, **params}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file as `opening.plan` decides, and prepare the connection."""
        name = os.fspath(conn_params["database"])
        vec.way()
        if name == ":memory:" or name.startswith("file:"):
            connection = super().get_new_connection(conn_params)
            vec.load(connection)
            return connection
        chosen = opening.plan(name, read_only=self._asked_read_only)
        connection = super().get_new_connection(
            {**conn_params, "database": chosen.address}
        )
        timeout = conn_params["timeout"]
        try:
            self.read_only = opening.prepare(
                connection, name, read_only=chosen.read_only, timeout=timeout
            )
        except BaseException:
            connection.close()
            raise
        return connection
