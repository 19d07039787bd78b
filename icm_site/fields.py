"""A model field that holds a ULID as its 26 characters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models

from icm_site.ulid import LENGTH, is_ulid, new_ulid

if TYPE_CHECKING:
    _Text = models.CharField[str, str]
else:
    # Only the stubs make it generic.
    _Text = models.CharField


class ULIDField(_Text):
    """The public id of a row: unique, made by us, never edited.

    Lower case is accepted and stored as upper case; anything else that is no ULID
    raises ValidationError.
    """

    description = "ULID"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fixed = {"max_length": LENGTH, "unique": True, "editable": False}
        super().__init__(*args, **{"default": new_ulid, **kwargs, **fixed})

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        """Leave out what is the same for each ULID field."""
        name, path, args, kwargs = super().deconstruct()
        for fixed in ("max_length", "unique", "editable"):
            kwargs.pop(fixed, None)
        if kwargs.get("default") is new_ulid:
            del kwargs["default"]
        return name, path, args, kwargs

    def to_python(self, value: Any) -> Any:
        """Return the upper-case ULID, or None for None."""
        if value is None:
            return None
        if not isinstance(value, str) or not is_ulid(value):
            raise ValidationError(f"{str(value)[:40]!r} is not a ULID.", code="invalid")
        return value.upper()

    def get_prep_value(self, value: Any) -> Any:
        """Return what the column and a comparison with it hold."""
        return self.to_python(super(models.CharField, self).get_prep_value(value))
