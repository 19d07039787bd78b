"""Django's settings for commands and MCP over pipes, which show no pages."""

from icm_site.settings import *  # noqa: F403
from icm_site.settings import INSTALLED_APPS as _ALL_APPS

# Has templates alone, and importing it takes a fifth of a command's start.
INSTALLED_APPS = [name for name in _ALL_APPS if name != "ninja"]
