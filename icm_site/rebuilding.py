"""All indexes made anew from the base tables, by `icm repair` and `icm doctor`."""

from __future__ import annotations

import os
from typing import Any


def rebuild(*, mend: bool = False) -> None:
    """Open the database normally and make every index anew, and the words in them.

    With `mend` also the ordinary ones, and bookkeeping of memories that lack it.
    Raises what opening the database raises.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "icm_site.settings")
    import django

    django.setup()
    from django.db import connection

    from icm_site import database, text_index
    from memories import indexes, usage_rows

    database.ready()
    if mend:
        _complete_schema()
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


def _complete_schema() -> None:
    """Make the tables and indexes whose definition was lost, the tables empty."""
    from django.apps import apps
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master")
        known = {row[0] for row in cursor.fetchall()}
        for model in apps.get_models():
            if model._meta.db_table in known:
                _complete_indexes(model, known, cursor)
                continue
            with connection.schema_editor() as editor:
                editor.create_model(model)


def _complete_indexes(model: Any, known: set[str], cursor: Any) -> None:
    from django.db import connection
    from django.db.models import Index

    meta = model._meta
    found = connection.introspection.get_constraints(cursor, meta.db_table).values()
    held = {tuple(each["columns"]) for each in found if each["index"]}
    single = [f for f in meta.local_fields if f.db_index and not f.unique]
    with connection.schema_editor() as opened:
        editor: Any = opened
        for field in single:
            if (field.column,) not in held:
                # The name that a migration would give has no public function.
                editor.execute(editor._create_index_sql(model, fields=[field]))
        for named in (*meta.indexes, *meta.constraints):
            if isinstance(named, Index) and named.name not in known:
                editor.add_index(model, named)
            elif getattr(named, "condition", None) and named.name not in known:
                editor.add_constraint(model, named)
