"""Which of two texts repeats, changes or contradicts the other."""

import random
import unicodedata
from collections.abc import Callable

import pytest

from memories.dedup import candidates, judge, likeness, richer

# Verdict | text | text. "?" is a suggestion of either kind.
VERDICTS = {
    "=": {"same"},
    "~": {"may_update"},
    "!": {"contradiction"},
    "?": {"may_update", "contradiction"},
    "x": {"different"},
}
PAIRS = """
! | Postgres listens on port 5432 | Postgres listens on port 5433
! | The API runs on Django 5.1 | The API runs on Django 5.2
! | Upgrade to v1.2.3 before Friday | Upgrade to v1.2.4 before Friday
! | The release is planned for 2024-05-01 | The release is planned for 2024-06-01
! | The release is on May 3 | The release is on June 3
! | Do not restart the worker by hand | Restart the worker by hand
! | The cache isn't shared between workers | The cache is shared between workers
! | Alice owns the billing service | Bob owns the billing service
! | We store sessions in Redis | We store sessions in Memcached
! | The request timeout is 30 s | The request timeout is 30 ms
! | The upload limit is 5 MB | The upload limit is 5 GB
! | The upload limit is 5 MB | The upload limit is 5 Mb
! | Logs are in /var/log/app | Logs are in /var/log/web
! | The config is in ~/.config/app.toml | The config is in ~/.config/web.toml
! | Call get_user before save | Call get_users before save
! | Call getUser in the view | Call getUsers in the view
! | Debug mode is enabled in staging | Debug mode is disabled in staging
! | Run migrations before the deploy | Run migrations after the deploy
! | Use pytest with coverage | Use pytest without coverage
! | Three replicas serve the API | Two replicas serve the API
! | Deploys happen on Fridays | Deploys happen on Mondays
! | The flag --force is required | The flag --force is optional
? | Run make with --debug | Run make with --release
! | The table `user` holds accounts | The table `users` holds accounts
! | The service is reachable | The service is unreachable
! | Retries must be logged | Retries may be logged
! | The disk is 80 % full | The disk is 90 % full
! | Latency is < 100 ms | Latency is > 100 ms
! | We pay $20 for the plan | We pay €20 for the plan
! | Branch main is protected at 10:30 | Branch main is protected at 11:30
~ | The manager approves each release | The boss approves each release
~ | Log files are deleted nightly | Log files are erased nightly
~ | Use tabs in Makefiles | Prefer tabs in Makefiles
~ | Redis replaced Memcached | Memcached replaced Redis
~ | The worker calls the API | The API calls the worker
~ | Migrate the data from Oracle to Postgres | Migrate the data from Postgres to Oracle
~ | The API is written in Go | The API was written in Go
~ | The cache lives in memory | The cache lives in shared memory
~ | We used Jenkins for deploys | We use Jenkins for deploys
x | Picked Redis over Memcached for sessions | Picked Kafka over RabbitMQ for events
x | We use Redis for sessions | We use Kafka for events
x | Alice prefers tea | Bob likes coffee
x | The database is PostgreSQL | Deploys run every Friday
= | The API uses a queue | An API uses the queue
= | Don’t commit to main | do not commit to main
= | It's written in Rust | it is written in Rust.
= | In tests use the fake clock | Use the fake clock in tests
= | The queue is drained by the worker | The worker drains the queue
= | Kafka was replaced by Redis | Redis replaced Kafka
= | We can't use the cache | We cannot use the cache
= | The timeout is 10ms | The timeout is 10 ms
= | Use v1.2.3 of the client | Use 1.2.3 of the client
= | The job takes 10,000 rows | The job takes 10000 rows
= | Send an e-mail to the team | Send an email to the team
= | Enable feature flags | Enable the feature flag
= | “Use two workers” | Use 2 workers
! | Die Datenbank läuft auf Port 5432 | Die Datenbank läuft auf Port 5433
! | Der Dienst nutzt Python 3.11 | Der Dienst nutzt Python 3.12
! | Das Treffen ist am 3. Mai | Das Treffen ist am 4. Mai
! | Das Treffen ist am Montag | Das Treffen ist am Dienstag
! | Der Cache wird nicht geteilt | Der Cache wird geteilt
! | Wir nutzen keine Container | Wir nutzen Container
! | Der Debug-Modus ist aktiviert | Der Debug-Modus ist deaktiviert
! | Das Limit beträgt 5 GB | Das Limit beträgt 5 MB
! | Die Logs liegen in /var/log/app | Die Logs liegen in /var/log/web
! | Tests mit Netz laufen lassen | Tests ohne Netz laufen lassen
! | Drei Server laufen im Cluster | Zwei Server laufen im Cluster
~ | Der Chef prüft jede Freigabe | Der Leiter prüft jede Freigabe
~ | Redis ersetzt Memcached im Backend | Memcached ersetzt Redis im Backend
= | Die Datenbank ist PostgreSQL | Datenbank ist PostgreSQL!
= | Wir nutzen den neuen Server | Wir nutzen die neuen Server
= | Für Tests nutzen wir SQLite | für tests nutzen wir SQLite
! | Le serveur écoute sur le port 8080 | Le serveur écoute sur le port 8081
! | L'API utilise Django 5.1 | L'API utilise Django 5.2
! | Le cache n'est pas partagé | Le cache est partagé
! | La réunion est lundi à midi | La réunion est mardi à midi
! | La réunion est le 3 mai | La réunion est le 3 juin
! | Le mode debug est activé | Le mode debug est désactivé
! | Les tests tournent avec le réseau | Les tests tournent sans le réseau
! | La limite est de 5 Go | La limite est de 8 Go
! | Les journaux sont dans /var/log/app | Les journaux sont dans /var/log/web
! | Marie gère la facturation | Paul gère la facturation
~ | Le patron valide la version | Le chef valide la version
~ | Redis remplace Memcached | Memcached remplace Redis
= | L’API utilise une file | L'API utilise la file
= | En production on utilise Redis | On utilise Redis en production
! | 数据库使用5432端口 | 数据库使用5433端口
! | 服务运行在Python 3.11上 | 服务运行在Python 3.12上
! | 缓存不共享给其他进程 | 缓存共享给其他进程
! | 会议在周一举行 | 会议在周三举行
! | 会议在5月3日 | 会议在6月3日
! | 我们用Redis存储会话 | 我们用Memcached存储会话
! | 日志在/var/log/app里 | 日志在/var/log/web里
! | 上传限制是5MB | 上传限制是5GB
! | 部署前运行迁移脚本 | 部署后运行迁移脚本
~ | 张三审核李四的代码 | 李四审核张三的代码
~ | 经理批准每次发布 | 主管批准每次发布
= | 数据库使用PostgreSQL。 | 数据库使用 PostgreSQL
= | 端口是8080 | 端口是8080
! | キャッシュを使います | キャッシュを使いません
! | サーバーはポート8080で動く | サーバーはポート8081で動く
! | Сервер не использует кэш | Сервер использует кэш
! | 서버는 포트 8080을 사용한다 | 서버는 포트 8081을 사용한다
! | El servidor usa el puerto 8080 | El servidor usa el puerto 8081
! | La caché no está activada | La caché está activada
? | Use HTTP for the health check | Use HTTPS for the health check
? | use http for the health check | use https for the health check
= | The API is public | the apis are public
= | The API returns JSON | The APIs return JSON
~ | Der Nutzer ist groß | Der Nutzen ist groß
! | The tool is written in C | The tool is written in C++
! | The tool is written in C | The tool is written in C#
? | The buffer is ~5 MB | The buffer is 5 MB
! | The offset is -5 | The offset is 5
! | Use Python 3.1 | Use Python 3.10
= | Limit: 5 mb | Limit: 5 MB
= | Ask the KB team | Ask the Kb team
! | A service is hit by Alice | A service is hit by Bob
= | wait... done | wait… done
~ | set locale el | set locale
! | The cache is on the server A | The cache is on the server B
? | Bob hits Alice | Alice hits Bob
~ | Stop the service, then delete the data | Delete the data, then stop the service
! | Deploy from main, never from develop | Deploy from main, always from develop
? | Deploy main and never develop | Deploy develop and never main
? | Redis for sessions, Kafka for events | Kafka for sessions, Redis for events
! | if (!enabled) return early | if (enabled) return early
! | Backups run at 02:00 UTC | Backups run at 03:00 UTC
! | The host is 10.0.0.1 | The host is 10.0.0.2
! | Use commit abc123f for the hotfix | Use commit abd123f for the hotfix
! | The env var is DB_HOST | The env var is DB_PORT
! | The region is us-east-1 | The region is us-east-2
! | The region is us-east-1 | The region is us-west-1
"""
TABLE = [tuple(row.split(" | ")) for row in PAIRS.strip().splitlines()]


