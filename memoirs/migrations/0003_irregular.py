"""Index words in which irregular English forms are one word."""

from django.db import migrations

from icm_site.stem import irregular_by_ending
from icm_site.text_index import renew
from memoirs.indexes import INDEX


def forward(apps, schema_editor):
    renew(INDEX.table, INDEX.columns, holding=irregular_by_ending())


class Migration(migrations.Migration):
    # Each batch of rows is a transaction.
    atomic = False
    dependencies = [("memoirs", "0002_indexes")]

    operations = [migrations.RunPython(forward, migrations.RunPython.noop)]
