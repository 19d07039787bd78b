"""Index words in which irregular English forms are one word."""

from django.db import migrations

from feedback.indexes import INDEX
from icm_site.stem import irregular_by_ending
from icm_site.text_index import renew


def forward(apps, schema_editor):
    renew(INDEX.table, INDEX.columns, holding=irregular_by_ending())


class Migration(migrations.Migration):
    # Each batch of rows is a transaction.
    atomic = False
    dependencies = [("feedback", "0002_index")]

    operations = [migrations.RunPython(forward, migrations.RunPython.noop)]
