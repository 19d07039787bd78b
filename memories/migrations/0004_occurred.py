"""Memories by the time of what they are about, which few of them name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0003_mark_text")]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("occurred_at__isnull", False)),
                fields=["occurred_at"],
                name="memories_occurred",
            ),
        ),
    ]