@pytest.mark.parametrize(("expected", "first", "second"), TABLE)
def test_a_pair_is_judged_right_in_both_directions(
    expected: str, first: str, second: str
) -> None:
    assert judge(first, second, cosine=None).kind in VERDICTS[expected]
    assert judge(second, first, cosine=None).kind in VERDICTS[expected]


@pytest.mark.parametrize(("expected", "first", "second"), TABLE)
def test_no_cosine_merges_what_the_words_keep_apart(
    expected: str, first: str, second: str
) -> None:
    assert (judge(first, second, cosine=1.0).kind == "same") is (expected == "=")


SUBJECTS = {
    "en": ["The billing service", "A worker in us-east-1", "Our CI", "Alice's team"],
    "de": ["Der Abrechnungsdienst", "Größere Läufe", "Die Prüfung", "Unser Team"],
    "fr": ["L'équipe", "Le déploiement", "La mémoire à côté", "Notre forêt"],
    "es": ["El año fiscal", "La configuración", "Nuestro índice", "El camión"],
    "zh": ["数据库", "每周的部署", "缓存服务", "前端团队"],
}
FACTS = {
    "en": ["doesn't use {tool} {n}.{m}, but v{m}.{n}", "keeps {n} logs - in {path}"],
    "de": ["nutzt {tool} {n}.{m} nicht", "läuft {n}-mal, je {m} ms, in {path}"],
    "fr": ["n'utilise pas {tool}, dès {n} h", "écrit {n} fichiers (ou {m}) : {path}"],
    "es": ["usa {tool}; mañana, {n}", "guarda «{n} años» en {path}, más o menos"],
    "zh": ["使用{tool}，端口{n}{m}。", "每天{n}点写入{path}，保留{m}天"],
}
TOOLS = ["PostgreSQL", "Redis", "C++", "get_user()", "--no-cache", "numpy"]
PATHS = ["/var/log/app", "~/.config/icm.toml", "src/main.py", "C:\\data\\x"]


