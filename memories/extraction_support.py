"""What goes with facts of every kind, and what speaks against a sentence."""

from __future__ import annotations

from memories.extraction_signal import Signal

NEEDS = "needs what was said before"

# Scripts that say as much in fewer characters.
_WIDE = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"

# A capitalised word that is no pronoun, day or month.
_NAME = (
    r"(?!(?:I|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun|January|February|March|April|May"
    r"|June|July|August|September|October|November|December)(?:day)?s?\b)[A-Z][\w.-]+"
)

# In German each noun has a capital, which says nothing there.
_GERMAN = r".*\b(?:der|das|und|ist|nicht|eine?|mit|dem|auf|wird|sich|hat|habe)\b"

SUPPORT = (
    Signal(
        name="specification",
        points=1.5,
        words="""
        maximum, minimum, default, requires, require, supports, timeout, threshold,
        limited by, port, cluster, protocol, optimal, only effective, capacity, budget,
        limit, rate limit, quota
        """,
    ),
    Signal(
        name="infrastructure",
        points=1.5,
        words="""
        provider, database, credential*, endpoint, webhook, api key, token, connection,
        server, queue, schema, index, datenbank, base de datos, base de données,
        banco de dados, база данных, базе данных, 数据库, 服务器, データベース,
        サーバー, 데이터베이스, 서버, 服务
        """,
    ),
    Signal(
        name="number",
        points=1.5,
        pattern=r"(?<![\w#/.-])\d[\d.,:]*(?:\s?%|\s?°\s?C|[a-zA-Z]{1,3})?(?![\w/-])",
    ),
    Signal(name="version", points=1.5, pattern=r"\bv?\d+\.\d+(?:\.\d+)?\b"),
    Signal(
        name="path",
        points=1.5,
        pattern=r"[\w/-]+\.(?:rs|py|ts|tsx|js|go|java|c|cpp|h|rb|toml|ya?ml|json|sql|sh)\b",
    ),
    Signal(
        name="names",
        points=1.5,
        cased=True,
        pattern=rf"\A(?!{_GERMAN}).*?(?<=[^\s.?!:] ){_NAME}"
        rf"(?:\W+(?:[a-z0-9]\S*\W+){{0,12}}?)(?<=[\s(\"']){_NAME}",
    ),
    Signal(
        name="name first", points=1.0, cased=True, pattern=r"^[A-Z]\w+ [A-Z]\w+(?:'s)? "
    ),
    Signal(name="code", points=1.0, pattern=r"`[^`]+`|\b(?:fn|struct)\s\w"),
    Signal(
        name="body",
        points=1.0,
        words="licensed, published, paper, team, university, consortium, company",
    ),
    Signal(
        name="own life",
        personal=True,
        points=1.5,
        cased=True,
        pattern=r"\b(?:My|my|Our|our|mine)\b|我的|我们的|私の|제 |내 |मेर[ाीे]",
    ),
    Signal(
        name="told of oneself",
        personal=True,
        points=1.0,
        cased=True,
        pattern=r"\b(?:I|I'm|I've|I'd|We|we|We've|we've|We're|we're|me)\b"
        r"|(?i:\b(?:ich|wir|yo|je|j'ai|nous|io|ho|abbiamo|eu|nós|я|мы)\b)",
    ),
    Signal(
        name="time",
        personal=True,
        points=1.5,
        words="""
        yesterday, last week, last month, last year, last night, last weekend,
        last friday, last saturday, last sunday, next week, next month, next year,
        next friday, next saturday, this weekend, this week, this month, this fall,
        tomorrow, recently, lately, ago, for years, since then, when i was,
        the other day, just got, just started, just finished, by friday, by monday,
        by the end, end of week, after, weekend, soon, been, started, planning,
        gestern, letzte woche, nächste woche, morgen, seit, ayer, la semana pasada,
        hier, la semaine dernière, ieri, la settimana scorsa, ontem, semana passada,
        вчера, на прошлой неделе, 昨天, 上周, 昨日, 先週, 어제, 지난주, कल, पिछले
        """,
    ),
    Signal(
        name="event",
        personal=True,
        points=1.5,
        words="""
        i went, went to, i got, we got, bought, joined, visited, met, signed up,
        adopted, moved, married, graduated, started a, i started, i made, i took,
        took me, won, traveled, travelled, i love, i enjoy, i'm into, passion*,
        grew up, hobby, hobbies, i work, my job, i've been, been working, i want to,
        i'm planning, dream, birthday, i found, i tried, family, friends, kids, trip,
        vacation
        """,
    ),
    Signal(
        name="says something",
        points=0.5,
        pattern=rf".{{60}}|(?:[{_WIDE}][^{_WIDE}]{{0,2}}){{25}}",
    ),
    Signal(
        name="says more",
        points=0.5,
        pattern=rf".{{100}}|(?:[{_WIDE}][^{_WIDE}]{{0,2}}){{45}}",
    ),
    Signal(
        name="question",
        points=-4.0,
        pattern=r"[?？؟][\"'”’)]*$",
    ),
    Signal(
        name=NEEDS,
        points=-2.5,
        start=True,
        pattern=r"it(?:'s)?\b(?!\s+(?:turn(?:s|ed)\s+out|is\s+important))",
        words="""
        that, that's, this, this is, these, those, they, they're, they've,
        he, she, she's, he's, their, his, her, which, such, worth, tight, useful, hard,
        same, both, either, neither, so, the argument, the reason, the same, das, dies,
        diese, dieser, sie, er, ihre, ihr, sein, eso, esto, ella, él, ellos, esa, ese,
        su, sus, cela, ça, c'est, elle, il, ils, elles, ce, cette, leur, sa, ciò,
        questo, questa, lei, lui, loro, sua, suo, isso, isto, ela, ele, eles, essa,
        esse, seu, это, этот, эта, она, он, они, его, её, ее, их, 这, 那, 她, 他, 它,
        他们, 其, これ, それ, その, 彼, 그녀, 그는, 이는, 그것, 이것, यह, वह, उन्होंने,
        ये, वे, उनका, उनके, उसका, इस
        """,
    ),
    Signal(
        name="praise or thanks",
        points=-3.0,
        words="""
        thanks, thank you, congrats, congratulations, appreciate it, sounds great,
        sounds good, sounds like, well done, good luck, keep it up, way to go, glad,
        you're welcome, no worries, take care, good to hear, great to hear, nice to,
        looks great, looks amazing, that's awesome, that's great, so cool, how cool,
        wow, must be, must have been, hope, proud of you, good for you, keep going,
        you got this, you've got this, inspiring, let me know, talk soon, bye,
        can't wait, danke, glückwunsch, gracias, felicidades, merci, félicitations,
        bravo, grazie, complimenti, obrigad*, parabéns, спасибо, поздравля*, молодец,
        谢谢, 恭喜, 太棒了, ありがとう, おめでとう, すごい, 감사합니다, 고마워, 축하,
        धन्यवाद, बधाई
        """,
    ),
    Signal(
        name="of the other person",
        points=-1.0,
        pattern=r"\b(?:you|your|you're|you've|you'll|yours|yourself)\b",
    ),
    Signal(
        name="not certain",
        points=-1.5,
        words="""
        might, maybe, perhaps, possibly, could be, if you, would be, seems to,
        it seems, appears to, likely, probably, would like, let's see, presumably,
        suggests that, vielleicht, möglicherweise, quizás, tal vez, peut-être, forse,
        talvez, возможно, может быть, 也许, 可能, かもしれない, 아마, शायद
        """,
    ),
)
