"""Pages and answers that belong to no app."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Say that the server answers, and nothing else: anyone may ask."""
    return JsonResponse({"status": "ok"})
