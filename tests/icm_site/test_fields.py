import pytest
from django.core.exceptions import ValidationError

from icm_site.fields import ULIDField
from icm_site.ulid import is_ulid

GOOD = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def test_lower_case_is_accepted_and_kept_as_upper_case() -> None:
    field = ULIDField()
    assert field.to_python(GOOD.lower()) == GOOD
    assert field.get_prep_value(GOOD.lower()) == GOOD
    assert field.clean(GOOD.lower(), None) == GOOD
    assert field.get_prep_value(None) is None


@pytest.mark.parametrize("value", ["", "x", GOOD[:-1], GOOD + "0", 7, b"x", "x" * 500])
def test_anything_else_is_a_validation_error(value: object) -> None:
    with pytest.raises(ValidationError, match="is not a ULID"):
        ULIDField().to_python(value)
    with pytest.raises(ValidationError):
        ULIDField().get_prep_value(value)


def test_the_field_is_unique_made_by_us_and_never_edited() -> None:
    field = ULIDField()
    assert (field.unique, field.editable, field.max_length) == (True, False, 26)
    assert is_ulid(field.get_default())


def test_a_migration_repeats_nothing_and_makes_the_same_field() -> None:
    _, path, args, kwargs = ULIDField().deconstruct()
    assert (path, args, kwargs) == ("icm_site.fields.ULIDField", [], {})
    changed = ULIDField(default=None, db_column="id")
    *_, kwargs = changed.deconstruct()
    assert kwargs == {"default": None, "db_column": "id"}
    assert ULIDField(**kwargs).deconstruct() == changed.deconstruct()
