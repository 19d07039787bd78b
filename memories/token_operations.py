"""The operations on tokens, for the command line alone."""

from __future__ import annotations

from icm_site.caller import Caller
from memories import tokens
from memories.models import Token
from memories.schemas import NoParams
from memories.token_schemas import (
    TokenCreateParams,
    TokenCreateResult,
    TokenListResult,
    TokenRecord,
    TokenRevokeParams,
    TokenRevokeResult,
)


def token_create(params: TokenCreateParams, caller: Caller) -> TokenCreateResult:
    """Make a token with which a program reaches the HTTP interfaces.

    Its secret is printed this once and kept only as a hash.
    """
    del caller
    token, secret = tokens.create(params.name, read_only=params.read_only)
    return TokenCreateResult(token=_record(token), secret=secret)


def token_list(params: NoParams, caller: Caller) -> TokenListResult:
    """List the tokens and when each was last used."""
    del params, caller
    return TokenListResult(tokens=[_record(token) for token in tokens.listed()])


def token_revoke(params: TokenRevokeParams, caller: Caller) -> TokenRevokeResult:
    """Make a token useless at once. It cannot be undone."""
    del caller
    return TokenRevokeResult(token=_record(tokens.revoke(params.name)))


def _record(token: Token) -> TokenRecord:
    return TokenRecord(
        id=token.ulid,
        name=token.name,
        read_only=token.read_only,
        created_at=token.created_at,
        last_used=token.last_used,
    )
