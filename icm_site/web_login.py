"""Pages about the interfaces for programs, shown to whom these are open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from icm_site import auth
from icm_site.errors import Unauthorized

View = Callable[..., HttpResponse]


def for_known(view: View) -> View:
    """Show a page to whom the interface is open; a browser is led to the login."""

    def shown(request: HttpRequest, **arguments: Any) -> HttpResponse:
        try:
            auth.identify(request)
        except Unauthorized:
            if "text/html" not in request.headers.get("Accept", ""):
                raise
            return redirect(f"{reverse('admin:login')}?next={request.path}")
        return view(request, **arguments)

    return shown