def _texts(count: int) -> list[str]:
    chance = random.Random(20240501)
    texts = []
    for _ in range(count):
        language = chance.choice(list(SUBJECTS))
        fact = chance.choice(FACTS[language]).format(
            tool=chance.choice(TOOLS),
            path=chance.choice(PATHS),
            n=chance.randint(1, 99),
            m=chance.randint(1, 99),
        )
        joint = "" if language == "zh" else " "
        texts.append(f"{chance.choice(SUBJECTS[language])}{joint}{fact}")
    return texts


def _full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


VARIANTS: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "lower case": str.lower,
    "capitals": str.title,
    "swapped case": str.swapcase,
    "double blanks": lambda text: text.replace(" ", "  "),
    "tabs and lines": lambda text: f"\t{text.replace(' ', chr(10))}\r\n",
    "blanks that do not break": lambda text: text.replace(" ", "\u00a0"),
    "wide blanks": lambda text: text.replace(" ", "\u3000"),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "compatible": lambda text: unicodedata.normalize("NFKD", text),
    "full width": _full_width,
    "a stop": lambda text: f"{text.rstrip('.。')}.",
    "no stop": lambda text: text.rstrip(".。"),
    "cries": lambda text: f"{text}!!!",
    "an ellipsis": lambda text: f"{text}…",
    "typographic apostrophes": lambda text: text.replace("'", "\u2019"),
    "quoted": lambda text: f"“{text}”",
    "dashes": lambda text: text.replace("-", "\u2013"),
    "hyphens that do not break": lambda text: text.replace("-", "\u2011"),
    "no commas": lambda text: text.replace(", ", " ").replace("，", ""),
    "a list item": lambda text: f"- {text}",
    "bold": lambda text: f"**{text}**",
    "invisible": lambda text: text.replace(" ", " \u200b"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_500_texts_are_recognised_in_another_spelling(name: str) -> None:
    for text in _texts(500):
        variant = VARIANTS[name](text)
        assert judge(variant, text, cosine=None).kind == "same", (variant, text)
        assert candidates(variant, [(1, text)], limit=1), (variant, text)


def test_one_changed_digit_keeps_500_texts_apart() -> None:
    digits = str.maketrans("0123456789", "1234567890")
    for text in _texts(500):
        assert judge(text.translate(digits), text, cosine=None).kind != "same", text


def test_a_long_text_with_one_changed_word_is_kept_apart() -> None:
    text = " ".join(_texts(60))
    assert judge(text, f"{text} not", cosine=1.0).kind == "contradiction"
    assert judge(text, text.replace("Redis", "Valkey", 1), cosine=1.0).kind != "same"


def test_the_reason_names_what_differs() -> None:
    verdict = judge("Postgres is on port 5433", "Postgres is on port 5432", cosine=None)
    assert verdict.reason == "another number: 5432 -> 5433"
    assert verdict.likeness == pytest.approx(0.958, abs=0.001)


def test_a_near_vector_suggests_what_shares_few_letters() -> None:
    new = "Correction: Sam leads payments now"
    old = "Priya is the lead of the payments team"
    assert judge(new, old, cosine=None).kind == "different"
    assert judge(new, old, cosine=0.97).kind != "different"
    assert judge(new, "The linter is ruff", cosine=0.99).kind == "different"


def test_texts_without_words_are_the_same_only_if_equal() -> None:
    assert judge("???", " ???\n", cosine=None).kind == "same"
    assert judge("???", "!!!", cosine=None).kind == "different"
    assert judge("", "a fact about Redis", cosine=None).kind == "different"


def test_judging_survives_any_characters() -> None:
    for text in ("\0", "\ud800", "\ufdfa" * 20, "'", "`" * 99, "-" * 999, "न" * 99):
        assert judge(text, text, cosine=None).kind == "same"
        judge(text, "a fact", cosine=None)


def test_candidates_come_likest_first_and_bounded() -> None:
    rows = [
        (7, "The linter is ruff"),
        (3, "Postgres listens on port 5432"),
        (5, "Postgres listens on port 5432."),
        (9, "MySQL listens on port 5432"),
    ]
    found = candidates("postgres listens on port 5432", rows, limit=3)
    assert [key for key, _ in found] == [3, 5, 9]
    assert found[0][1] == 1.0
    assert candidates("postgres listens on port 5432", rows, limit=1) == found[:1]
    assert candidates("nothing alike at all", rows, limit=3) == []
    assert candidates("x", [], limit=3) == []


def test_candidates_see_through_word_order() -> None:
    rows = [(1, "The old queue is being drained by the nightly worker")]
    assert candidates("The nightly worker drains the old queue", rows, limit=1)


def test_likeness_is_the_same_both_ways() -> None:
    for _, first, second in TABLE:
        assert likeness(first, second) == likeness(second, first)


def test_likeness_looks_at_the_beginning_of_long_texts() -> None:
    assert likeness("word " * 1_000 + "alpha", "word " * 1_000 + "omega") == 1.0


def test_a_negation_contradicts_only_what_is_about_the_same() -> None:
    old, new = "alpha beta gamma delta epsilon", "not alpha beta kappa sigma omega"
    assert judge(new, old, cosine=0.99).kind == "may_update"


@pytest.mark.parametrize(
    ("new", "old", "stays"),
    [
        ("The cache is Redis", "Cache is Redis", "The cache is Redis"),
        ("Cache is Redis", "The cache is Redis", "Cache is Redis"),
        ("Use Redis", "Use Redis for sessions", "Use Redis for sessions"),
        ("Use Redis for sessions", "Use Redis", "Use Redis for sessions"),
        ("the cache is redis", "The cache is Redis", "The cache is Redis"),
        ("THE CACHE IS REDIS", "The cache is Redis", "The cache is Redis"),
    ],
)
def test_the_newer_text_stays_unless_it_says_less(
    new: str, old: str, stays: str
) -> None:
    assert richer(new, old) == stays


@pytest.mark.parametrize("part", ["a", "-", "`a", "1,", "日", "~/", "ab "])
def test_a_repeated_part_is_read_in_linear_time(part: str) -> None:
    text = part * 5_000
    assert judge(text, text, cosine=None).kind == "same"
