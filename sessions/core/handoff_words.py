"""The words a hand-off is found by, in Chinese and English (spec H1). Patterns only; what they decide is said where they
are used. They are meant to miss rather than to invent: what is not found can be written in by hand.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), _I)


ASKING = _any(r"[?？]|(?:吗|么|呢)\W*\Z|是不是|会不会|要不要|能不能|有没有|跟不跟|该不该")
SUPPOSE = re.compile(r"\A\W{0,3}(?:我?要是|如果|假如|万一|要不是|if\b)", _I)
RETRACTED = _any(r"开玩笑|逗你的|说着玩|当我没说|玩笑话", r"\bjust kidding\b|\bjk\b|\bjoking\b")

# A sentence that leans on the one before it, and one that brings something up.
LEANING = re.compile(
    r"\W*(?:[那它他她你这也可不嗯哦哈]|对(?!了)|什么|\b(?:it|that|then|he|she|they|so|and|but|yes|no|ok)\b)", _I
)
BRINGING_UP = _any(
    r"想(?=[给把要去问跟和买换找做学写聊说知让])|要不要|打算|准备|考虑|计划|关于|聊聊|帮我|怎么(?=[办做去卖买弄选写说养换治跟])|决定",
    r"\b(?:want to|thinking (?:of|about)|plan(?:ning)?|about|help me|decid(?:e|ed)|should i|how (?:do|can|should))\b",
)

# Whose state a clause speaks of: the last of these before the word of mood decides.
_KIN = (
    r"爸|妈|爷|奶|姥|外公|外婆|公公|婆婆|叔|伯|姑|姨|舅|哥|姐|弟|妹|老公|老婆|丈夫|妻子|男友|女友|男朋友|女朋友|对象|家人|"
    r"孩子|宝宝|儿子|女儿|小孩|同事|老板|领导|经理|朋友|室友|同学|老师|医生|客人|顾客|邻居|房东|房客|家?猫|家?狗"
)
_EN_KIN = (
    r"mom|mum|dad|mother|father|sister|brother|son|daughter|friend|boss|cat|dog|kids?|wife|husband|boyfriend|girlfriend|"
    r"doctor|colleague|baby"
)
_FOLK = rf"{_KIN}|老[王李张刘陈杨赵黄周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓冯秦沈钱]"
SELF = _any(rf"我(?!们?的?(?:{_KIN}))", rf"\b(?:i|i'm|i've|me|myself)\b|\bmy\b(?!\s+(?:{_EN_KIN})\b)")
OTHER = _any(
    rf"(?<![跟和给对被替帮陪找向为等见想送接把骂看听让])(?:你|您|他|她|它|{_FOLK}|有人|别人|人家|大家)",
    rf"\b(?:you|he|she|they|you're|he's|she's|they're|{_EN_KIN})\b",
)
THIRD = _any(rf"(?:他|她|它|{_FOLK})们?", r"\b(?:he|she|they|it|we|i|i've|i'd|i'll|has|have|had|was|were|is)\s+\Z")

# Moods and bodies. The long words first: they hold a denial that belongs to them.
_LOW_DENIED = (
    r"睡不着|没睡[好着够]?|睡不好|睡得[^，。]{0,2}(?:少|晚|差|不好|浅)|没胃口|吃不下|不舒服|不开心|不高兴|不好受|没力气|没精神|没底|"
    r"提不起劲|撑不住|受不了|做不好|喘不过气|走不动|站不住"
)
_LOW_BODY = (
    r"疲惫|疲倦|(?<!积)累(?![计积加赘])|(?:好|很|太|犯|有点|有些|真)困|困(?:死|了|得)|疼(?!爱)|痛(?!快|恨)|头晕|发烧|感冒|咳嗽|失眠|"
    r"熬夜|通宵|做噩梦|生病|病了|恶心|想吐|过敏|拉肚子|抽筋|扭[伤到]|流血|来姨妈|生理期|例假|低血糖|发炎|(?:嗓子|喉咙)[^，。]{0,4}哑|"
    r"腿[^，。]{0,2}[断酸软]|饿(?!狼)|(?:好|很)冷|冻[死僵]|发抖"
)
_LOW_MOOD = (
    r"难受|难过|难熬|伤心|委屈|生气(?!勃)|(?:好|很|有点|真|心)烦|烦[死躁透]|焦虑|紧张|担心|害怕|(?:好|很|有点)怕|孤独|孤单|寂寞|失落|"
    r"沮丧|郁闷|绝望|迷茫|自责|后悔|愧疚|内疚|崩溃|糟透|糟糕|压力(?:很|好|太|有点)?大|想哭|哭[了过死着]|大哭|鼻子[^，。]{0,2}酸|"
    r"眼睛[^，。]{0,3}[热红湿]|心里[^，。]{0,3}(?:堵|空|慌|乱|酸|不是滋味|着急)|"
    r"心情(?:很|好|不太|有点|真)?(?:差|糟|不好|低落|down)|(?<![a-z])emo(?![a-z])"
)
_LOW_ENGLISH = (
    r"\b(?:tired|exhausted|sleepy|sick|ill|unwell|headache|fever|hurts?|sore|migraine|nauseous|dizzy|anxious|nervous|worried|"
    r"scared|afraid|sad|upset|crying|cried|lonely|stressed|overwhelmed|depressed|angry|hungry|insomnia|burnt out|burned out|"
    r"miserable|awful|homesick|allergic|in pain|not (?:ok|okay|well|great)|can'?t sleep|couldn'?t sleep|can'?t breathe)\b"
)
_HIGH = (
    r"心情(?:很|挺|还|真|特别)?(?:不错|好|愉快)|开心(?!果)|高兴|快乐|幸福|兴奋|激动|放松|松了?一?口气|松下来|踏实|安心|舒服|轻松|"
    r"感动|欣慰|治愈|平静|心里[^，。]{0,3}[松暖甜]|睡得[^，。]{0,2}[好香]|精神(?:很|挺|不错)|"
    r"\b(?:happy|glad|excited|relieved|calm|relaxed|proud|thrilled|rested|cheerful)\b"
)
MOOD = _any(rf"(?P<low>{_LOW_DENIED}|{_LOW_BODY}|{_LOW_MOOD}|{_LOW_ENGLISH})", rf"(?P<high>{_HIGH})")
DENIED = _any(
    r"(?:不|没|没有|并不|并没|别|不要|甭|未)(?:太|怎么|那么|是|再|会|有|觉得|感到|算|很|敢)?\Z",
    r"(?:\bnot|n't|\bnever|\bno longer|(?:\bnot|n't) (?:so|that|too|really|very|feel|feeling|be|get))\s+\Z",
)
# A denial that says it was so before.
RELIEVED = re.compile(r"\A[^，。]{0,2}[了啦咯]|\A[^.]{0,20}\bany ?more\b", _I)
PASSED = _any(
    r"没事了|好[多些点]了|缓过来|睡一觉就好|(?:已经|都)好了|当我没说|不[疼痛累困难]过?[了啦]",
    r"\bfeel(?:ing)? (?:much |a lot |so much |a bit )?better\b|\bi'?m (?:ok|okay|fine|good) now\b",
)
# What makes a clause no report of now: a case put, a likeness, something long past.
SUPPOSED = _any(
    r"要是|如果|假如|万一|的话|(?<!好)像|似的|前年|去年|小时候|以前|从前|当年|那年|那时候|上个月|每次|一旦|怕会|会不会",
    r"\b(?:if|when|whenever|in case|would|used to|years? ago|last (?:year|month)|as a (?:kid|child))\b",
)
THE_TIME_OF = re.compile(r"\A[^，。]{0,2}(?:的?时候|的?那天|时[，,])")

# Red lines: said so strongly that they stand alone, or as a rule for a case.
NEVER = _any(
    r"千万(?:别(?!忘)|不要(?!忘)|不能|不可)|(?<!我)绝对(?:别|不要|不能|不可以|不许|不准)|不许",
    r"(?<![预报算猜说测拿对])不准(?=[再你我在把跟给对提说动碰看])|(?<!我)(?:别|不要)再(?![下涨掉等])",
    r"(?<!我)再也(?:别|不要|不许)|(?<!我)永远(?:别|不要|不许)|禁止|严禁",
    rf"(?:别|不要)告诉(?!我(?!们?的?(?:{_KIN})))",
    r"\b(?:don'?t|do not) (?:you )?ever\b|\bnever ever\b",
    r"(?:\A|[,;:.!]\s*|\b(?:please|and|but|so|just|also|must|should)\s+)"
    r"never\s+(?!mind\b|been\b|know\b|knew\b|had\b|thought\b)(?:again\s+)?[a-z]+",
)
NEVER_BY_RULE = _any(
    r"(?:别|不要)(?=给|跟|和|叫|喊|对|在|当着|替|催|劝|管|提|问|说|告诉|让|把|拿|逼|连名|动|碰|发|推荐|安慰|笑话|用|吵|打扰|聊|谈)",
    r"\bdon'?t\s+(?:tell|mention|call|talk|bring|say|ask|wake|text|use|send|joke|push|share|recommend|suggest|touch|give|offer)\b",
)
A_RULE = _any(
    r"时候|以后|之后|之前|睡前|饭前|每次|每天|晚上|早上|平时|任何|一律|永远|过敏|面前|最近|这阵子|这几天|不喜欢|讨厌|受不了|从今|今后",
    r"\b(?:when(?:ever)?|after|before|any ?more|again|at night|in front of|always|allergic|from now on|hate|in the mornings?)\b",
)
LIFTED = _any(
    r"(?:现在|以后|从今|今后)[^，。]{0,8}可以|可以[^，。]{1,20}[了啦]\W*\Z|不用再[忌避躲]|随便你?[叫说提]",
    r"\bit'?s (?:ok|okay|fine) (?:now )?to\b|\byou (?:can|may)\b.*\b(?:again|now)\b",
)
EXCEPTION = _any(
    r"例外|就这一次|就一次|仅此一次|只这一?次|这次除外",
    r"\bjust (?:this once|once)\b|\bonly this (?:once|time)\b|\bexcept (?:this|that|for)\b",
)
FOR_GOOD = _any(
    r"之后也|以后|从今|今后|往后|长期|一直|都改", r"\bfrom now on\b|\bfor good\b|\bevery\b|\bafter that too\b"
)
RECURRING = _any(
    r"每(?:天|晚|早|周|个?月|年|次|逢|个)|以后|从今|今后|从此|一直|永远|平时",
    r"\b(?:every|each|always|from now on|whenever|daily|weekly)\b",
)
WITHIN = _any(r"这[周次回]|今[天晚]|本周", r"\bthis (?:week|time|once)\b|\btoday\b|\btonight\b")

# Promises and what is to be done.
_FUTURE = (
    r"(?:明[天早晚儿年]|大?后天|今晚|待会|等会|一会儿|下(?:周|个?星期|个?月|个?礼拜)[一二三四五六日天末]?|"
    r"(?:这|本)?(?:周|星期|礼拜)[一二三四五六日天末]|\d{1,2}月\d{1,2}[日号]|(?<!\d)\d{1,2}[日号]|"
    r"[一二三四五六七八九十]{1,3}月[一二三四五六七八九十]{1,3}[日号]|(?:(?!一点(?!半))[一二三四五六七八九十]{1,3}|\d{1,2})点半?|"
    r"到时候?|每(?:天|晚|早|周|个?月|年|次|逢)|以后|今后|从今|下[次回])"
)
_WE = r"(?:我们?|咱们?|咱俩|一起)"
_DO = (
    r"(?:都|也|就(?![在是好行知说])|先|再|还|肯定|一定|会|要|得|去|来|给|帮|陪|叫|提醒|把|带|等|提前|问|查|找|写|买|做|送|接|念|讲|唱|打|不再|一起)"
    r"(?!了|过|完|好了|的)"
)
_PLAN = (
    r"(?:要|得|再去|去(?:复查|看|做|取|交|医院|学校|一趟|开会)|复查|体检|考试|面试|开会|交稿|截止|到期|出发|搬家|"
    r"手术|聚餐|见面|挂号|缴费|还书)"
)
_WHEN = (
    r"(?:tomorrow|tonight|later today|next (?:week|month|time|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|"
    r"(?:on|this|every) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend|evening|night|morning|day|week)|"
    r"at \d{1,2}|from now on|whenever|each time|every time)"
)
PROMISED = _any(
    r"(?<![没不])我答应(?!不了)(?:你|过|了)?|(?<![没不])答应你|你答应过?我(?!个|一)|我(?:向你)?保证|我发誓|一言为定|拉钩",
    r"(?<![没不还])说[好定](?:了|啦)?(?=[，,：: ]|以后|每|明|后|周|下|要)|(?<![没不])约[好定](?:了)?(?![的吗呢])",
    r"\bi promised?\b|\bpromise (?:me|you)\b|\bwe agreed\b|\bit'?s a deal\b",
)
NOT_PROMISED = _any(
    r"(?:can'?t|cannot|didn'?t|don'?t|not|never|won'?t)\s+(?:ever\s+)?promise|(?:不能|没法|不敢)保证",
)
TO_DO = _any(
    r"别忘(?:了|记)?|不要忘|千万要|你记得(?=提醒|叫|帮|给|把|带|要)",
    r"(?<![我还不你])记得(?![吗吧我你那上以小清住当？?]|[^，。]{0,8}(?:那时|那次|当时|吗|么))",
    r"提醒我|我(?:会|来|就|再|到时候?)?提醒你|待办|还差(?=[\d一二三四五六七八九十几两]|点|些)",
    r"还没(?:做|弄|写|买|交|寄|核|查|洗|还|付|订)(?!吗|呢)|(?:回头|改天)(?:我|再|给|帮|把|要|去|发|找|查|看|一起)|欠[你我][一个]",
    r"\bremind me\b|\bi'?ll remind you\b|\bdon'?t forget\b|\bremember to\b|\bto-?dos?\b|\bstill (?:need|have) to\b",
)
# The companion talks of needs and lists that are the work of a moment; only what it means to bring up itself counts.
TO_DO_BY_COMPANION = _any(
    r"我(?:会|来|就|再|到时候?)?提醒你|别忘(?:了|记)?|不要忘|还差(?=[\d一二三四五六七八九十几两])|(?:回头|改天)我|欠你[一个]",
    r"\bi'?ll remind you\b|\bdon'?t forget\b",
)
INTENDED = _any(
    rf"{_FUTURE}[^。！？!?]{{0,20}}?{_WE}{_DO}",
    rf"{_WE}(?:打算|准备|想|会|要)?{_FUTURE}[^，。]{{0,10}}?(?:要|会|得|去|来|给|交|考|搬|带|陪|买|送|回|做|开)",
    rf"{_FUTURE}[^。！？!?别不]{{0,16}}?(?:叫|提醒|喊|陪|带|帮|找|接|送|问|给|跟)[我你]",
    r"以后我(?=[^们])|以后每|每周[一二三四五六日天末][^。！？]{0,14}?(?:点|语音|电话|见|一起)",
    r"(?:时候|[雨晴雪]天|早上|晚上|睡前|平时)[^。！？!?别不]{0,16}?(?:再|先|就|多)(?:跟|和|问|叫|给|陪|等|让)我",
    rf"{_FUTURE}[^。！？!?]{{0,16}}?一起(?![的了过])[\u4e00-\u9fff]",
    r"等我[^，。]{1,8}?(?:给你|再|陪你|带你|帮你)",
    rf"\b(?:i'?ll|i will|i'?m going to|i am going to|let'?s|we'?ll|we will)\b[^.!?]{{0,80}}\b{_WHEN}\b",
    rf"\b{_WHEN}\b[^.!?]{{0,60}}\b(?:i'?ll|i will|let'?s|we'?ll|we will|call me|wake me|ask me|you call|we (?:talk|speak|meet))\b",
)
PLANNED = _any(
    rf"{_FUTURE}[^，,。]{{0,16}}?{_PLAN}|(?:生日|纪念日|周年|截止|到期)[^，。]{{0,6}}{_FUTURE}",
    rf"{_FUTURE}[^，。]{{0,6}}(?:生日|纪念日|满[一二三四五六七八九十\d]+年)",
    rf"\bi (?:need to|have (?:to|an?|my))\b[^.!?]{{0,80}}\b{_WHEN}\b|\b(?:deadline|due) (?:is|on|by)\b",
)
PAST = _any(
    r"昨[天晚]|前[天晚]|上(?:周|个?星期|个?月|礼拜|次|回)|刚才|那[天晚]|去年|前年|已经",
    r"\b(?:yesterday|last (?:night|week|month|time)|ago)\b",
)
# A request that ends in a question is no question.
REQUEST_ENDS = _any(
    r"(?:好不好|好吗|好么|行不行|行吗|可以吗|可不可以|好嘛|\bok(?:ay)?|\bplease|\bdeal)\W*\Z|好不好[，,]",
    r"^(?:can|could|will|would) you\b",
)

# A promise is kept, called off, or moved.
_DID = r"(?:做|弄|办|写|买|交|寄|洗|吃|看|装|取|还|发|订|修|打|收|搬|查|换|拿|付|核|对|问|送|念|讲|挂)"
DONE = _any(
    rf"(?<!没)(?<!没有){_DID}(?:完|好|定|妥|过)?[了啦](?![吗么没？?])|搞定|办妥|完成了",
    r"(?<!没)(?<![说约讲想谈])[完好][了啦](?![吗么没？?])|已经[^，。]{1,12}了(?![吗么没？?])",
    r"(?<!not )(?<!n't )(?<!be )(?<!get )\bdone\b(?![^.]{0,12}\byet)|(?<!not )(?<!n't )\bfinished\b|\btook care of\b",
    r"\b(?:already|i) (?:did|done|sent|bought|called|paid|took|wrote|mailed|picked up)\b",
)
# An answer to a question: it was done.
ANSWER = _any(
    r"\W*(?:嗯|好|都|已经|刚|早|我)*[\u4e00-\u9fff]{1,3}了[呀啊哦喔啦~～。！!]*\Z", r"\W*(?:yes|yep|yeah|done|i did)\b"
)
OFF = _any(
    r"不用(?=[了啦再叫提等管去做买查找催问送带给]|我再|你再)|(?<![打预计])算了(?![一下算笔])|取消|作废|不去了|不做了|不买了|不要了|"
    r"不[叫用]了|别再?(?:提醒|叫|等|催)我?(?:[了啦]|\W*\Z)|撕了|开玩笑|逗你的|不作数|当我没说",
    r"\bnever ?mind\b|\bcancel(?:l?ed)?\b|\bcall(?:ed)? (?:it )?off\b|\bforget (?:it|about)\b|\bno need\b",
    r"\b(?:don'?t|no longer) (?:need|have|bother)\b|\bjust kidding\b",
)
_MOVE = r"(?:改[成到为在]|换[成到]|挪到|推[到迟]|提前到|延到|往后挪)"
MOVED = _any(
    _MOVE,
    r"\bmov(?:e|ed|ing)\b[^.]{0,30}\bto\b|\breschedul|\bchang(?:e|ed)\b[^.]{0,30}\bto\b|\binstead\b|\bpostpon|\bmake it\b",
)
MOVED_TO = _any(
    rf"{_MOVE}[^，。]{{0,6}}(?:周|星期|礼拜|明|后天|下|\d|[一二三四五六七八九十]{{1,3}}[点号日月])",
    rf"\b(?:mov(?:e|ed|ing)|reschedul\w*|chang(?:e|ed)|make it|postpon\w*)\b[^.!?]{{0,40}}"
    rf"\b(?:{_WHEN}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
)
