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
UUID = ((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))

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
    "1password account": (
        "A3-",
        (UPPER, 6),
        "-",
        (UPPER, 11),
        "-",
        (UPPER, 5),
        "-",
        (UPPER, 5),
        "-",
        (UPPER, 5),
    ),
    "1password service": ("ops_eyJ", (ALNUM, 250)),
    "adafruit": ("aio_", (ALNUM, 28)),
    "airtable": ("pat", (ALNUM, 14), ".", (HEX, 64)),
    "artifactory": ("AKCp", (ALNUM, 69)),
    "artifactory reference": ("cmVmd", (ALNUM, 59)),
    "authress": (
        "sc_",
        (LOWER, 20),
        ".",
        (LOWER, 4),
        ".acc_",
        (LOWER, 12),
        ".",
        (WORD, 44),
    ),
    "aws bedrock": ("ABSK", (BASE64, 128), "=="),
    "azure ad": ((ALNUM, 3), "8Q~", (WORD, 34)),
    "brevo smtp": ("xsmtpsib-", (HEX, 64), "-", (ALNUM, 16)),
    "buildkite": ("bkua_", (LOWER, 40)),
    "circleci": ("CCIPAT_", (ALNUM, 22), "_", (HEX, 40)),
    "clickhouse": ("4b1d", (ALNUM, 38)),
    "clickup": ("pk_", (string.digits, 8), "_", (UPPER, 32)),
    "cloudflare origin": ("v1.0-", (HEX, 24), "-", (HEX, 146)),
    "contentful": ("CFPAT-", (WORD, 43)),
    "defined networking": ("dnkey-", (UPPER, 26), "-", (UPPER, 52)),
    "discord bot": ("discord: M", (ALNUM, 23), ".", (WORD, 6), ".", (WORD, 27)),
    "dropbox": ("sl.", (WORD, 135)),
    "elevenlabs": ("sk_", (HEX, 48)),
    "facebook": ("EAAM", (LOWER, 120)),
    "figma": ("figd_", (WORD, 40)),
    "firecrawl": ("fc-", (HEX, 32)),
    "fly": ("fo1_", (WORD, 43)),
    "fly machine": ("fm2_", (BASE64, 120)),
    "gitlab agent": ("glagent-", (WORD, 50)),
    "gitlab flags": ("glffct-", (WORD, 20)),
    "gitlab oauth": ("gloas-", (HEX, 64)),
    "gitlab runner": ("GR1348941", (WORD, 20)),
    "google refresh": ("1//0", (WORD, 60)),
    "grafana legacy": ("eyJrIjoi", (ALNUM, 90), "=="),
    "harness": ("pat.", (WORD, 22), ".", (HEX, 24), ".", (ALNUM, 20)),
    "hugging face org": ("api_org_", (string.ascii_letters, 34)),
    "infracost": ("ico-", (ALNUM, 32)),
    "intra42": ("s-s4t2ud-", (HEX, 64)),
    "langsmith": ("lsv2_pt_", (HEX, 32), "_", (HEX, 10)),
    "maxmind": ((ALNUM, 6), "_", (ALNUM, 29), "_mmk"),
    "neon": ("napi_", (LOWER, 64)),
    "netlify": ("nfp_", (ALNUM, 36)),
    "new relic browser": ("NRJS-", (HEX, 19)),
    "new relic insert": ("NRII-", (WORD, 32)),
    "notion old": ("secret_", (ALNUM, 43)),
    "nuget": ("oy2", (LOWER, 43)),
    "nvidia": ("nvapi-", (WORD, 64)),
    "octopus": ("API-", (UPPER, 26)),
    "openai service": ("sk-svcacct-", (WORD, 74), "T3BlbkFJ", (WORD, 74)),
    "openai admin": ("sk-admin-", (WORD, 58), "T3BlbkFJ", (WORD, 58)),
    "openrouter": ("sk-or-v1-", (HEX, 64)),
    "deepseek": ("sk-", (HEX, 32)),
    "openshift": ("sha256~", (WORD, 43)),
    "pinecone": ("pcsk_", (ALNUM, 6), "_", (ALNUM, 63)),
    "plaid": ("access-sandbox-", *UUID),
    "posthog": ("phx_", (ALNUM, 43)),
    "prefect": ("pnu_", (LOWER, 36)),
    "razorpay": ("rzp_live_", (ALNUM, 14)),
    "readme": ("rdme_", (LOWER, 70)),
    "resend": ("re_", (ALNUM, 8), "_", (ALNUM, 24)),
    "rootly": ("rootly_", (HEX, 64)),
    "salesforce": ("00D", (ALNUM, 15), "!", (WORD, 96)),
    "scalingo": ("tk-us-", (WORD, 48)),
    "sentry org": ("sntrys_eyJpYXQiOj", (BASE64, 100), "=_", (BASE64, 43)),
    "sentry user": ("sntryu_", (HEX, 64)),
    "settlemint": ("sm_aat_", (ALNUM, 16)),
    "slack config": ("xoxe.xoxp-1-", (ALNUM, 163)),
    "slack app": ("xapp-1-", (UPPER, 11), "-", (string.digits, 13), "-", (HEX, 64)),
    "sonar": ("squ_", (HEX, 40)),
    "sourcegraph": ("sgp_", (HEX, 16), "_", (HEX, 40)),
    "square access": ("EAAA", (WORD, 60)),
    "stripe production": ("rk_prod_", (ALNUM, 24)),
    "tailscale": ("tskey-auth-", (ALNUM, 16), "-", (ALNUM, 32)),
    "tavily": ("tvly-", (ALNUM, 32)),
    "teams webhook": (
        "https://shop.webhook.office.com/webhookb2/",
        *(*UUID, "@", *UUID, "/IncomingWebhook/", (HEX, 32), "/", *UUID),
    ),
    "together": ("tgp_v1_", (WORD, 43)),
    "twitter bearer": ("A" * 22, (ALNUM, 90)),
    "vault legacy": ("VAULT_TOKEN=s.", (ALNUM, 24)),
    "yandex iam": ("t1.", (WORD, 40), ".", (WORD, 86)),
    "yandex aws": ("YC", (WORD, 38)),
    "atlassian": ("ATATT3xFfGF0", (WORD, 180)),
    "bitbucket app": ("ATBB", (ALNUM, 32)),
    "cloudflare user": ("cfut_", (ALNUM, 40)),
    "docker org": ("dckr_oat_", (WORD, 32)),
    "groq": ("gsk_", (ALNUM, 52)),
    "perplexity": ("pplx-", (ALNUM, 48)),
    "replicate": ("r8_", (ALNUM, 37)),
    "supabase": ("sbp_", (HEX, 40)),
    "xai": ("xai-", (ALNUM, 80)),
    "github refresh": ("ghr_", (ALNUM, 36)),
    "slack user": (
        "xoxp-",
        (string.digits, 12),
        "-",
        (string.digits, 12),
        "-",
        (string.digits, 12),
        "-",
        (HEX, 32),
    ),
    "discord webhook": (
        "https://discord.com/api/webhooks/",
        (string.digits, 19),
        "/",
        (WORD, 68),
    ),
    "aws other": ("ABIA", (UPPER, 16)),
    "pgp": (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n",
        (BASE64, 64),
        "\n",
        (BASE64, 64),
        "\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    "basic header": ("Authorization: Basic ", (BASE64, 32)),
    "env secret": ("CLIENT_SECRET=", (ALNUM, 40)),
    "okta": ("okta_api_token = '00", (WORD, 40), "'"),
    "datadog": ("DD_API_KEY=", (HEX, 32)),
    "dd app": ("datadog_app_key: ", (HEX, 40)),
    "npmrc": ("//registry.example.org/:_authToken=", (HEX, 36)),
    "netrc": ("machine example.org login me password ", (ALNUM, 20)),
    "curl user": ("curl -u admin:", (ALNUM, 20), " https://x.example.org"),
    "ibm cos": ("cos_hmac_secret = ", (HEX, 48)),
    "cloudant": ("cloudant_password = ", (HEX, 64)),
    "mongodb": ("mongodb+srv://me:", (ALNUM, 20), "@c.example.org"),
    "jdbc": ("jdbc:mysql://db/x?user=a&password=", (ALNUM, 16)),
    "sql server": ("Server=db;User Id=sa;Password=", (ALNUM, 16), ";"),
    "azure sas": (
        "https://x.blob.core.windows.net/c?sv=2024-01-01&sig=",
        (BASE64, 43),
        "%3D",
    ),
    "kubernetes": ("kind: Secret\ndata:\n  token: ", (BASE64, 60), "=="),
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
