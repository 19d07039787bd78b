"""The language of the pages: what the person chose, else what the browser asks for."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from icm_site.http_errors import PREFIXES


class PagesInTheirLanguage(LocaleMiddleware):
    """Django's own choice for pages; what programs read is always English."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith(PREFIXES):
            translation.activate(settings.LANGUAGE_CODE)
            return
        super().process_request(request)
