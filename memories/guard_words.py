"""Words that decide whether two texts say the same: data of the guards, no code."""


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that may come and go without changing a fact. Prepositions, pronouns, modal
# verbs and the past ("was") are absent on purpose. Per language, since "die" is an
# article in one and a verb in the next.
FILLERS: dict[str, frozenset[str]] = {
    "en": _table(
        "a an the is are am be being been that which who there do does and some please"
    ),
    "de": _table(
        "der die das den dem des ein eine einen einem einer eines ist sind und dass"
    ),
    "fr": _table("le la les l un une est sont et que qui"),
    "es": _table("el la los las un una unos unas es son está están y que"),
    "it": _table("il lo la i gli le l un una uno è sono e che"),
    "pt": _table("o a os as um uma é são está estão e que"),
    "nl": _table("de het een is zijn en dat die"),
}

ALL_FILLERS = frozenset[str]().union(*FILLERS.values())

# Words that tell the language beside the fillers; they do count.
MARKERS: dict[str, frozenset[str]] = {
    "en": _table("to of for with on in by not we it this from at"),
    "de": _table("wir für mit auf im zu von nicht nach am bei kein keine über auch"),
    "fr": _table("nous pour avec sur dans de du des pas ne au aux en à par"),
    "es": _table("para con en de del por no se al nosotros"),
    "it": _table("per con su di del della non nel da al si"),
    "pt": _table("para com em de do da não no na por se"),
    "nl": _table("voor met op van niet we wij geen naar bij te"),
}

# Endings that a word may change without becoming another word. No "-ed": what was
# so once is no duplicate of what is so now.
ENDINGS: dict[str, tuple[frozenset[str], ...]] = {
    "": (frozenset(("", "s")),),
    "en": (
        frozenset(("", "s", "es", "ing")),
        frozenset(("y", "ies", "ying")),
        frozenset(("e", "es", "ing")),
    ),
    "de": (
        frozenset(("", "e", "en", "n", "s", "es")),
        frozenset(("e", "en", "er", "es", "em")),
    ),
    "fr": (frozenset(("", "s", "x")),),
    "es": (frozenset(("", "s", "es")),),
    "pt": (frozenset(("", "s", "es")),),
    "nl": (frozenset(("", "e", "en", "s")),),
}

# Words that an ending makes another thing.
DISTINCT = frozenset(
    frozenset(pair.split("/"))
    for pair in """
http/https ftp/ftps smtp/smtps imap/imaps ldap/ldaps amqp/amqps mqtt/mqtts new/news
mean/means str/string
""".split()
)

# Words that bind and point but name nothing: they count for sameness, and not for
# what two texts are about.
LIGHT = _table(
    """
to of for with on in by from at as into onto over under than then or but if when
while during after before until since because through between about across near
we i you he she it they our my your his her its their us them this these those
will would can could may might must should shall was had has have did also just
wir ich du er sie es ihr unser unsere für mit auf im in zu von vom zum zur nach am an
bei um aus über unter vor oder aber wenn weil bis seit durch als wird werden war muss
soll kann
nous je tu il elle ils elles on notre nos pour avec sur dans de du des au aux en à par
ou mais si quand depuis doit peut
nosotros para con en de del por al se su sus o pero si cuando desde debe puede
per con su di del della nel nella da al si ma quando
para com em do da no na dos das nos nas
voor met op van naar bij te wij ons of maar als om uit
в на с со к по для из от и у о мы
の を に は が で と も へ や 的 了 在 和 与 及 以 地 得 着
"""
)

NEGATIONS = _table(
    """
not no never none nobody nothing nowhere neither nor without unable cannot
nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder
nirgends
ne pas jamais aucun aucune rien sans ni
nunca jamás ningún ninguno ninguna nadie nada sin tampoco
non mai nessun nessuno nessuna niente nulla senza né
não nenhum nenhuma ninguém sem nem jamais
niet geen nooit niemand niets zonder
nie nigdy bez żaden inte aldrig utan ikke aldri uden ei
не нет никогда ни без нельзя никто ничего ні немає
değil yok hiç asla olmayan
لا لم لن ليس غير بدون
नहीं मत ना न बिना
不 没 沒 未 无 無 非 别 別 勿 莫 否 안 않 못 없 ぬ ず
"""
)

# Where words are not set apart, a negation is a part of the run of characters.
GLUED_NEGATIONS = ("ない", "ません", "なし", "なかった", "ไม่", "ບໍ່")

# English contractions whose apostrophe was lost, and "cannot".
BARE_NEGATIONS = {"cannot": "can"} | {
    f"{verb}nt": verb
    for verb in (
        "do does did is are was were has have had could should would must".split()
    )
}
BARE_NEGATIONS["cant"] = "can"

NUMBERS: dict[str, str] = {
    word: str(value)
    for row in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "zéro _ deux trois quatre cinq six sept huit neuf dix onze douze",
        "cero _ dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for value, word in enumerate(row.split())
    if word not in ("_", "null", "once")
} | {"twenty": "20", "zwanzig": "20", "vingt": "20", "hundred": "100"}

