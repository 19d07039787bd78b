"""Django's settings. What a person configures is in `icm_site.conf`."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from django.utils.functional import SimpleLazyObject

from icm_site import conf, paths
from icm_site.errors import Unavailable

BASE_DIR = Path(__file__).resolve().parent.parent
# In the wheel they lie inside the package; a `templates` beside it is another one's.
TEMPLATES_DIR = next(
    folder
    for folder in (BASE_DIR / "icm_site" / "templates", BASE_DIR / "templates")
    if folder.is_dir()
)

# Django puts its own zone, UTC, into TZ; `apps` gives the process the user's back.
USER_TZ = os.environ.get("TZ")

CONFIG = conf.current()
DATABASE_PATH = CONFIG.database_path


def secret_key() -> str:
    """The signing key of this installation, made at its first use, mode 0600.

    Where it cannot be kept, as with a read-only home, it serves this process alone.
    """
    try:
        return _kept_key(paths.data_dir() / "secret_key")
    except (OSError, Unavailable):
        return secrets.token_urlsafe(48)


def _kept_key(path: Path) -> str:
    if not path.exists():
        paths.make_private_dir(path.parent)
        # It gets its name when it is whole: another process may read it at once.
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        with open(fresh, "w", opener=paths.private_opener, encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            path.hardlink_to(fresh)
        fresh.unlink()
    return path.read_text(encoding="ascii").strip()


SECRET_KEY = SimpleLazyObject(secret_key)
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]

INSTALLED_APPS = [
    # Without its search for admin modules, which only `urls` needs: every command
    # would pay for the import of forms and pages.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "ninja",
    "django_q",
    "icm_site",
    "memories",
    "memoirs",
    "feedback",
]

MIDDLEWARE = [
    "icm_site.http_errors.ErrorsAsSentences",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "icm_site.language.PagesInTheirLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "icm_site.urls"
ASGI_APPLICATION = "icm_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [TEMPLATES_DIR],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {
    "default": {
        "ENGINE": "icm_site.sqlite",
        "NAME": DATABASE_PATH,
        # Opening a connection costs as much as a recall, and closing the last one
        # checkpoints the WAL.
        "CONN_MAX_AGE": None,
        "OPTIONS": {"read_only": CONFIG.read_only},
        # The plugin that runs tests in parallel needs a name; a file, because
        # threads cannot share an in-memory database without table locks.
        "TEST": {"NAME": os.environ.get("ICM_TEST_DB", "test-icm.sqlite3")},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

Q_CLUSTER = {
    "name": "icm",
    "orm": "default",
    "workers": 1,
    "timeout": 3600,
    "retry": 7200,
}

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = True
# Those with a catalogue in icm_site/locale; others are added there and here.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [Path(__file__).parent / "locale"]
LANGUAGE_COOKIE_NAME = "icm_language"

# Where a login leads that names no page of ours; Django's own guess is not served.
LOGIN_REDIRECT_URL = "/"

STATIC_URL = "static/"

# Cookies are shared by all ports of a host: other programs on localhost must not
# overwrite ours.
SESSION_COOKIE_NAME = "icm_session"
CSRF_COOKIE_NAME = "icm_csrf"

# The function that knows the tokens, for `icm_site.auth`.
TOKEN_CHECK = "memories.tokens.verify"

DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["icm_site.rest_hooks.Authentication"],
    "DEFAULT_PERMISSION_CLASSES": ["icm_site.rest_hooks.MayWrite"],
    "DEFAULT_RENDERER_CLASSES": [
        "icm_site.rest_renderers.MaskedJSONRenderer",
        "rest_framework.renderers.BrowsableAPIRenderer",
    ],
    "DEFAULT_PARSER_CLASSES": ["icm_site.rest_hooks.Parser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "icm_site.rest_hooks.Negotiation",
    "DEFAULT_SCHEMA_CLASS": "icm_site.rest_schema.RecordSchema",
    "EXCEPTION_HANDLER": "icm_site.rest_hooks.on_error",
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api",
    "APPEND_COMPONENTS": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"short": {"format": "icm: %(levelname)s: %(message)s"}},
    "handlers": {
        # Never stdout: there a client reads results, or the MCP protocol.
        "stderr": {"class": "logging.StreamHandler", "formatter": "short"}
    },
    "root": {"handlers": ["stderr"], "level": CONFIG.log_level},
}
