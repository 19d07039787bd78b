"""What a caller can act on, as exceptions; each kind carries its HTTP status."""


class IcmError(Exception):
    """A failure that one sentence explains; everything else may crash."""

    status = 500

    def __init__(self, message: str) -> None:
        # What was given may stand in it: it adds no line, and acts on no terminal.
        seen = "".join(char if char.isprintable() else " " for char in message)
        self.message = " ".join(seen.split())
        super().__init__(self.message)


class NotFound(IcmError):
    """The named memory, memoir, concept or change does not exist."""

    status = 404


class InvalidInput(IcmError):
    """A value, a file or a setting is not acceptable as it was given."""

    status = 400


class UsageError(InvalidInput):
    """The command line itself is wrong."""


class Conflict(IcmError):
    """The request is sound, but what is stored does not allow it."""

    status = 409


class ReadOnly(IcmError):
    """A write was asked of a database that is open for reading alone."""

    status = 403


class Unauthorized(IcmError):
    """Nobody is known to ask, or what was shown as proof does not hold."""

    status = 401


class Forbidden(IcmError):
    """Whoever asks is known, but may not do this."""

    status = 403


class TooLarge(IcmError):
    """The body of a request is over the limit."""

    status = 413


class TooMany(IcmError):
    """More requests within a minute than one caller may make."""

    status = 429


class Unavailable(IcmError):
    """A needed part (a lock, a model, a folder) is out of reach at the moment."""

    status = 503
