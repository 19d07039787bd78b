"""The Django app of memoirs."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class MemoirsConfig(AppConfig):
    name = "memoirs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from memoirs.indexes import INDEX

        pre_migrate.connect(INDEX.drop_before_migrate, sender=self)
        post_migrate.connect(INDEX.ensure_after_migrate, sender=self)
