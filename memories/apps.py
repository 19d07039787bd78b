"""The Django app of memories."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class MemoriesConfig(AppConfig):
    name = "memories"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from memories import checks  # noqa: F401
        from memories.indexes import drop_before_migrate, ensure_after_migrate

        pre_migrate.connect(drop_before_migrate, sender=self)
        post_migrate.connect(ensure_after_migrate, sender=self)
