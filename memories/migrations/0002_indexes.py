"""The text index (FTS5) and the vector index (vec0), where this SQLite has them."""

from django.db import migrations

from icm_site.sqlite.capabilities import capabilities
from memories import fts_schema
from memories.indexes import DROP_VECTOR_TRIGGERS, SIZE, vector_triggers


def create(apps, schema_editor):
    can = capabilities(schema_editor.connection)
    statements = [
        fts_schema.CREATE_VIEW,
        fts_schema.CREATE_LOG,
        *fts_schema.LOG_TRIGGERS,
        fts_schema.STAMP,
    ]
    if can.fts5:
        statements += [fts_schema.CREATE_FTS, *fts_schema.FTS_TRIGGERS]
    if can.vec0:
        statements += [fts_schema.create_vectors(SIZE), *vector_triggers(SIZE)]
    for statement in statements:
        schema_editor.execute(statement, params=None)


def drop(apps, schema_editor):
    for statement in [*DROP_VECTOR_TRIGGERS, *fts_schema.DROP, fts_schema.DROP_VECTORS]:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
