"""Masks secrets in a text: known key formats, and assignments that look secret."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from icm_site import later

_START = r"(?<![A-Za-z0-9])"
_WORD = r"[A-Za-z0-9_-]"


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and the names of what was masked, each once."""

    text: str
    found: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """One format: `pattern` runs only on a text with one of the lower-case hints.

    The group `secret`, if there is one, is what gets masked; else all that matches.
    With `judged` it is masked only if it looks like a secret.
    """

    name: str
    hints: tuple[str, ...]
    pattern: str
    judged: bool = False


# The shortest word that a program can have drawn.
LONG = 32
_RANDOM = (
    r"(?<![\w/+=.@:%-])(?=[A-Za-z0-9_+/-]{0,60}\d)(?P<random>[A-Za-z0-9_+/-]{32,200}={0,2})"
    r"(?![\w/+=.@:%-])"
)

# Formats as their makers publish them. Each repetition is bounded, or ends where the
# match ends, so that the time stays linear in the text.
RULES = (
    Rule(
        "private-key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]*(?:-(?!----)[^-]*)*"
        r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\\n|\s){0,8}[A-Za-z0-9+/=]{40,})+)",
    ),
    Rule(
        "jwt",
        ("eyj",),
        rf"(?<!{_WORD})eyJ{_WORD}{{8,}}\.eyJ{_WORD}{{8,}}(?:\.{_WORD}*)?",
    ),
    Rule(
        "aws-access-key",
        ("akia", "asia", "abia", "acca"),
        _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _START + r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})",
    ),
    # memories/tokens.py
    Rule("icm-token", ("icm_",), _START + r"icm_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glsoat-", "glft-", "glimt-"),
        _START + rf"gl(?:pat|dt|ptt|rt|cbt|soat|ft|imt)-{_WORD}{{20,}}(?:\.{_WORD}+)*",
    ),
    Rule(
        "slack-token",
        ("xox", "xapp-"),
        _START + r"(?:xox[abeoprs](?:\.xox[bp])?|xapp)-[A-Za-z0-9-]{10,}",
    ),
    Rule(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/+-]{20,})",
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        rf"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{{5,25}}/{_WORD}{{20,}})",
    ),
    Rule(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
        _START + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    Rule("anthropic-key", ("sk-ant-",), _START + rf"sk-ant-{_WORD}{{20,}}"),
    Rule(
        "openai-key",
        ("sk-",),
        _START + rf"sk-(?={_WORD}{{0,200}}\d)(?:[a-z0-9]{{2,8}}-){{0,2}}{_WORD}{{20,}}",
    ),
    Rule(
        "google-key",
        ("aiza", "ya29.", "gocspx-"),
        _START + rf"(?:AIza{_WORD}{{35}}|ya29\.{_WORD}{{20,}}|GOCSPX-{_WORD}{{20,}})",
    ),
    Rule("npm-token", ("npm_",), _START + r"npm_[A-Za-z0-9]{36,}"),
    Rule("pypi-token", ("pypi-a",), _START + rf"pypi-A{_WORD}{{50,}}"),
    Rule("huggingface-token", ("hf_",), _START + r"hf_[A-Za-z0-9]{30,}"),
    Rule(
        "sendgrid-key",
        ("sg.",),
        _START + rf"SG\.{_WORD}{{16,32}}\.{_WORD}{{32,64}}",
    ),
    Rule("twilio-key", ("sk",), _START + r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    Rule(
        "digitalocean-token",
        ("_v1_",),
        _START + r"do[opr]_v1_[0-9a-f]{64}",
    ),
    Rule("telegram-token", (":aa",), _START + rf"\d{{8,10}}:AA{_WORD}{{33}}"),
    Rule("shopify-token", ("shp",), _START + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Rule("databricks-token", ("dapi",), _START + r"dapi[0-9a-f]{32}(?:-\d)?"),
    Rule(
        "vault-token",
        ("hvs.", "hvb.", "hvr."),
        _START + rf"hv[sbr]\.{_WORD}{{24,}}",
    ),
    Rule("terraform-token", (".atlasv1.",), rf"\w{{14}}\.atlasv1\.{_WORD}{{60,}}"),
    Rule("docker-token", ("dckr_",), _START + rf"dckr_(?:pat|oat)_{_WORD}{{20,}}"),
    Rule("linear-key", ("lin_api_",), _START + r"lin_api_[A-Za-z0-9]{32,}"),
    Rule("notion-token", ("ntn_",), _START + r"ntn_[A-Za-z0-9]{40,}"),
    Rule("groq-key", ("gsk_",), _START + r"gsk_[A-Za-z0-9]{40,}"),
    Rule("xai-key", ("xai-",), _START + r"xai-[A-Za-z0-9]{60,}"),
    Rule("replicate-token", ("r8_",), _START + r"r8_[A-Za-z0-9]{37}"),
    Rule("perplexity-key", ("pplx-",), _START + r"pplx-[A-Za-z0-9]{40,}"),
    Rule("age-key", ("age-secret-key-",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule("supabase-key", ("sbp_", "sb_secret_"), _START + r"sb(?:p|_secret)_\w{30,}"),
    Rule("newrelic-key", ("nrak-",), _START + r"NRAK-[A-Z0-9]{27}"),
    Rule("postman-key", ("pmak-",), _START + r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Rule(
        "aws-secret-key",
        ("aws",),
        r"(?i)aws.{0,20}?(?:secret|key).{0,20}?[\"'=: ]{1,6}"
        r"(?P<secret>(?-i:[A-Za-z0-9/+]{40}))(?![A-Za-z0-9/+])",
    ),
    Rule("grafana-token", ("gls", "glc_"), _START + rf"gl(?:sa|c)_{_WORD}{{32,}}=*"),
    Rule("heroku-key", ("hrku-",), _START + rf"HRKU-{_WORD}{{30,}}"),
    Rule(
        "planetscale-token",
        ("pscale_",),
        _START + r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,}",
    ),
    Rule("pulumi-token", ("pul-",), _START + r"pul-[0-9a-f]{40}"),
    Rule("rubygems-key", ("rubygems_",), _START + r"rubygems_[0-9a-f]{48}"),
    Rule("brevo-key", ("xkeysib-",), _START + rf"xkeysib-[0-9a-f]{{64}}-{_WORD}{{16}}"),
    Rule("shippo-token", ("shippo_",), _START + r"shippo_(?:live|test)_[0-9a-f]{40}"),
    Rule("square-token", ("sq0",), _START + rf"sq0(?:atp|csp)-{_WORD}{{22,}}"),
    Rule("typeform-token", ("tfp_",), _START + r"tfp_[\w.=-]{40,}"),
    Rule(
        "doppler-token", ("dp.",), _START + r"dp\.(?:pt|ct|st|sa|scim|audit)\.\w{40,}"
    ),
    Rule("duffel-token", ("duffel_",), _START + r"duffel_(?:live|test)_[\w=-]{40,}"),
    Rule(
        "dynatrace-token",
        ("dt0c01.",),
        _START + r"dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}",
    ),
    Rule("easypost-key", ("ezak", "eztk"), _START + r"EZ[AT]K[A-Za-z0-9]{54}"),
    Rule("flutterwave-key", ("flwseck",), _START + r"FLWSECK(?:_TEST)?-[0-9a-h]{12,}"),
    Rule("frameio-token", ("fio-u-",), _START + r"fio-u-[\w=-]{64}"),
    Rule("clojars-token", ("clojars_",), _START + r"CLOJARS_[a-z0-9]{60}"),
    Rule("adobe-secret", ("p8e-",), _START + r"p8e-[A-Za-z0-9]{32}"),
    Rule("alibaba-key", ("ltai",), _START + r"LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),
    Rule("mailchimp-key", ("-us",), _START + r"[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    Rule("mailgun-key", ("key-",), _START + r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    Rule("mapbox-token", (".ey",), _START + r"[ps]k\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    Rule("yandex-key", ("aqvn",), _START + rf"AQVN{_WORD}{{35,38}}"),
    Rule("atlassian-token", ("atatt3x",), _START + r"ATATT3x[\w=-]{50,}"),
    Rule("sentry-token", ("sntry",), _START + r"sntry[su]_[\w+/=-]{40,}"),
    Rule("cloudflare-token", ("cfut_", "cfat_"), _START + r"cf[ua]t_\w{40,}"),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i)(?:account|sharedaccess)key=(?P<secret>[a-z0-9+/]{40,}={0,2})",
    ),
    Rule(
        "url-password",
        ("://",),
        r"://[^\s:/@\"'<>]{0,100}:(?P<secret>[^\s/@\"'<>$\[{*][^\s/@\"'<>]{0,199})@",
    ),
    Rule(
        "authorization",
        ("authorization", "bearer"),
        r"(?i)(?:authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?"
        r"(?:basic|token|apikey|bearer)|\bbearer)[ \t]{1,3}"
        r"(?P<secret>[a-z0-9._~+/=-]{8,})",
        judged=True,
    ),
    Rule(
        "password",
        ("passw", "pwd", "passphrase"),
        r"(?i)(?:password|passwd|passphrase|pwd)[\"']?"
        r"(?:[ \t]{0,3}[:=]{1,2}>?[ \t]{0,3}|[ \t]is[ \t])"
        r"(?:\"(?P<secret>[^\"\s]{4,256})|'(?P<single>[^'\s]{4,256})"
        r"|(?P<bare>[^\s\"',;)}\]]{4,256}))",
        judged=True,
    ),
    Rule(
        "secret",
        ("secret", "token", "key", "credential"),
        r"(?i)(?:secret|token|(?:api|access|auth|account|private|signing|encryption)"
        r"[_-]?key|credentials?)[\"']?[ \t]{0,3}[:=]{1,2}>?[ \t]{0,3}"
        r"(?:\"(?P<secret>[^\"\s]{8,512})|'(?P<single>[^'\s]{8,512})"
        r"|(?P<bare>[^\s\"',;)}\]]{8,512}))",
        judged=True,
    ),
    # What no format is known of: long, of letters in both cases and figures, and
    # without an order that a name, a path or a digest has.
    Rule("random", (), _RANDOM, judged=True),
)
_GROUPS = ("secret", "single", "bare", "random")

_IDENTIFIER = later.pattern(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9a-hjkmnp-tv-z]{25}"
    r"|[0-9a-f]{40}|[0-9a-f]{64}",
    re.IGNORECASE,
)
# What stands for a value: a variable, a call, a path of names, a template, a marker.
_REFERENCE = later.pattern(
    r"[$<{%\[(*&@#/.~]|.*[(<{\[]|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[.!?]?$"
    r"|[A-Za-z]+://|[Xx.*_-]+$"
)
_TECHNICAL = later.pattern(
    r"(?:aes|argon|base|ed|es|hs|rs|ps|hmac-sha|rsa|sha|pbkdf|scrypt|md|http|ipv|utf"
    r"|uuid|ulid|oauth|x|v)-?\d{1,5}(?:url|id|[-.]\d{1,4})?(?:-[a-z]{2,20})*",
    re.IGNORECASE,
)
_WORDS = later.pattern(r"[A-Za-z]?[a-z]+(?:[_/-][A-Za-z]?[a-z]+)*[.:!?]*")


def redact(
    text: str,
    *,
    extra: Iterable[str] = (),
    allow: Iterable[str] = (),
    known: Callable[[str], bool] | None = None,
) -> Redacted:
    """Replace each secret by a marker such as `[redacted:github-token]`.

    `extra` are further patterns to mask; what one of the patterns of `allow` is found
    in stays, and so do secrets that are `known`. Doing it twice changes nothing more.
    ULIDs, UUIDs and hashes stay.
    """
    allowed = [re.compile(pattern) for pattern in allow]
    custom = [Rule("custom", (), pattern) for pattern in extra]
    found: dict[str, None] = {}
    lower = text.lower()
    long = any(len(word) >= LONG for word in text.split())
    for rule in (*RULES, *custom):
        # Not `any`: its generator costs six times what is looked for.
        for hint in rule.hints:
            if hint in lower:
                break
        else:
            if rule.hints or (rule is RULES[-1] and not long):
                continue
        mask = partial(_masked, rule=rule, allowed=allowed, known=known, found=found)
        text = re.sub(rule.pattern, mask, text)
    return Redacted(text, tuple(found))


def _masked(
    match: re.Match[str],
    *,
    rule: Rule,
    allowed: list[re.Pattern[str]],
    known: Callable[[str], bool] | None,
    found: dict[str, None],
) -> str:
    whole, at = match.group(), match.start()
    start, end = _span(match)
    secret = match.string[start:end]
    if not secret or any(pattern.search(secret) for pattern in allowed):
        return whole
    judge = looks_random if rule.name == "random" else looks_secret
    if rule.judged and not judge(secret, before=whole):
        return whole
    if known is not None and known(secret):
        return whole
    found[rule.name] = None
    return f"{whole[: start - at]}[redacted:{rule.name}]{whole[end - at :]}"


def _span(match: re.Match[str]) -> tuple[int, int]:
    groups = match.groupdict()
    for name in _GROUPS:
        if groups.get(name) is not None:
            return match.span(name)
    return match.span()


def looks_secret(value: str, *, before: str = "") -> bool:
    """Judge the value of an assignment; `before` is all that matched, key included."""
    text = value.rstrip(".,;:!?")
    if _REFERENCE.match(text) or _TECHNICAL.fullmatch(text):
        return False
    if _IDENTIFIER.fullmatch(text):
        return False
    password = re.search("(?i)pass|pwd", before) is not None
    if _WORDS.fullmatch(value):
        # Plain words are prose, unless a command or a file sets a password to one.
        return password and "=" in before and len(text) >= 8
    if text.isdigit():
        return password and len(text) >= 6
    return _entropy(text) * len(text) >= (12.0 if password else 24.0)


def looks_random(value: str, *, before: str = "") -> bool:
    """Judge a long word that stands alone: whether a program drew its letters."""
    del before
    text = value.rstrip("=")
    upper, lower, digits = (
        len(re.findall(kind, text)) for kind in ("[A-Z]", "[a-z]", r"\d")
    )
    if min(upper, lower) < 6 or len(re.findall(r"\d+", text)) < 4 or digits < 4:
        return False
    # Words make a name or a path; so do more than a few marks.
    if re.search("[a-z]{6}|[A-Z]{6}", text) or len(re.findall("[_/+-]", text)) > 8:
        return False
    return _entropy(text) >= 4.3


def _entropy(text: str) -> float:
    """Bits per character (Shannon)."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
