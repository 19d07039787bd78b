"""Index words in which irregular English forms are one word."""

from django.db import migrations

from icm_site.stem import irregular_by_ending
from icm_site.text_index import renew
from memories.indexes import COLUMNS, TABLE


def forward(apps, schema_editor):
    renew(TABLE, COLUMNS, holding=irregular_by_ending())


class Migration(migrations.Migration):
    # Each batch of rows is a transaction.
    atomic = False
    dependencies = [("memories", "0008_no_state_first")]

    operations = [migrations.RunPython(forward, migrations.RunPython.noop)]
