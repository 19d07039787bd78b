import time

import pytest

from memories.redact import looks_random, looks_secret, redact

ALNUM = "Ab3Cd5Ef7Gh9Ij1Kl3Mn5Op7Qr9St1Uv3Wx5Yz7Ab9Cd1Ef3Gh5Ij7Kl9Mn1Op3"
HEX = "0123456789abcdef" * 4
KEY_BODY = "\n".join([ALNUM] * 4)

# Put together here, so that no scanner takes this file for a leak.
SECRETS = [
    ("aws-access-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github-token", "ghp_" + ALNUM[:36]),
    ("github-token", "github_pat_" + ALNUM[:22] + "_" + ALNUM[:59]),
    ("gitlab-token", "glpat-" + ALNUM[:20]),
    ("slack-token", "xoxb-" + "123456789012-" + ALNUM[:24]),
    ("stripe-key", "sk_live_" + ALNUM[:24]),
    ("anthropic-key", "sk-ant-" + "api03-" + ALNUM[:40]),
    ("openai-key", "sk-" + ALNUM[:48]),
    ("openai-key", "sk-proj-" + ALNUM[:48]),
    ("google-key", "AIza" + ALNUM[:35]),
    ("npm-token", "npm_" + ALNUM[:36]),
    ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + ALNUM),
    ("jwt", "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + ALNUM[:43]),
    ("huggingface-token", "hf_" + ALNUM[:34]),
    ("sendgrid-key", "SG." + ALNUM[:22] + "." + ALNUM[:43]),
    ("telegram-token", "123456789:AA" + ALNUM[:33]),
    ("vault-token", "hvs." + ALNUM[:30]),
    ("icm-token", "icm_" + ALNUM[:40] + "_-x"),
    (
        "private-key",
        "-----BEGIN RSA PRIVATE KEY-----\n"
        f"Proc-Type: 4,ENCRYPTED\n{KEY_BODY}\n-----END RSA PRIVATE KEY-----",
    ),
    ("private-key", f"-----BEGIN PRIVATE KEY-----\\n{ALNUM}\\n{ALNUM}"),
]
# The text, what must be gone, and the name.
IN_CONTEXT = [
    ("postgres://app:s3cr3t!@db:5432/x", "s3cr3t!", "url-password"),
    ("https://:abc123@cache.example.org", "abc123", "url-password"),
    ("Authorization: Bearer abcdef123456", "abcdef123456", "authorization"),
    ('"authorization": "Basic dXNlcjpwYXNz"', "dXNlcjpwYXNz", "authorization"),
    ("password=hunter2", "hunter2", "password"),
    ("--password=swordfish", "swordfish", "password"),
    ('{"dbPassword": "Tr0ub4dor&3"}', "Tr0ub4dor&3", "password"),
    ("The password is hunter2, by the way", "hunter2", "password"),
    ("pwd: 123456", "123456", "password"),
    ("pwd: 111111", "111111", "password"),
    ("api_key=" + ALNUM[:20], ALNUM[:20], "secret"),
    ("clientSecret => '" + ALNUM[:20] + "'", ALNUM[:20], "secret"),
    ("AWS_SECRET_ACCESS_KEY=" + ALNUM[:20] + "/+", ALNUM[:20] + "/+", "secret"),
    ("token: " + HEX[:32], HEX[:32], "secret"),
    ("datadog_app_key: " + HEX[:40], HEX[:40], "secret"),
    ("db_password = " + HEX, HEX, "password"),
    ("VAULT_TOKEN=s." + ALNUM[:24], "s." + ALNUM[:24], "vault-token"),
    ("CLIENT_SECRET=/" + ALNUM[:24], "/" + ALNUM[:24], "secret"),
    ("curl -su me:hunter2 https://x.example.org", "hunter2", "curl-password"),
    ("machine x.org login me password hunter2", "hunter2", "netrc-password"),
    ("https://x.example.org/c?sv=1&sig=" + ALNUM[:43], ALNUM[:43], "azure-signature"),
    ("DefaultEndpoints;AccountKey=" + ALNUM + "==", ALNUM + "==", "azure-key"),
]
INNOCENT = [
    "01M8MQAGC3QB2PXP0F5Z6QJZG0",
    "token: 01M8MQAGC3QB2PXP0F5Z6QJZG0",
    "commit d241cdb9a1f0c3e5b7d9f1a3c5e7092b4d6f8a0c",
    "token: 123e4567-e89b-12d3-a456-426614174000",
    "sha256:" + HEX,
    "max_tokens=4096, tokens: 1500",
    "token: the user must refresh it",
    "token: 1234567890",
    "password: required",
    "The password is base64-encoded",
    "password=os.environ['DB_PASSWORD']",
    "password = config.database.password",
    "token=${GITHUB_TOKEN}",
    "api_key: <your key here>",
    "secret: {{ vault.secret }}",
    "token = get_token(user)",
    "Authorization: Bearer $TOKEN",
    "password=********",
    "signing_key: rs256",
    "task-management-and-risk-assessment for sk-learn-pipelines-everywhere",
    "http://localhost:8080/path@version",
    "db_password=/run/secrets/db_password",
    "curl -u $USER:$TOKEN https://x.example.org",
    "curl -sS https://x.example.org:8443/up -o out.txt",
    "pat.ch and sat.nav, patABCDEFGHIJKLMN.txt, api-v2, pk_8 and YC",
    "on this machine login works without a password today",
    "GR1348941 was a runner's prefix, and sk_live_ one of Stripe",
    "We chose Postgres; see -----BEGIN PRIVATE KEY----- in the docs",
    "The secret of good tests: small tables",
    "primary key: memory_id2, foreign key: x",
    "call sb_secret_function_name_with_long_words_here and "
    "glc_function_name_of_a_context_in_code",
    "the build restores cache-key-" + HEX[:32],
    "the machine has a login page password reset",
    "an image of zeros: " + "A" * 120,
    '"integrity": "sha512-' + ALNUM + 'Xy9Zw8Vu7Ts6Rq5Po4Nm3L=="',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAenGYQrs0VCds5qsc49CttXmFTqjGP25Bq8afvx8oSHDm",
]


