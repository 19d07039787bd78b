"""The table of feedback."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import icm_site.fields


def to_memory(related_name):
    return models.ForeignKey(
        blank=True,
        null=True,
        on_delete=django.db.models.deletion.SET_NULL,
        related_name=related_name,
        to="memories.memory",
    )


class Migration(migrations.Migration):
    initial = True

    dependencies = [("memories", "0003_mark_text")]

    operations = [
        migrations.CreateModel(
            name="Feedback",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("ulid", icm_site.fields.ULIDField()),
                ("topic", models.TextField()),
                ("context", models.TextField()),
                ("predicted", models.TextField()),
                ("corrected", models.TextField()),
                ("reason", models.TextField(blank=True, default="")),
                ("source", models.CharField(blank=True, default="", max_length=255)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("applied_count", models.PositiveIntegerField(default=0)),
                ("memory", to_memory("feedback")),
                ("correction", to_memory("+")),
                ("topic_key", models.TextField(editable=False)),
                ("topic_index", models.TextField(editable=False)),
                ("context_index", models.TextField(editable=False)),
                ("predicted_index", models.TextField(editable=False)),
                ("corrected_index", models.TextField(editable=False)),
                ("reason_index", models.TextField(default="", editable=False)),
            ],
            options={
                "db_table": "feedback",
                "verbose_name_plural": "feedback",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["topic_key"], name="feedback_topic")],
            },
        ),
    ]
