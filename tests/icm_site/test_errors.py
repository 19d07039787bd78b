import pytest

from icm_site import errors

KINDS = [
    (errors.InvalidInput, 400),
    (errors.Unauthorized, 401),
    (errors.ReadOnly, 403),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.TooLarge, 413),
    (errors.TooMany, 429),
    (errors.Unavailable, 503),
]


@pytest.mark.parametrize(("kind", "status"), KINDS)
def test_each_kind_has_a_status_and_keeps_its_sentence(
    kind: type[errors.IcmError], status: int
) -> None:
    error = kind("No such memory.")
    assert isinstance(error, errors.IcmError)
    assert (error.status, error.message, str(error)) == (
        status,
        *["No such memory."] * 2,
    )
