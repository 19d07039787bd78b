"""Indexes of 0007 without the state before them, which misled SQLite's plans."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0007_lists"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="memory",
            name="memories_topic_state",
        ),
        migrations.RemoveIndex(
            model_name="memory",
            name="memories_state_updated",
        ),
        migrations.RemoveIndex(
            model_name="memory",
            name="memories_state_topic",
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                fields=["topic_key", "state", "importance", "topic"],
                name="memories_topic",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["updated_at"], name="memories_updated"),
        ),
    ]
