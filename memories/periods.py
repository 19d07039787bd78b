"""Periods that a query names, in English and French: "on 7 May 2023", "la semaine
dernière"; what they mean at a given moment.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import date, datetime

# A month or a day without a year is looked for in as many years, the latest first.
YEARS_BACK = 10
EARLIEST_YEAR = 1970

MONTHS = (
    ("january", "jan", "janvier"),
    ("february", "feb", "fevrier"),
    ("march", "mar", "mars"),
    ("april", "apr", "avril"),
    ("may", "mai"),
    ("june", "jun", "juin"),
    ("july", "jul", "juillet"),
    ("august", "aug", "aout"),
    ("september", "sep", "sept", "septembre"),
    ("october", "oct", "octobre"),
    ("november", "nov", "novembre"),
    ("december", "dec", "decembre"),
)
MONTH_OF = {name: number for number, names in enumerate(MONTHS, 1) for name in names}
# Words of their own, or too short to be sure of.
AMBIGUOUS = frozenset({"march", "mars", "may", "mai"}) | {
    name for name in MONTH_OF if len(name) < 5 and name not in ("june", "july", "juin")
}
NUMBERS = {
    word: number
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
    )
    for number, word in enumerate(words.split(), 1)
} | {"a": 1, "an": 1, "une": 1}
# Days that a unit has, and by how many the memory may be off.
UNITS = {"day": (1, 1), "week": (7, 4), "month": (30, 16), "year": (365, 183)}
UNIT_OF = {
    "day": "day",
    "jour": "day",
    "week": "week",
    "semaine": "week",
    "month": "month",
    "mois": "month",
    "year": "year",
    "an": "year",
    "annee": "year",
}

# Most queries name no period: what one needs at least.
_HINT = re.compile(
    r"\b(?:(?:19|20)\d\d\b|(?=[acdfhijlmnosty])(?:ago\b|il y a|today|yester|last\b"
    r"|this\b|hier\b|avant|aujou|l[ae]\b|l['’]|ce\b|cet|jan|f[eé]v|feb|mar|a[pv]r|ma[iy]|ju[inl]"
    r"|ao[uû]|aug|sep|oct|nov|d[eé]c))"
)

# First and last day, and what they mean if they do not fit.
Days = tuple["date", "date"]
Named = Iterator[Days]


class Period(NamedTuple):
    """A span of time, in UTC: from `start` up to but without `end`."""

    start: datetime
    end: datetime


def named(query: str, now: datetime | None = None) -> list[tuple[Period, ...]]:
    """The periods that a query names; of each the alternatives, the likeliest first.

    Days are cut in the user's zone, or in UTC where `now` is given.
    """
    if not _HINT.search(query.lower()):
        return []
    from datetime import UTC, datetime

    today = (datetime.now() if now is None else now.astimezone(UTC)).date()
    zone = None if now is None else UTC
    text, found = _plain(query), []
    for pattern, days in _rules():
        for match in pattern.finditer(text):
            spans = tuple(
                _period(span, zone)
                for span in days(match, today)
                if span[0].year > EARLIEST_YEAR
            )
            if spans:
                found.append(spans)
        # What is understood is not looked at again: "7 May 2023" is no "May 2023".
        text = pattern.sub(lambda match: "|" * len(match[0]), text)
    return found


def _plain(query: str) -> str:
    """Lower case without accents, and one kind of apostrophe."""
    bare = unicodedata.normalize("NFD", query.lower().replace("\u2019", "'"))
    return re.sub("[\u0300-\u036f]", "", bare)


def _period(days: Days, zone: object) -> Period:
    from datetime import UTC, datetime, time, timedelta, tzinfo

    first, last = days
    at = zone if isinstance(zone, tzinfo) else None
    # Without a zone `astimezone` takes a time for one of the user's clock.
    start = datetime.combine(first, time.min, at).astimezone(UTC)
    end = datetime.combine(last + timedelta(days=1), time.min, at).astimezone(UTC)
    return Period(start, end)


@cache
def _rules() -> tuple[
    tuple[re.Pattern[str], Callable[[re.Match[str], date], Named]], ...
]:
    names = "|".join(sorted(MONTH_OF, key=len, reverse=True))
    numbers = "|".join(sorted(NUMBERS, key=len, reverse=True))
    units = r"(?P<unit>days?|weeks?|months?|years?|jours?|semaines?|mois|ans?|annees?)"
    day = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er)?"
    year = r"(?P<year>(?:19|20)\d\d)"
    clause = r"(?=\s*(?:[.,;:!?)\]]|$))"
    unit = r"(?P<unit>week|month|year)\b"
    unite = r"(?P<unit>semaine|mois|annee|an)\b"
    return tuple(
        (re.compile(pattern), days)
        for pattern, days in (
            (rf"\b{year}-(?P<month>\d\d)-(?P<day>\d\d)\b", _date),
            (rf"\b{day}(?: of)? (?P<name>{names})\b\.?(?:,? {year}\b)?", _date),
            (rf"\b(?P<name>{names})\b\.? {day}\b(?:,? {year}\b)?", _date),
            (
                r"(?P<before>\b(?:in|on|of|since|until|till|by|during|last|from|early"
                r"|late|mid|en|de|du|depuis|fin|debut|courant|mi)[ -]|\bd')?"
                rf"\b(?P<name>{names})\b(?:,? {year}\b)?",
                _month,
            ),
            (rf"\b(?P<count>\d{{1,3}}|{numbers}) {units} ago\b", _ago),
            (rf"\bil y a (?P<count>\d{{1,3}}|{numbers}) {units}\b", _ago),
            (r"\b(?P<word>today|aujourd'hui|yesterday|avant-hier|hier)\b", _near),
            # "This year's kernel" is about no time.
            (rf"\b(?P<which>last|this(?! \w+')) {unit}", _unit),
            (rf"\b(?:l'|la |le ){unite} (?P<which>dernier|derniere|passee?)\b", _unit),
            (rf"\b(?P<which>ce|cet|cette) {unite}", _unit),
            (rf"\b(?:in|en) {year}{clause}", _year),
        )
    )


def _date(match: re.Match[str], today: date) -> Named:
    """A day; its memory may have been written on the next one."""
    from datetime import date, timedelta

    found = match.groupdict()
    month = MONTH_OF[found["name"]] if found.get("name") else int(found["month"])
    for year in _years(found["year"], today):
        try:
            first = date(year, month, int(found["day"]))
        except ValueError:
            continue
        if found["year"] or first <= today:
            yield first, first + timedelta(days=1)


def _month(match: re.Match[str], today: date) -> Named:
    from datetime import date

    name = match["name"]
    if name in AMBIGUOUS and not (match["before"] or match["year"]):
        return
    for year in _years(match["year"], today):
        first = date(year, MONTH_OF[name], 1)
        if match["year"] or first <= today:
            yield first, _end_of_month(first)


def _years(given: str | None, today: date) -> list[int]:
    if given:
        return [int(given)]
    return list(range(today.year, max(today.year - YEARS_BACK, EARLIEST_YEAR), -1))


def _end_of_month(first: date) -> date:
    from datetime import timedelta

    return (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def _ago(match: re.Match[str], today: date) -> Named:
    from datetime import timedelta

    count = match["count"]
    number = NUMBERS[count] if count in NUMBERS else int(count)
    days, tolerance = UNITS[_unit_of(match)]
    middle = today - timedelta(days=number * days)
    yield middle - timedelta(days=tolerance), middle + timedelta(days=tolerance)


def _unit_of(match: re.Match[str]) -> str:
    unit = match["unit"]
    return UNIT_OF.get(unit) or UNIT_OF[unit.removesuffix("s")]


def _near(match: re.Match[str], today: date) -> Named:
    from datetime import timedelta

    back = {"yesterday": 1, "hier": 1, "avant-hier": 2}.get(match["word"], 0)
    day = today - timedelta(days=back)
    yield day, day


def _unit(match: re.Match[str], today: date) -> Named:
    """This or the last week (from Monday), month or year."""
    from datetime import date, timedelta

    last = match["which"] not in ("this", "ce", "cet", "cette")
    unit = _unit_of(match)
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * last)
        yield monday, monday + timedelta(days=6)
    elif unit == "month":
        first = today.replace(day=1)
        first = (first - timedelta(days=1)).replace(day=1) if last else first
        yield first, _end_of_month(first)
    else:
        year = today.year - last
        yield date(year, 1, 1), date(year, 12, 31)


def _year(match: re.Match[str], today: date) -> Named:
    from datetime import date

    year = int(match["year"])
    if year <= today.year:
        yield date(year, 1, 1), date(year, 12, 31)