@pytest.mark.parametrize(("name", "secret"), SECRETS)
def test_a_known_format_is_masked_and_named(name: str, secret: str) -> None:
    result = redact(f"Deploy with {secret} from CI.")
    assert result.text == f"Deploy with [redacted:{name}] from CI."
    assert result.found == (name,)


@pytest.mark.parametrize(("text", "secret", "name"), IN_CONTEXT)
def test_a_secret_is_told_by_what_stands_before_it(
    text: str, secret: str, name: str
) -> None:
    result = redact(text)
    assert result.found == (name,)
    assert result.text == text.replace(secret, f"[redacted:{name}]")


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text", [secret for _, secret in SECRETS] + [text for text, _, _ in IN_CONTEXT]
)
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text
    assert redact(once.text).found == ()


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("Kq7RtP2xWm9Zb4LdVn3Hs", True),
        ("Kq7RtP2xWm9Zb4LdVn3Hsstorage", False),  # a word in it
        ("Kq7-RtP2_xWm9+Zb4/LdVn3-Hs_a+b/c-d", False),  # a path
        ("AbAbAb1AbAb2AbAb3AbAb4", False),  # repeats itself
    ],
)
def test_a_long_word_is_a_secret_if_a_program_drew_its_letters(
    text: str, drawn: bool
) -> None:
    assert looks_random(text) is drawn


def test_a_pattern_may_be_added_and_another_allowed() -> None:
    text = "badge ZZ-1234, password=hunter2"
    assert redact(text, extra=[r"ZZ-\d+"]).found == ("password", "custom")
    assert redact(text, allow=["^hunter"]).text == text
    assert redact(text, allow=[".*"], extra=["badge"]).text == text


def test_several_secrets_are_each_named_once() -> None:
    text = " ".join(secret for _, secret in SECRETS[:4]) + " password=hunter2"
    expected = ("aws-access-key", "github-token", "gitlab-token", "password")
    assert redact(text).found == expected


@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----" + "A" * 39,
        "eyJabcdefgh.",
        "://a:b",
        "sk-aa-",
        "SK",
        "SG.",
        "password=",
        "token: ",
        "Authorization: Bearer ",
        "a_token_key=",
        "aaaaaaaaaaaaaa.atlasv1.",
        "a" * 1000,
        "password is ",
        "curl -u ",
        "machine login a password ",
        "- -- --- ",
        "password: " + "aa-" * 60 + "1 ",
        "password: " + "v1-aa-" * 40 + "A.1_b::c( ",
        "password: " + "a.b::c->" * 30 + "1 ",
    ],
)
def test_a_megabyte_takes_no_longer_than_its_length_asks(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    assert seconds(1 << 20) < 5


@pytest.mark.parametrize(
    ("value", "secret"),
    [("hunter2", True), ("required", False), ("x" * 40, False), ("a.b.c", False)],
)
def test_a_value_is_judged_by_its_shape(value: str, secret: bool) -> None:
    assert looks_secret(value, before=f"password: {value}") is secret
