"""All indexes made anew from the base tables, by `icm repair` and `icm doctor`."""

from __future__ import annotations

from icm_site import startup


def rebuild(*, mend: bool = False) -> None:
    """Open the database normally and make every index anew, and the words in them.

    With `mend` also the ordinary ones, and bookkeeping of memories that lack it.
    Raises what opening the database raises.
    """
    startup.set_up_django()
    from django.db import connection

    from icm_site import database, text_index
    from memories import indexes, usage_rows

    database.ready()
    if mend:
        usage_rows.complete()
        with connection.cursor() as cursor:
            cursor.execute("REINDEX")
    indexes.rebuild()
    text_index.renew(indexes.TABLE, indexes.COLUMNS)
    for index in database.TEXT_INDEXES:
        index.rebuild()
        text_index.renew(index.table, index.columns)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