# Closed sets: another member of the set is another value of the same fact.
CLASSES = tuple(
    _table(row)
    for row in (
        "monday tuesday wednesday thursday friday saturday sunday"
        " mondays tuesdays wednesdays thursdays fridays saturdays sundays",
        "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
        " montags dienstags mittwochs donnerstags freitags samstags sonntags",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
        "january february march april may june july august september october"
        " november december jan feb mar apr jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober"
        " november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre"
        " novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre"
        " noviembre diciembre",
        "hourly daily weekly monthly quarterly yearly annually",
        "täglich wöchentlich monatlich stündlich jährlich",
        "ns µs μs ms s sec second seconds min minute minutes h hour hours day days"
        " week weeks month months year years",
        "sekunde sekunden minute minuten stunde stunden tag tage tagen woche wochen"
        " monat monate monaten jahr jahre jahren",
        "seconde secondes minute minutes heure heures jour jours semaine semaines"
        " mois an ans",
        "b kb mb gb tb pb kib mib gib tib bit bits byte bytes kbps mbps gbps",
        "mm cm m km inch inches foot feet mile miles mg g kg lb",
        "am pm",
        "< > ≤ ≥",
        "% $ € £ ¥ usd eur gbp",
        "must should may can could might shall",
        "〇 零 一 二 两 三 四 五 六 七 八 九 十 百 千 万 日",
        "年 月 周 天 时 分 秒",
    )
)

ANTONYMS = frozenset(
    frozenset(pair.split("/"))
    for pair in [
        "on/off",
        "up/down",
        "in/out",
        "inside/outside",
        "with/without",
        "before/after",
        "above/below",
        "over/under",
        "open/close",
        "open/closed",
        "opening/closing",
        "opened/closed",
        "start/stop",
        "starts/stops",
        "starting/stopping",
        "enable/disable",
        "enabled/disabled",
        "enables/disables",
        "enabling/disabling",
        "allow/deny",
        "allowed/denied",
        "allow/forbid",
        "allowed/forbidden",
        "allows/forbids",
        "accept/reject",
        "accepted/rejected",
        "accepts/rejects",
        "include/exclude",
        "included/excluded",
        "includes/excludes",
        "add/remove",
        "added/removed",
        "adds/removes",
        "adding/removing",
        "increase/decrease",
        "increased/decreased",
        "increases/decreases",
        "raise/lower",
        "raised/lowered",
        "push/pull",
        "true/false",
        "yes/no",
        "always/never",
        "all/none",
        "first/last",
        "left/right",
        "north/south",
        "east/west",
        "public/private",
        "sync/async",
        "synchronous/asynchronous",
        "internal/external",
        "minimum/maximum",
        "min/max",
        "more/less",
        "most/least",
        "many/few",
        "high/low",
        "higher/lower",
        "fast/slow",
        "faster/slower",
        "big/small",
        "large/small",
        "old/new",
        "older/newer",
        "early/late",
        "earlier/later",
        "hot/cold",
        "light/dark",
        "full/empty",
        "safe/unsafe",
        "required/optional",
        "mandatory/optional",
        "success/failure",
        "succeed/fail",
        "succeeds/fails",
        "passed/failed",
        "pass/fail",
        "passes/fails",
        "read/write",
        "client/server",
        "source/target",
        "master/slave",
        "primary/secondary",
        "ascending/descending",
        "horizontal/vertical",
        "online/offline",
        "inbound/outbound",
        "ingress/egress",
        "import/export",
        "imports/exports",
        "encrypt/decrypt",
        "lock/unlock",
        "prefer/avoid",
        "love/hate",
        "loves/hates",
        "likes/dislikes",
        "sitting/standing",
        "lying/standing",
        "sleeping/awake",
        "alive/dead",
        "win/lose",
        "buy/sell",
        "upload/download",
        "before/afterwards",
        "ein/aus",
        "an/aus",
        "auf/zu",
        "mit/ohne",
        "vor/nach",
        "aktiviert/deaktiviert",
        "aktivieren/deaktivieren",
        "erlaubt/verboten",
        "immer/nie",
        "innen/außen",
        "öffentlich/privat",
        "intern/extern",
        "links/rechts",
        "oben/unten",
        "offen/geschlossen",
        "mehr/weniger",
        "wahr/falsch",
        "ja/nein",
        "alt/neu",
        "hoch/niedrig",
        "schnell/langsam",
        "groß/klein",
        "früh/spät",
        "voll/leer",
        "pflicht/optional",
        "start/stopp",
        "avec/sans",
        "avant/après",
        "activé/désactivé",
        "activer/désactiver",
        "activée/désactivée",
        "autorisé/interdit",
        "toujours/jamais",
        "public/privé",
        "interne/externe",
        "gauche/droite",
        "haut/bas",
        "ouvert/fermé",
        "ouverte/fermée",
        "plus/moins",
        "vrai/faux",
        "oui/non",
        "ancien/nouveau",
        "rapide/lent",
        "grand/petit",
        "tôt/tard",
        "plein/vide",
        "obligatoire/facultatif",
        "con/sin",
        "antes/después",
        "activado/desactivado",
        "activar/desactivar",
        "permitido/prohibido",
        "siempre/nunca",
        "público/privado",
        "interno/externo",
        "izquierda/derecha",
        "abierto/cerrado",
        "más/menos",
        "verdadero/falso",
        "sí/no",
        "viejo/nuevo",
        "rápido/lento",
        "早/晚",
        "上/下",
        "左/右",
        "前/后",
        "先/后",
        "大/小",
        "开/关",
        "内/外",
        "新/旧",
        "多/少",
        "增/减",
        "加/减",
        "高/低",
        "快/慢",
        "真/假",
        "有/无",
        "允/禁",
        "入/出",
        "始/终",
        "私/公",
        "长/短",
        "включён/выключен",
        "включена/выключена",
        "до/после",
        "с/без",
        "всегда/никогда",
    ]
)
NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "dis", "non", "de", "dé", "des", "mis")

# Verbs of a third person: what stands before them without an article, at the start of
# a sentence, is a name.
SUBJECT_VERBS = _table(
    """
is was has does will owns runs uses listens stores prefers likes hates lives works
leads wants needs maintains manages handles serves reviews approves wrote replaced
est a utilise préfère gère aime habite travaille dirige écrit remplace
es tiene usa prefiere gestiona vive trabaja dirige è ha usa preferisce gestisce
"""
)
