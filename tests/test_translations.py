"""Every word of our pages has its German, and the compiled catalogue is the newest."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path

import pytest
from django.utils.translation.template import templatize

from memoirs.models import Origin as ConceptOrigin
from memories.models import Importance, Origin, State, Suggestion

PROJECT = Path(__file__).resolve().parent.parent
CATALOGUES = PROJECT / "icm_site" / "locale"
FUNCTIONS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext"}
LANGUAGES = sorted(folder.name for folder in CATALOGUES.iterdir() if folder.is_dir())


def in_code(text: str) -> Iterator[str]:
    """The constant first arguments of the functions that translate."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        first = node.args[0]
        if name in FUNCTIONS and isinstance(first, ast.Constant):
            yield str(first.value)


def of_python() -> set[str]:
    return {
        text
        for app in ("icm_site", "memories", "memoirs", "feedback")
        for path in (PROJECT / app).rglob("*.py")
        if "django.utils.translation" in (source := path.read_text("utf-8"))
        for text in in_code(source)
    }


def of_templates() -> set[str]:
    """What Django itself hands to the extracting program, read as Python."""
    found = set[str]()
    for path in (PROJECT / "templates").rglob("*.html"):
        for call in re.finditer(
            r"n?gettext\(u?(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')",
            templatize(path.read_text("utf-8"), origin=str(path)),
        ):
            found.add(str(ast.literal_eval(call[1])))
        source = path.read_text("utf-8")
        found |= set(re.findall(r'=_\("([^"]+)"\)', source))
    return found


def compiled(language: str) -> dict[str, str]:
    path = CATALOGUES / language / "LC_MESSAGES" / "django.mo"
    with path.open("rb") as file:
        known = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    singular = {key: text for key, text in known.items() if isinstance(key, str)}
    return singular | {
        key[0]: text
        for key, text in known.items()
        if key not in singular and not key[1]
    }


def written(language: str) -> dict[str, str]:
    """msgid -> msgstr (of a plural the form for one) of the source catalogue."""
    path = CATALOGUES / language / "LC_MESSAGES" / "django.po"
    found, name = dict[str, str](), ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("msgid "):
            name = ast.literal_eval(line.removeprefix("msgid "))
        elif line.startswith(("msgstr ", "msgstr[0] ")):
            found[name] = ast.literal_eval(line.partition(" ")[2])
    return {key: text for key, text in found.items() if key}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_pages_is_translated(language: str) -> None:
    words = of_python() | of_templates()
    assert {"Undo", "Forget", "Review", "%d memory is hidden.", "Keep both"} <= words
    known = compiled(language)
    assert sorted(word for word in words if not known.get(word)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_the_database_are_translated(language: str) -> None:
    kinds = (Importance, State, Origin, ConceptOrigin, Suggestion.Status)
    words = {str(value) for kind in kinds for value in kind.values}
    assert sorted(words - compiled(language).keys()) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_that_of_the_source(language: str) -> None:
    known = compiled(language)
    known.pop("", None)
    assert known == written(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_keeps_the_places_of_values(language: str) -> None:
    place = re.compile(r"%(?:\(\w+\))?[sd.f0-9]+|%%")
    for word, text in written(language).items():
        assert sorted(place.findall(word)) == sorted(place.findall(text)), word
