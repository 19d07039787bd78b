"""What a forked run of `icm` finds imported: nothing that reads the environment."""

from importlib import import_module

for name in """
    asyncio django.contrib.admin.utils django.contrib.auth.hashers
    django.contrib.messages.storage.base django.core.management django.core.paginator
    django.db.backends.sqlite3.base django.db.models django.db.models.functions
    django.forms django.forms.models django.http django.template django.template.loader
    django.test.client django.urls django.utils.html django.views.generic filelock
    importlib.metadata json numpy pydantic pydantic.fields pydantic.json_schema
    pydantic.types pydantic._internal._generate_schema
    pydantic._internal._model_construction rapidfuzz.fuzz rapidfuzz.process
    rich.console rich.markup rich.table yaml
    icm_site.operation memories.extraction memories.narration memories.redact
    memories.guards
""".split():
    import_module(name)
