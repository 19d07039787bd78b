"""The text index (FTS5), where this SQLite has it."""

from django.db import migrations

from icm_site.sqlite.capabilities import capabilities
from memoirs.indexes import INDEX


def create(apps, schema_editor):
    if capabilities(schema_editor.connection).fts5:
        for statement in INDEX.create:
            schema_editor.execute(statement, params=None)


def drop(apps, schema_editor):
    for statement in INDEX.drop:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("memoirs", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
