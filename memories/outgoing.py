"""Secrets masked on the way out: what was stored before its format was known.

Of a secret that a person lets through by `--allow-secret` the digest is kept, and it
goes out to whoever asks. What is put before an agent unasked shows none but those of
`redaction.allow`. No Django at import: hooks use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from memories.redact import redact

if TYPE_CHECKING:
    from icm_site.conf import Config

_Any = TypeVar("_Any")

# Texts that are known to hold no secret, as many as are remembered.
REMEMBERED = 4096
# No secret is shorter, nor an assignment with one.
SHORTEST = 8
_HOLDING = (str, list, tuple, dict)
Clean = Callable[[str], bool]
# In icm_metadata: this and the SHA-256 of a secret that a person let through.
KEY = "allowed-secret:"
ALLOW = "INSERT OR IGNORE INTO icm_metadata(key, value) VALUES (?, '')"
IS_ALLOWED = "SELECT 1 FROM icm_metadata WHERE key = ?"
# `redaction.extra` and `redaction.allow`.
Patterns = tuple[tuple[str, ...], tuple[str, ...]]
_GIVEN: ContextVar[Patterns | None] = ContextVar("patterns", default=None)


def use(patterns: Patterns) -> None:
    """Go by these in this context, whatever the configuration holds.

    For a hook on its own: its settings are read, or known to be the defaults, and the
    modules that read them take longer to load than its answer takes.
    """
    _GIVEN.set(patterns)


def unasked(text: str) -> str:
    """A text as it may be put before an agent."""
    return text if _is_clean(text, *_patterns()) else _mask(text)


def asked(text: str) -> str:
    """A text for who asks for it: what a person let through stays."""
    return text if _is_clean(text, *_patterns()) else _mask(text, _is_allowed)


def masked(result: _Any) -> _Any:
    """A result with its texts, however deep they are, as `asked` gives them."""
    extra, allow = _patterns()
    found: _Any = _inside(result, lambda text: _is_clean(text, extra, allow))
    return found


def let_through(texts: Iterable[str]) -> None:
    """Remember the secrets in texts that a person wants stored as they are."""
    from memories.driver import raw_connection

    secrets: list[str] = []

    def note(secret: str) -> bool:
        secrets.append(secret)
        return True

    for text in texts:
        if not _is_clean(text, *_patterns()):
            _mask(text, note)
    if secrets:
        raw = raw_connection()
        raw.executemany(ALLOW, {(_key(secret),) for secret in secrets})


def _key(secret: str) -> str:
    import hashlib  # on the path of hooks it is not needed

    return KEY + hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _is_allowed(secret: str) -> bool:
    from memories.driver import raw_connection

    return raw_connection().execute(IS_ALLOWED, (_key(secret),)).fetchone() is not None


def _patterns() -> Patterns:
    if given := _GIVEN.get():
        return given
    from icm_site import conf

    return patterns_of(conf.current())


def patterns_of(config: Config) -> Patterns:
    """What a configuration says of secrets."""
    return tuple(config.redaction.extra), tuple(config.redaction.allow)


@lru_cache(REMEMBERED)
def _is_clean(text: str, extra: tuple[str, ...], allow: tuple[str, ...]) -> bool:
    return not redact(text, extra=extra, allow=allow).found


def _mask(text: str, known: Callable[[str], bool] | None = None) -> str:
    extra, allow = _patterns()
    return redact(text, extra=extra, allow=allow, known=known).text


def _inside(value: Any, clean: Clean) -> Any:
    """The value itself where nothing in it is to be masked."""
    if isinstance(value, str):
        return value if len(value) < SHORTEST or clean(value) else asked(value)
    if isinstance(value, list | tuple):
        items = [_inside(each, clean) for each in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        changed = _changed(value, clean)
        return {**value, **changed} if changed else value
    if not hasattr(value, "model_copy"):
        return value
    changed = _changed(vars(value), clean)
    return value.model_copy(update=changed) if changed else value


def _changed(values: Mapping[str, Any], clean: Clean) -> dict[str, Any]:
    """Those of the values that have something to be masked, without it."""
    return {
        name: new
        for name, old in values.items()
        if isinstance(old, _HOLDING) or hasattr(old, "model_copy")
        if (new := _inside(old, clean)) is not old
    }
