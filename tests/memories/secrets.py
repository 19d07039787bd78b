"""Invalid keys in the formats that makers of keys and public scanners describe.

Written from rules that others publish, not from our own table of patterns. Each is put
together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from typing import NamedTuple

HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
WORD = ALNUM + "-_"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
BASE64 = ALNUM + "+/"

# Kind, then parts: a text, or an alphabet and how many of it.
Part = str | tuple[str, int]
FORMATS: dict[str, tuple[Part, ...]] = {
    "adobe client secret": ("p8e-", (LOWER, 32)),
    "age": ("AGE-SECRET-KEY-1", (BECH32, 58)),
    "alibaba": ("LTAI", (ALNUM, 20)),
    "anthropic": ("sk-ant-api03-", (WORD, 93), "AA"),
    "aws access": ("AKIA", (UPPER, 16)),
    "aws temporary": ("ASIA", (UPPER, 16)),
    "aws secret": ("aws_secret_access_key = ", (BASE64, 40)),
    "azure storage": ("AccountKey=", (BASE64, 86), "=="),
    "clojars": ("CLOJARS_", (LOWER, 60)),
    "databricks": ("dapi", (HEX, 32)),
    "digitalocean": ("dop_v1_", (HEX, 64)),
    "docker": ("dckr_pat_", (WORD, 27)),
    "doppler": ("dp.pt.", (ALNUM, 43)),
    "duffel": ("duffel_live_", (WORD, 43)),
    "dynatrace": ("dt0c01.", (UPPER, 24), ".", (UPPER, 64)),
    "easypost": ("EZAK", (ALNUM, 54)),
    "flutterwave": ("FLWSECK_TEST-", (HEX, 32), "-X"),
    "frame.io": ("fio-u-", (WORD, 64)),
    "gcp api": ("AIza", (WORD, 35)),
    "gcp oauth": ("ya29.", (WORD, 60)),
    "github classic": ("ghp_", (ALNUM, 36)),
    "github fine": ("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "github app": ("ghs_", (ALNUM, 36)),
    "gitlab": ("glpat-", (WORD, 20)),
    "grafana": ("glsa_", (ALNUM, 32), "_", (HEX, 8)),
    "heroku": ("HRKU-", (WORD, 60)),
    "hugging face": ("hf_", (string.ascii_letters, 34)),
    "jwt": ("eyJ", (ALNUM, 33), ".eyJ", (ALNUM, 60), ".", (WORD, 43)),
    "linear": ("lin_api_", (ALNUM, 40)),
    "mailchimp": ("mailchimp_key: ", (HEX, 32), "-us20"),
    "mailgun": ("key-", (HEX, 32)),
    "mapbox": ("sk.eyJ", (ALNUM, 60), ".", (WORD, 22)),
    "new relic": ("NRAK-", (UPPER, 27)),
    "npm": ("npm_", (ALNUM, 36)),
    "openai": ("sk-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20)),
    "openai project": ("sk-proj-", (WORD, 74), "T3BlbkFJ", (WORD, 74)),
    "pem": (
        "-----BEGIN RSA PRIVATE KEY-----\n",
        *((BASE64, 64), "\n", (BASE64, 64), "\n"),
        "-----END RSA PRIVATE KEY-----",
    ),
    "planetscale": ("pscale_tkn_", (WORD, 43)),
    "planetscale password": ("pscale_pw_", (WORD, 43)),
    "postman": ("PMAK-", (HEX, 24), "-", (HEX, 34)),
    "pulumi": ("pul-", (HEX, 40)),
    "pypi": ("pypi-AgEIcHlwaS5vcmc", (WORD, 70)),
    "rubygems": ("rubygems_", (HEX, 48)),
    "sendgrid": ("SG.", (WORD, 22), ".", (WORD, 43)),
    "sendinblue": ("xkeysib-", (HEX, 64), "-", (ALNUM, 16)),
    "shippo": ("shippo_live_", (HEX, 40)),
    "shopify": ("shpat_", (HEX, 32)),
    "slack bot": ("xoxb-", (string.digits, 12), "-", (ALNUM, 24)),
    "slack webhook": (
        "https://hooks.slack.com/services/T",
        *((UPPER, 9), "/B", (UPPER, 9), "/", (ALNUM, 24)),
    ),
    "square": ("sq0atp-", (WORD, 22)),
    "ssh": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n",
        *((BASE64, 70), "\n", (BASE64, 70), "\n"),
        "-----END OPENSSH PRIVATE KEY-----",
    ),
    "stripe": ("sk_live_", (ALNUM, 24)),
    "telegram": ((string.digits, 10), ":AA", (WORD, 33)),
    "terraform": ((ALNUM, 14), ".atlasv1.", (WORD, 64)),
    "twilio": ("SK", (HEX, 32)),
    "typeform": ("tfp_", (WORD, 59)),
    "url with password": ("postgres://app:", (ALNUM, 18), "@db.example.org/app"),
    "vault": ("hvs.", (WORD, 90)),
    "yandex": ("AQVN", (WORD, 36)),
}


class Secret(NamedTuple):
    """One key: its kind, the text around it, and what of that must never be kept."""

    kind: str
    text: str
    parts: tuple[str, ...]


def generated(count: int, *, seed: int) -> Iterator[Secret]:
    """As many keys, each kind in turn; a part that must not be kept has 12 or more."""
    chance = random.Random(seed)
    kinds = list(FORMATS)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        parts = [
            part
            if isinstance(part, str)
            else "".join(chance.choices(part[0], k=part[1]))
            for part in FORMATS[kind]
        ]
        hidden = tuple(
            text
            for part, text in zip(FORMATS[kind], parts, strict=True)
            if not isinstance(part, str) and len(text) >= 12
        )
        yield Secret(kind, "".join(parts), hidden)
