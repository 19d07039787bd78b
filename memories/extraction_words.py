"""Words that say of which kind a fact is, in the languages of `extraction_rules`."""

from __future__ import annotations

from memories.extraction_signal import Signal

KIND_SIGNALS = (
    Signal(
        name="decision",
        core=True,
        explains=True,
        points=4.0,
        kind="decision",
        words="""
        decide, decided, decides, decision*, chose, chosen, we choose, agreed,
        agree to, switched to, switching to, switching from,
        switched from, going with, go with, went with, settled on, settling on,
        opted for, opting for, the call is, final answer, ruled out, approved, no more,
        adopting, adopted, proposed, introduced, replaced with, replaces, stick with,
        sticking with, we'll use, we will use, concluded, resolved to, moving to,
        moved to, dropped, entschieden*, entscheid*, beschlossen, geeinigt, vereinbart,
        umgestellt, umstell*, wechseln zu, gewählt, ausgewählt, festgelegt, ab sofort,
        kein * mehr, decidió, decidimos, decidido, decisión, acordamos, acordado,
        elegimos, eligió, elegido, optamos por, optado por, nos quedamos con,
        cambiamos a, pasamos a, no más, décidé*, décision*,
        convenu*, mis d'accord, choisi*, opté*, retenu*, passer à,
        passons à, on passe à, basculé*, plus de, adopté*, deciso, decisione,
        decidiamo, concordato, concordat*, scelto, scelta, optato, passiamo a,
        passare a, passaggio, siamo d'accord, d'accordo, niente più, basta, decidiu,
        decisão, concordamos, combinamos, escolhemos, escolhido, optamos, optou,
        mudamos para, mudar para, chega de, решил*, решен*, решён*,
        решено, договорились, выбрал*, выбран*, остановились на, переходим, перешли на,
        перейти на, больше никаких, отказались от, 决定, 选择了, 选定, 达成一致, 同意,
        改用, 转向, 换成, 采用, 不再, 切换到, 敲定, 決定, 決めた, 決めました, 採用,
        選択した, 選びました, 切り替え, 合意, に変更, にした, 결정, 선택했, 합의, 전환,
        채택, 바꾸기로, 하기로 했, 더 이상, निर्णय, फैसला, तय किया, सहमति, सहमत, चुना,
        चुनी, अपना रहे, अब कोई, बदलने का
        """,
    ),
    Signal(
        name="preference",
        core=True,
        points=4.0,
        kind="preference",
        words="""
        prefer, prefers, preferred, preference, preferences, rather than, would rather,
        i'd rather, she'd rather, he'd rather, they'd rather, we'd rather, likes,
        always want, always wants, never want, never wants,
        like to have, loves, hates, dislike*, favorite, favourite, wants me to,
        wants us to, asked me to always, asked us to, insists on, fan of, can't stand,
        partial to, keen on, bevorzug*, lieber, mag es, zieht es vor, möchte immer,
        lieblings*, am liebsten, vorliebe, ungern, gefällt, prefier*, preferir*,
        le gusta, les gusta, me gusta, preferencia, favorit*, prefería, le encanta,
        préfèr*, préfér*, aime mieux, aimerait mieux, plutôt que, favori*, apprécie,
        preferisc*, preferenz*, piace, piuttosto che, preferit*, prefere*, preferi*,
        preferência, gosta de, gosto de, em vez de longos, предпочит*, предпочёл*,
        предпочтени*, нравится, любит, лучше бы, любим*, 喜欢, 偏好, 更愿意, 宁愿,
        倾向于, 偏爱, 首选, 好む, 好み, 好き, 優先する, のほうがいい, 方が良い, を希望,
        선호, 좋아한다, 좋아하, 더 좋, 싫어, पसंद, प्राथमिकता, बेहतर लगता, अच्छा लगता,
        चाहती हैं कि, चाहते हैं कि
        """,
    ),
    Signal(
        name="rule",
        core=True,
        points=2.5,
        kind="preference",
        start=True,
        words="""
        always, never, don't, do not, avoid, make sure, remember to, be sure to,
        use only, only use, must, rule, please always, please never, no longer use,
        prefer, immer, niemals, nie, vermeide*, achte darauf, denk daran, regel,
        bitte immer, siempre, nunca, evita*, asegúrate, recuerda, regla, toujours,
        jamais, ne jamais, évite*, assure-toi, assurez-vous, n'oublie, règle, sempre,
        mai, assicurati, ricorda, regola, non usare, evite, certifique-se, lembre-se,
        regra, não use, всегда, никогда, избегай*, убедись, помни, правило,
        не использу*, 始终, 总是, 永远不要, 从不, 不要, 避免, 务必, 请务必, 记得, 规则,
        必ず, 常に, 絶対に, 決して, ルール, 항상, 절대, 반드시, 규칙, हमेशा, कभी नहीं,
        कभी भी, नियम
        """,
    ),
    Signal(
        name="rule word",
        core=True,
        explains=True,
        points=2.5,
        words="""
        always, never, must, must not, should not, shouldn't, avoid, make sure,
        important to, remember to, mandatory, forbidden, required to, not allowed,
        immer, niemals, muss, müssen, darf nicht, dürfen nicht, verboten, siempre,
        nunca, debe, deben, no debe, obligatorio, prohibido, toujours, jamais, doit,
        doivent, ne doit pas, obligatoire, interdit, sempre, mai, deve, devono,
        non deve, obbligatorio, vietato, devem, não deve, obrigatório, proibido,
        всегда, никогда, должен, должна, должны, нельзя, обязательно, запрещено, 必须,
        始终, 从不, 绝不, 不得, 禁止, 不允许, 必ず, 常に, 絶対, なければならない, べき,
        항상, 반드시, 절대, 해야 한다, 해야 합니다, 금지, 전혀, हमेशा, कभी नहीं,
        ज़रूरी, अनिवार्य
        """,
    ),
    Signal(
        name="commitment",
        core=True,
        points=4.0,
        kind="commitment",
        words="""
        promised, promise, promises, committed to, commits to,
        commitment, owe, said yes, going forward, from now on, pledged,
        will deliver, will send, will review, will provide, vowed, on the hook for,
        will be done by, i'll have, i'll send, signed up to, volunteered to,
        versproch*, verspreche, zugesagt, zusage, verpflichtet, ich werde * liefern,
        künftig, in zukunft, von nun an, prometí, prometió, prometimos, promesa,
        me comprometí, comprometid*, compromiso, se comprometió, de ahora en adelante,
        en adelante, dije que sí, promis, promesse, engagé à, engagée à, m'engage,
        s'est engagé*, désormais, dorénavant, à l'avenir, promess*, impegnat*, impegno,
        d'ora in poi, in futuro, ho detto di sì, prometi, prometeu, prometemos,
        promessa, comprometi*, compromisso, daqui para frente, daqui em diante,
        de agora em diante, обещал*, пообещал*, обещани*, обязал*, обязуюсь, согласил*,
        впредь, отныне, в дальнейшем, 承诺, 答应, 保证, 许诺, 今后, 以后都, 从现在起,
        約束, 今後は, これからは, 引き受け, 確約, 약속, 주기로 했, 제공하기로, 앞으로,
        하겠다고, वादा, वचन, प्रतिबद्ध, आगे से, अब से, आगे चलकर
        """,
    ),
    Signal(
        name="intention",
        points=1.5,
        kind="commitment",
        pattern=r"""(?:will|won't|i'll|we'll)\s+(?!be\s+able|see|let|now|then|look|check)
        [a-z]+|updating\s|re-?running\s|building\s|pushing\s|starting\s|scheduling\s
        |blocking\s|drafting\s|sending\s|moving\s|adding\s+[a-z]+\s+to\s""",
        words="""
        aktualisier*, werde, beginnen, actualiz*, comenzar*,
        mise à jour, aggiorn*, atualiz*,
        обновля*, обновлю, начнём, начнем, буду, учту,
        我将, 将于, 것이다, 할 것입니다, करूँगा,
        करूंगा, करूँगी, करूंगी, करेंगे, किया जा रहा
        """,
        start=True,
    ),
    Signal(
        name="opinion",
        core=True,
        points=3.5,
        kind="opinion",
        words="""
        i think, i believe, in my opinion, my view, my read, honestly, i find,
        overrated, underrated, i'd argue, i suspect, seems to me, personally, i feel,
        my take, hot take, my sense, frankly, i doubt, my hunch, my guess, i'd say,
        ich denke, ich glaube, ich finde, meiner meinung, ehrlich gesagt,
        meiner ansicht, überbewertet, unterschätzt, mein eindruck, creo que,
        pienso que, en mi opinión, honestamente, sinceramente, me parece,
        sobrevalorad*, considero que, je pense, je crois, à mon avis, honnêtement,
        franchement, je trouve, surestimé*, sous-estimé*, selon moi, penso che,
        credo che, secondo me, onestamente, a mio parere, trovo, sopravvalut*,
        acho que, penso que, acredito que, na minha opinião, superestim*, considero,
        я думаю, думаю, я считаю, считаю, по-моему, на мой взгляд, честно говоря,
        мне кажется, переоценил*, переоценен*, нахожу, 我认为, 我觉得, 我相信, 老实说,
        在我看来, 坦率地说, 高估, 低估, 我发现, と思う, と思います, 個人的には, 正直,
        考えている, 私の意見, 생각한다, 생각에, 솔직히, 내 의견, 개인적, मुझे लगता,
        मेरा मानना, मेरी राय, सच कहूँ, सच कहूं, मेरे विचार, ईमानदारी से
        """,
    ),
    Signal(
        name="fix",
        explains=True,
        points=3.0,
        kind="fix",
        words="""
        fix, fixed, fixes, bug, bugs, workaround, resolved, root cause, patched,
        hotfix, solved, the fix was, solution was, cured, repaired, behoben, ursache,
        gelöst, repariert, corregid*, corrigió, solucion*, causa raíz, resuelto,
        arregl*, corrigé*, bogue, résolu*, cause racine, contournement, corrett*,
        risolt*, causa principale, corrigid*, corrigi*, resolvid*, causa raiz,
        исправил*, исправлен*, причина, баг, решена, 修复, 修正, 解决了, 根本原因,
        漏洞, 变通, 不具合, 解決, 原因は, バグ, 수정, 버그, 해결, 근본 원인, ठीक किया,
        बग, समाधान, मूल कारण
        """,
        pattern=r"\bregressions?\b(?!\s+(?:test|suite|model))",
    ),
    Signal(
        name="cause",
        points=2.0,
        kind="fix",
        core=True,
        explains=True,
        words="""
        root cause, caused by, fixed by, solved by, resolved by, cured by, the fix was,
        the fix is, the solution was, works now that, was missing, workaround,
        ursache war, behoben durch, gelöst durch, la causa era, se solucionó con,
        cause racine, résolu en, la causa era, risolto con, causado por, resolvido com,
        причина в, исправлено, 根本原因, 原因是, 原因は, 근본 원인, 원인은, मूल कारण
        """,
    ),
    Signal(
        name="error",
        points=2.0,
        kind="error",
        words="""
        error, failed, warning, panic, traceback, exception, denied, unauthorized,
        not found, timed out, crashed, crash, crashes, segfault, fails, fehler,
        fehlgeschlagen, erreur, errore, erro, ошибк*, 错误, エラー, 오류, त्रुटि
        """,
        pattern=r"error:|failed:|warning:",
    ),
    Signal(
        name="learning",
        core=True,
        explains=True,
        points=2.5,
        kind="learning",
        words="""
        learned, learnt, realized, realised, turns out, turned out, the trick is,
        gotcha, caveat, pitfall, lesson, discovered, found out, key insight,
        useful to know, worth knowing, it appears that, gelernt, gemerkt,
        stellt sich heraus, stellte sich heraus, erkenntnis, aprendí, aprendimos,
        resulta que, resultó, descubr*, lección, appris, il s'avère, découvert, leçon,
        réalisé que, imparato, si è scoperto, risulta che, scoperto, lezione, aprendi,
        aprendemos, acontece que, descobr*, lição, узнал*, оказалось, выяснилось,
        оказывается, урок, обнаружил*, 发现, 学到, 原来, 事实证明, 教训, 学んだ,
        分かった, わかった, 判明, 教訓, 배웠, 알게 되, 알고 보니, 교훈, सीखा, पता चला,
        सबक
        """,
    ),
    Signal(
        name="constraint",
        core=True,
        explains=True,
        points=2.5,
        kind="constraint",
        words="""
        doesn't work, does not work, won't work, incompatible, breaks when, only works,
        doesn't support, does not support, limitation, not supported, cannot be,
        can't be, no longer works, unsupported, blocked by, is limited to,
        won't accept, is only, are only, only effective, only when, only if,
        only supports, only valid, at most, at least, no more than, funktioniert nicht,
        inkompatibel, nur wenn, unterstützt nicht, nicht unterstützt, no funciona,
        no soporta, limitación, solo funciona, ne fonctionne pas, ne marche pas,
        ne prend pas en charge, non funziona, incompatibile, non supporta, limite,
        não funciona, incompatível, não suporta, limitação, не работает, несовместим*,
        не поддержива*, ограничени*, 不支持, 不兼容, 不能用, 仅在, 限制, 動かない,
        非対応, 対応していない, 制限, 互換性がない, 지원하지 않, 호환되지, 작동하지 않,
        제한, काम नहीं करता, समर्थन नहीं, असंगत
        """,
    ),
    Signal(
        name="project",
        core=True,
        points=2.5,
        words="""
        we use, we're using, we are using, we migrated, we deploy, the codebase,
        our stack, this project uses, the project uses, the repo uses, team uses,
        our services, our team, uses for all, wir verwenden, wir nutzen, wir benutzen,
        usamos, utilizamos, nous utilisons, on utilise, usiamo, utilizziamo,
        мы используем, использует, 我们使用, 我们用, 使用, を使っている, を使用,
        사용하며, 사용합니다, 사용한다, उपयोग करते, उपयोग करती
        """,
    ),
    Signal(
        name="architecture",
        core=True,
        points=3.0,
        kind="architecture",
        words="""
        uses, architecture, pattern, algorithm, pipeline, module, deployed,
        architektur, muster, verwendet, arquitectura, patrón, modèle, architettura,
        schema, arquitetura, padrão, архитектур*, шаблон, 架构, 模式, アーキテクチャ,
        構成, 아키텍처, 구조, वास्तुकला
        """,
    ),
    Signal(
        name="part of a system",
        points=1.5,
        words="""
        component, components, layer, framework, design, structure, implementation,
        system, model
        """,
    ),
    Signal(
        name="algorithm",
        core=True,
        points=3.0,
        kind="algorithm",
        words="""
        implements, complexity, recursive, tolerance, consensus, replication, latency,
        throughput, fault
        """,
        pattern=r"\bO\((?:1|n|log)",
    ),
    Signal(
        name="configuration",
        core=True,
        points=2.0,
        kind="configuration",
        words="""
        configured, configuration, setup, set up, installed, enabled, disabled,
        migrated, upgraded, downgraded, deprecated, pinned, konfiguriert, eingerichtet,
        aktiviert, deaktiviert, configurad*, instalad*, configuré*, activé*,
        désactivé*, configurat*, installat*, настро*, установ*, включ*, 配置, 设置,
        启用, 禁用, 安装, 設定, 有効, 無効, 설정, 설치, 활성화
        """,
    ),
    Signal(
        name="development",
        points=2.0,
        kind="development",
        words="""
        commit, committed, deploy, deploys, deployment, migrate, migration, refactor,
        refactored, released, release, merged, shipped, rollback
        """,
    ),
    Signal(
        name="reason",
        core=True,
        explains=True,
        points=2.0,
        words="""
        because, instead of, trade-off, tradeoff, reason*, motivated, so that,
        in order to, due to, that's why, which is why, weil, statt, anstatt, grund,
        damit, porque, en lugar de, en vez de, razón, debido a, parce que, au lieu de,
        raison, perché, invece di, motivo, em vez de, razão, потому что, вместо,
        причин*, так как, 因为, 而不是, 代替, 由于, のため, 代わりに, なので, 때문,
        대신, 이유, क्योंकि, इसलिए, के बजाय, कारण
        """,
    ),
    Signal(
        name="stated fact",
        core=True,
        points=2.5,
        kind="fact",
        words="""
        fact:, facts worth, fyi, note that, confirmed, worth noting,
        for the record, as of, deadline, is due, scheduled for, located, based in,
        lives in, works at, works for, born, the default is, stands for, fakt:,
        tatsache:, bestätigt, frist, abgabetermin, fällig, fakten, hecho:, confirmado,
        fecha límite, plazo, hechos, fait :, confirmé, date limite, échéance, faits,
        fatto:, confermato, scadenza, fatti, fato:, prazo, fatos, факт, подтвержд*,
        подтверд*, срок, дедлайн, факта, 事实, 确认, 截止, 值得记录, 期限, 事実,
        確認済み, 締め切り, 사실, 확인했, 확인한, 마감, तथ्य, पुष्टि, अंतिम तिथि,
        समय सीमा
        """,
    ),
)
