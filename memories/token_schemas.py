"""What the operations on tokens take and give."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from icm_site.operation import Params, Result


class TokenCreateParams(Params):
    name: str = Field(description="Who will use it, e.g. a program; unique")
    read_only: bool = Field(False, description="It may read and not write")


class TokenRevokeParams(Params):
    name: str = Field(description="Name of the token")


class TokenRecord(Result):
    """A token without its secret."""

    id: str
    name: str
    read_only: bool
    created_at: datetime
    last_used: datetime | None


class TokenCreateResult(Result):
    """`secret` is shown this once and kept nowhere."""

    token: TokenRecord
    secret: str


class TokenListResult(Result):
    tokens: list[TokenRecord]


class TokenRevokeResult(Result):
    token: TokenRecord
