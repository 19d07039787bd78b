"""Sentences that tell what is being done and not what is so: never kept."""

from __future__ import annotations

import re

from icm_site import later
from memories.extraction_signal import pattern_of

NARRATION = """
let me, let's, lets, i will now, i'll now, now let, now i, next i, first i, first let,
next let, then i, reading the, looking at, checking the, running the, storing this,
i should, i need to, we need to, we should, we will, we can, i'll start, i'll check,
i'll look, i'll read, i'll run, i'll use, i'll help, i'll create, i'll add,
i'll update, i'll fix, i'll try, i'll examine, i'll analyze, i'll also, i'll go,
i'll make, i'll search, i'll open, i'll just, i'll begin, i'll first, i'll do,
i will start, i will check, i will look, i will first, i will use, i will try,
i will create, i will also, i will open, i will run, i will search, i can see, i see,
i can, i've updated, i've added, i've created, i've changed, i've removed,
i've implemented, i've made, i've now, i have updated, i have added, i have created,
i have made, here's, here is, here are, here's how, sure, certainly, of course, okay,
ok, great, perfect, excellent, good, got it, done, alright, would you, do you, can you,
could you, please, you can, you should, you may, you need, you'll, you are, you're,
to fix this, to do this, to address, to start, to begin, to test, to see, to verify,
to use, to run, to create, to view, to add, to get, to make, to further, this will,
this should, this change, these changes, this is because, this means, this way,
this ensures, this allows, in this, in order to, before we, after that, once this,
by doing, with this, with these, now we, now that, now the, now you, next, first,
finally, the next step, the first step, it looks, it seems, it appears, it is likely,
looks like, seems like, success, reviewing, searching, opening, waiting, working on,
trying, testing, examining, analyzing, and then, since the, if you, if the, if that,
if this, if it, if we,
we are, we have, we see, we get, we also, we first, we try, we'll, we were, we then,
apologies, i apologize, sorry, yes, no problem, also, lass mich, ich schaue,
ich werde jetzt, ich prüfe, jetzt werde ich, zuerst, als nächstes, hier ist, hier sind,
natürlich, voy a, déjame, ahora voy, primero, aquí está, claro, je vais, laisse-moi,
laissez-moi, d'abord, ensuite, voici, bien sûr, vediamo, fammi, ora vado, adesso,
prima di tutto, ecco, certo, vou verificar, deixe-me, agora vou, primeiro, aqui está,
давайте, сейчас я, сначала, посмотрим, теперь я, вот, конечно, 让我, 我来, 我先, 首先,
接下来, 现在我, 我将检查, 好的, 当然, 以下是, まず, 次に, 確認します, それでは, では,
以下, もちろん, はい, 먼저, 다음으로, 확인해 보, 이제, 네, 물론, 다음은
"""
# The same, where a table of phrases is too coarse.
GOING_TO = r"""(?:i'm|i\ am|we're)\s+(?:now\s+)?going\s+to
\s+(?!be\b|an?\b|the\b|my\b|our\b|see\b)"""
# Narration all the same is kept with one of these: it is meant to last.
LASTING = """
going forward, from now on, always, never, by friday, by monday, by tuesday,
by wednesday, by thursday, by the end, by end of, until, promised, committed,
from today, every week, every month, every day, in the future, künftig, von nun an,
en adelante, desormais, désormais, à l'avenir, d'ora in poi, daqui para frente, впредь,
отныне, 今后, 今後, 앞으로, आगे
"""
# Reports of machines about themselves.
MACHINE_TALK = """
session start, session started, startup, heartbeat, cron job, health check,
next run in, connection alive, no new events, message received, acknowledged, ping,
pong, initialized, initializing, initialised, loaded, loading, listening on,
server started, ready in, compiled successfully, build succeeded, tool schema,
context_window, no pending, warm, reconnected, successfully replaced,
successfully created, successfully updated, successfully wrote,
has been updated successfully, up to date, already up-to-date, 0 errors,
todos have been modified, command was cancelled, command timed out, exit code,
total tokens, tokens used, downloading, collecting, requirement already, cpu usage,
memory usage, disk usage, uptime, applied edit
"""
# What makes a sentence of an agent a report of its work: these words anywhere,
AGENT_WORK = r"""\b(?:
  (?:i|we)(?:'ll|'d|'m|\s+(?:will|should|need|can|could|have\s+to|am|see|found|get|got
  |tried|want|think|believe|guess|bet|suspect))
| let(?:'s|\s+me|\s+us) | my\s+(?:edit|last|previous) | you | your
| (?:this|these|both|each|the|two|new|other)\s+(?:new\s+|two\s+)?
  (?:tests?|methods?|functions?|script|changes?|command|output|edit|lines?|snippet|example
  |approach|response|attempt|solution|section|steps?|following|error\s+message
  |issue\s+(?:suggests|indicates|mentions)|file\s+(?:we|is|was))
| successfully | make\s+sure | check\s+(?:if|whether|that)
| as\s+(?:expected|requested|follows)
| (?:has|have)\s+been\s+(?:updated|added|created|fixed|removed|corrected|resolved
  |changed)(?!\s+by)
| should(?!\s+(?:not|never|always)) | located\s+in | mocks? | assert\w*
| pre-fix | (?:before|after)\s+(?:this|the)\s+(?:one-line\s+)?(?:commit|fix|pr)
| failed\s+against | remains?\s+(?:intact|unchanged|the\s+same) | now\s+follows
)\b
| されました | しました | します | してください | に修正 | を追加 | を反映 | 合わせて
| 했습니다 | 하겠습니다"""
# and these at its start.
AGENT_START = r"""[`'"(/~\[✅✓❌→·] | \W*(?:
  uses|returns|shows|clears|calls|handles|adds|removes|updates|so|but|now|both|which
| where|then|invalid|check|note|add|adding|added|remove|removing|removed|update|updating
| updated|change|changing|changed|create|creating|created|modify|modifying|modified
| checking|verify|test|testing|import|run|running|rename|renamed|move|replace|replaced
| refactoring|fixing\s+(?:this|that|it)
| the\s+(?:helper|function|method|class|wrapper|loop|branch|caller)\s+\w+s
| (?:never|always)\s+\w+s
| [\w./-]+\.(?:md|py|rs|[jt]sx?|toml|ya?ml|sh)(?=\s*:)
| (?:fix|fixed)(?!\s+by)|implement|implemented|use|using|before|after|when\s+you
| however,?\s+(?:according|the\s+issue)|given|based\s+on|according|otherwise|indeed
)\b"""

