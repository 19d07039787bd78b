"""The text that a mark is about."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0002_indexes")]

    operations = [
        migrations.AddField(
            model_name="memorymark",
            name="text_hash",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
    ]
