"""Why a tool's file is left as it is."""

from icm_site.errors import IcmError


class WrongShape(IcmError):
    """A file, or a key in it, is not of the form that its tool documents."""

    status = 409
