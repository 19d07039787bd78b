"""The ASGI application: the rules, then MCP, static files or Django on its threads."""

import os
from typing import cast

from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from django.core.handlers.asgi import ASGIHandler

from icm_site.mcp_http import McpApp
from icm_site.web_guard import App, guarded
from icm_site.web_workers import Workers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "icm_site.settings")

workers = Workers()
on_threads = cast(ASGIHandler, workers.serving(cast(App, get_asgi_application())))
pages = cast(App, ASGIStaticFilesHandler(on_threads))
application = guarded(McpApp(workers, otherwise=pages))
