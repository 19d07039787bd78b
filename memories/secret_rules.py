"""The formats of secrets: a table of patterns, each with words that announce it."""

from __future__ import annotations

from dataclasses import dataclass

_START = r"(?<![A-Za-z0-9])"
_WORD = r"[A-Za-z0-9_-]"


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
        ("glpat-", "gldt-", "glptt-", "glrt", "glcbt-", "glsoat-", "glft-", "glimt-")
        + ("glagent-", "glffct-", "gloas-", "gr1348941"),
        _START + r"(?:gl(?:pat|dt|ptt|rtr?|cbt|soat|ft|imt|agent|ffct|oas)-|GR1348941)"
        rf"{_WORD}{{20,}}(?:\.{_WORD}+)*",
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
        ("k_live_", "k_test_", "k_prod_", "whsec_"),
        _START
        + r"(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    Rule("anthropic-key", ("sk-ant-",), _START + rf"sk-ant-{_WORD}{{20,}}"),
    Rule(
        "openai-key",
        ("sk-",),
        _START + rf"sk-(?={_WORD}{{0,200}}\d)(?:[a-z0-9]{{2,8}}-){{0,2}}{_WORD}{{20,}}",
    ),
    Rule(
        "google-key",
        ("aiza", "ya29.", "gocspx-", "1//0"),
        _START + rf"(?:AIza{_WORD}{{35}}|ya29\.{_WORD}{{20,}}|GOCSPX-{_WORD}{{20,}}"
        rf"|1//0{_WORD}{{40,}})",
    ),
    Rule("npm-token", ("npm_",), _START + r"npm_[A-Za-z0-9]{36,}"),
    Rule("pypi-token", ("pypi-a",), _START + rf"pypi-A{_WORD}{{50,}}"),
    Rule(
        "huggingface-token",
        ("hf_", "api_org_"),
        _START + r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    ),
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
        ("hvs.", "hvb.", "hvr.", "vault"),
        _START + rf"(?:hv[sbr]\.{_WORD}{{24,}}"
        r"|(?<!\.)s\.(?=\w{0,23}\d)(?=\w{0,23}[A-Z])[A-Za-z0-9]{24}(?!\w))",
    ),
    Rule("terraform-token", (".atlasv1.",), rf"\w{{14}}\.atlasv1\.{_WORD}{{60,}}"),
    Rule("docker-token", ("dckr_",), _START + rf"dckr_(?:pat|oat)_{_WORD}{{20,}}"),
    Rule("linear-key", ("lin_api_",), _START + r"lin_api_[A-Za-z0-9]{32,}"),
    Rule(
        "notion-token",
        ("ntn_", "secret_"),
        _START + r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?!\w))",
    ),
    Rule("groq-key", ("gsk_",), _START + r"gsk_[A-Za-z0-9]{40,}"),
    Rule("xai-key", ("xai-",), _START + r"xai-[A-Za-z0-9]{60,}"),
    Rule("replicate-token", ("r8_",), _START + r"r8_[A-Za-z0-9]{37}"),
    Rule("perplexity-key", ("pplx-",), _START + r"pplx-[A-Za-z0-9]{40,}"),
    Rule("age-key", ("age-secret-key-",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule("supabase-key", ("sbp_", "sb_secret_"), _START + r"sb(?:p|_secret)_\w{30,}"),
    Rule(
        "newrelic-key",
        ("nrak-", "nrii-", "nrjs-"),
        _START + rf"(?:NRAK-[A-Z0-9]{{27}}|NRII-{_WORD}{{32}}|NRJS-[0-9a-f]{{19}})",
    ),
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
    Rule(
        "brevo-key",
        ("xkeysib-", "xsmtpsib-"),
        _START + rf"x(?:key|smtp)sib-[0-9a-f]{{64}}-{_WORD}{{16}}",
    ),
    Rule("shippo-token", ("shippo_",), _START + r"shippo_(?:live|test)_[0-9a-f]{40}"),
    Rule(
        "square-token",
        ("sq0", "eaaa"),
        _START + rf"(?:sq0(?:atp|csp)-{_WORD}{{22,}}|EAAA{_WORD}{{56,64}}(?!\w))",
    ),
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
    Rule("mailgun-key", ("key-",), r"(?<![\w-])key-[0-9a-f]{32}(?!\w)"),
    Rule("mapbox-token", (".ey",), _START + r"[ps]k\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    Rule(
        "yandex-key",
        ("aqvn", "t1.", "yc"),
        _START + rf"(?:AQVN{_WORD}{{35,38}}|YC{_WORD}{{38}}(?!{_WORD})"
        rf"|t1\.{_WORD}{{8,}}={{0,2}}\.{_WORD}{{86}}={{0,2}})",
    ),
    Rule(
        "atlassian-token",
        ("atatt3x", "atbb"),
        _START + r"(?:ATATT3x[\w=-]{50,}|ATBB[A-Za-z0-9]{32}(?!\w))",
    ),
    Rule("sentry-token", ("sntry",), _START + r"sntry[su]_[\w+/=-]{40,}"),
    Rule(
        "cloudflare-token",
        ("cfut_", "cfat_", "v1.0-"),
        _START + r"(?:cf[ua]t_\w{40,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{120,})",
    ),
    Rule(
        "1password-token",
        ("ops_eyj", "a3-"),
        _START
        + r"(?:ops_eyJ[\w=-]{200,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,4}[A-Z0-9]{5})",
    ),
    Rule("adafruit-key", ("aio_",), _START + r"aio_[A-Za-z0-9]{28}(?!\w)"),
    Rule("airtable-token", ("pat",), _START + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule(
        "artifactory-token",
        ("akcp", "cmvmd"),
        _START + r"(?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})(?!\w)",
    ),
    Rule(
        "authress-key",
        (".acc",),
        _START + r"(?:sc|ext|scauth|authress)_\w{5,30}\.\w{4,6}\.acc[_-]\w{10,32}"
        r"\.[\w+/=-]{30,120}",
    ),
    Rule("bedrock-key", ("absk",), _START + r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    Rule("azure-secret", ("q~",), r"(?<![\w~.])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])"),
    Rule("buildkite-token", ("bkua_",), _START + r"bkua_[a-z0-9]{40}"),
    Rule(
        "circleci-token",
        ("ccipat_",),
        _START + r"CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}",
    ),
    Rule("clickhouse-key", ("4b1d",), _START + r"4b1d[A-Za-z0-9]{38}(?!\w)"),
    Rule("clickup-token", ("pk_",), _START + r"pk_\d{5,10}_[A-Z0-9]{32}"),
    Rule("contentful-token", ("cfpat-",), _START + rf"CFPAT-{_WORD}{{43}}"),
    Rule("nebula-key", ("dnkey-",), _START + r"dnkey-[\w=-]{26}-[\w=-]{52}"),
    Rule(
        "discord-token",
        ("discord",),
        _START + rf"[MNO]{_WORD}{{23,25}}\.{_WORD}{{6}}\.{_WORD}{{27,38}}",
    ),
    Rule("dropbox-token", ("sl.",), _START + r"sl\.(?:u\.)?[\w=-]{120,}"),
    Rule("elevenlabs-key", ("sk_",), _START + r"sk_[0-9a-f]{48}(?!\w)"),
    Rule("facebook-token", ("eaa",), _START + r"EAA[A-Za-z0-9]{90,}"),
    Rule("figma-token", ("figd_", "figo"), _START + rf"fig(?:d|o[ru]?)_{_WORD}{{40,}}"),
    Rule("firecrawl-key", ("fc-",), _START + r"fc-[0-9a-f]{32}(?!\w)"),
    Rule(
        "fly-token",
        ("fo1_", "fm1", "fm2_"),
        _START + r"(?:fo1_[\w-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{80,}={0,3})",
    ),
    Rule("grafana-key", ("eyjrijoi",), _START + r"eyJrIjoi[A-Za-z0-9]{70,}={0,3}"),
    Rule(
        "harness-token",
        ("pat.", "sat."),
        _START + rf"[ps]at\.{_WORD}{{22}}\.[0-9a-f]{{24}}\.[A-Za-z0-9]{{20}}",
    ),
    Rule("infracost-key", ("ico-",), _START + r"ico-[A-Za-z0-9]{32}(?!\w)"),
    Rule("intra42-secret", ("s-s4t2",), _START + r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    Rule(
        "langsmith-key",
        ("lsv2_",),
        _START + r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
    ),
    Rule("maxmind-key", ("_mmk",), _START + r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    Rule("neon-key", ("napi_",), _START + r"napi_[a-z0-9]{64}"),
    Rule("netlify-token", ("nfp_",), _START + r"nfp_[A-Za-z0-9]{36,}"),
    Rule("nuget-key", ("oy2",), _START + r"oy2[a-z0-9]{43}(?!\w)"),
    Rule("nvidia-key", ("nvapi-",), _START + rf"nvapi-{_WORD}{{60,}}"),
    Rule("octopus-key", ("api-",), _START + r"API-[A-Z0-9]{26}(?!\w)"),
    Rule("openshift-token", ("sha256~",), _START + rf"sha256~{_WORD}{{43}}"),
    Rule(
        "pinecone-key", ("pcsk_",), _START + r"pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{60,}"
    ),
    Rule(
        "plaid-token",
        ("access-",),
        _START + r"access-(?:sandbox|development|production)-[0-9a-f-]{36}",
    ),
    Rule("posthog-key", ("phx_",), _START + r"phx_[A-Za-z0-9]{43,}"),
    Rule("prefect-key", ("pnu_", "pnb_"), _START + r"pn[ub]_[a-z0-9]{36,}"),
    Rule("razorpay-key", ("rzp_",), _START + r"rzp_(?:live|test)_[A-Za-z0-9]{14}"),
    Rule("readme-key", ("rdme_",), _START + r"rdme_[a-z0-9]{70}"),
    Rule("resend-key", ("re_",), _START + r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?!\w)"),
    Rule("rootly-key", ("rootly_",), _START + r"rootly_[0-9a-f]{64}"),
    Rule("salesforce-token", ("00d",), _START + r"00D[A-Za-z0-9]{12,15}![\w.-]{80,}"),
    Rule("scalingo-token", ("tk-us-",), _START + rf"tk-us-{_WORD}{{48}}"),
    Rule("settlemint-token", ("sm_",), _START + r"sm_[aps]at_[A-Za-z0-9]{16}(?!\w)"),
    Rule("sonar-token", ("squ_", "sqp_", "sqa_"), _START + r"sq[upa]_[0-9a-f]{40}"),
    Rule(
        "sourcegraph-token",
        ("sgp_", "slk_"),
        _START + r"(?:sgp_(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}|slk_[0-9a-f]{64})",
    ),
    Rule("tailscale-key", ("tskey-",), _START + r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{20,}"),
    Rule("tavily-key", ("tvly-",), _START + r"tvly-(?:[a-z]{2,5}-)?[A-Za-z0-9-]{30,}"),
    Rule(
        "teams-webhook",
        ("webhook.office.com",),
        r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{20,})",
    ),
    Rule("together-key", ("tgp_v1_",), _START + rf"tgp_v1_{_WORD}{{43,}}"),
    Rule("twitter-token", ("a" * 20,), _START + r"A{20,30}(?!A)[A-Za-z0-9%]{60,}"),
    Rule("azure-signature", ("sig=",), r"[?&]sig=(?P<secret>[\w%+/-]{40,}=?)"),
    Rule(
        "curl-password",
        ("curl",),
        r"\bcurl\b[^\n]{0,200}?[ \t](?:-[A-Za-z]{0,4}u|--user)[ \t=]{0,3}[\"']?"
        r"[^\s:\"'$]{1,100}:(?P<secret>[^\s\"'@$<{\[][^\s\"'@]{3,200})",
    ),
    Rule(
        "netrc-password",
        ("machine",),
        r"\b(?:machine\s{1,9}\S{1,200}|default)\s{1,9}login[ \t]{1,9}\S{1,100}\s{1,9}"
        r"password[ \t]{1,9}"
        r"(?P<secret>[^\s\[<$]\S{3,255})",
    ),
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
        r"(?i)(?:secret|token|(?:api|app|application|access|auth|account|private|signing"
        r"|encryption|license|master|shared|service|consumer|client|deploy|webhook)"
        r"[_-]?key|credentials?)[\"']?[ \t]{0,3}[:=]{1,2}>?[ \t]{0,3}"
        r"(?:\"(?P<secret>[^\"\s]{8,512})|'(?P<single>[^'\s]{8,512})"
        r"|(?P<bare>[^\s\"',;)}\]]{8,512}))",
        judged=True,
    ),
    # What no format is known of: long, of letters in both cases and figures, and
    # without an order that a name, a path or a digest has.
    Rule("random", (), _RANDOM, judged=True),
)