# Openings that say nothing of the fact: taken off before it is kept.
PREAMBLES = r"""(?:just\s+)?confirmed(?:\s+with\s+[^:.,]{2,40})?:\s+
| (?:fun\s+|quick\s+)?facts?:\s+ | note(?:\sto\sself)?:\s+ | fyi[,:]\s+
| for\s+the\s+record[,:]\s+
| (?:one|two|three|some|a\sfew)\s+(?:\w+\s)?(?:facts?|things?|notes?)\s+
  (?:worth\s+\w+|to\s+\w+)?:\s+
| (?:we\s+(?:\w+\s+){0,5}?)?(?:agreed|decided|concluded):\s+
| (?:honestly|frankly|actually|by\s+the\s+way|also|so|well|ok(?:ay)?|basically),\s+
| btw,?\s+ | and\s+(?=[a-z]+\s) | ehrlich\s+gesagt,\s+ | honestamente,\s+
| honnêtement,\s+ | onestamente,\s+ | честно\s+говоря,\s+ | 老实说， | 솔직히,\s+
| सच\s+कहूँ\s+तो,\s+ | 방금\s+확인했습니다:\s+ | 刚刚确认： | gerade\s+bestätigt:\s+
| 사실:\s+ | fait\s:\s+"""

# What is left of a sentence or of an output, and says nothing by itself.
SCRAP = r"""\A(?:
  \w*error:\s.{0,39} | [^()]*\([^()]*[^()!?.。]
)\Z"""

# Compiled when first used: that takes longer than to answer a command.
_FLAGS = re.IGNORECASE | re.VERBOSE
_NARRATION = later.pattern(
    rf"{pattern_of(NARRATION, start=True)}|\A(?x:{GOING_TO})", re.IGNORECASE
)
_LASTING = later.pattern(pattern_of(LASTING), re.IGNORECASE)
_MACHINE_TALK = later.pattern(pattern_of(MACHINE_TALK), re.IGNORECASE)
_AGENT_WORK = later.pattern(rf"{AGENT_WORK} | \A(?:{AGENT_START})", _FLAGS)
_SCRAP = later.pattern(SCRAP, _FLAGS)
_PREAMBLE = later.pattern(rf"\A(?:{PREAMBLES})", _FLAGS)


def is_narration(sentence: str) -> bool:
    """Whether a sentence tells what is being done, or is a machine's own report.

    So is one that was torn inside brackets, and a short message without its place.
    """
    if _MACHINE_TALK.search(sentence) or _SCRAP.match(sentence):
        return True
    return bool(_NARRATION.search(sentence)) and not _LASTING.search(sentence)


def is_agent_work(sentence: str) -> bool:
    """Whether a sentence of an agent reports its work, or speaks to somebody."""
    return _AGENT_WORK.search(sentence) is not None


def without_preamble(sentence: str) -> str:
    """A sentence without an opening that says nothing of the fact."""
    rest = _PREAMBLE.sub("", sentence)
    return rest[:1].upper() + rest[1:] if rest != sentence else sentence
