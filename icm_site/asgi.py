"""The ASGI application: the rules, static files, then Django on its threads."""

import os
from typing import cast

from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from django.core.handlers.asgi import ASGIHandler

from icm_site.web_guard import App, guarded
from icm_site.web_workers import with_workers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "icm_site.settings")

on_threads = cast(ASGIHandler, with_workers(cast(App, get_asgi_application())))
application = guarded(cast(App, ASGIStaticFilesHandler(on_threads)))
