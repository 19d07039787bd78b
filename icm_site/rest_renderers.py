"""Rows as JSON, in the browsable pages too, without secrets stored before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer

from memories import outgoing


class MaskedJSONRenderer(JSONRenderer):
    """Every text of an answer as it may go out."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return super().render(
            outgoing.masked(data), accepted_media_type, renderer_context
        )
