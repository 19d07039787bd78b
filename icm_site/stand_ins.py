"""What the models know of the columns of their tables, for `icm repair`."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import connection, models

from icm_site.fields import ULIDField
from icm_site.sqlite.values import Rule, Rules
from icm_site.ulid import is_ulid


def rules() -> Rules:
    """For each column that values are chosen for: which it may hold, and the usual."""
    return {
        (model._meta.db_table, str(field.column)): _rule(field)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.has_default() or field.choices
    }


def _rule(field: models.Field[Any, Any]) -> Rule:
    known = [value for value, _ in field.flatchoices]

    def make() -> Any:
        if known and not field.has_default():
            return known[0]
        return field.get_db_prep_save(field.get_default(), connection)

    if isinstance(field, ULIDField):
        return Rule(lambda value: is_ulid(str(value)), make)
    return Rule(lambda value: not known or value in known, make)
