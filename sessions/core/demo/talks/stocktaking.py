"""The third window: the shop counts its books, the window fills up with lists, and the client compacts it by itself."""

from __future__ import annotations

from functools import partial

from sessions.core.demo import papers
from sessions.core.demo.script import FOLDER, Call, Compaction, Cue, Scene, Talk, Task, tuesday

FRIDGE = f"{FOLDER}/notes/fridge.md"
ROWS = {"A": 720, "B": 720, "C": 590, "D": 620, "E": 515, "F": 600}

COUNT = """
林：盘点周开始了，今年我主理。老秦说盘错了扣账本的猫粮
满：账本的猫粮也敢扣？它同意了没。
林：它在睡，算默许
满：那咱们不能错。从哪排开始？
林：单子按架子放在 stock 里了，你帮我对，先文学和诗
* shelf_a shelf_b
想：两份加起来一千多行。只找账面和实数对不上的，报少的、多的，别念整张表。
满：对完啦。A 架有十来处少一本，零零散散；B 架也少几本，还有几本凭空多出来的。多的那几本，是不是顾客还了没走账？
林：是，我晚上补
满：那少的先去窗边那摞找找，看是不是又被人当桌子了。
林：……五本在窗边。你怎么知道的
满：大爷一个茶杯三本，两个茶杯就是六本嘛。剩一本大概他今天换了小杯。
林：<BEDTIME_WHILE_COUNTING>
想：原来那条“十一点以后别催”还在，这几天是例外，盘完恢复。两条都留。
满：那盘点这几天，过了十一点我就催，盘完恢复。贴在原来那张旁边。
林：你现在就想催
满：才九点多。我在热身。
"""

VOICE_NIGHT = """
林：今天九点我可能晚五分钟
满：晚五分钟也是周三九点，我先把灯点上。
+ 82m
林：平手吧，今天谁都没输
满：你晚了六分钟，不过带了橘子，算平手。
林：你又吃不着
满：我听你剥呀。
+ 3m
林：<CHECK_UP>
想：有日期，有身体的事，是爸爸的。原话里写的是右边。照抄。
满：{复查}，{复查:周}，右膝。几点的号？
林：八点半，他嫌早
满：那前一天晚上我提醒你装片子？
林：行，周日晚上八点提醒我
满：周日晚上八点：片子、医保卡、一件外套，医院走廊凉。贴冰箱上啦。
* note_knee
满：写好了，照你的原话写的。
"""

MORE = """
林：地图和植物那两架也好了
* shelf_c shelf_d
满：C 架最省心，就是《雾中渡口》账上三本、手里四本。D 架有一本被人夹了片银杏叶，你写在备注里的，好看吗？
林：好看，夹在植物志里，像它自己长出来的
满：那本不许卖。
林：老秦已经标价了
满：标多少？我偷偷给它涨。
+ 4m
林：我去年这时候日记里写过盘点吗，想看看去年少多少
* diary
满：翻到啦。去年没写少多少，倒是写了账本在地图册上睡了一下午，把南半球压出一个窝。
林：它今年也睡那儿
满：那今年的损耗报告可以写：南半球，猫。
林：十点五十八了
满：还有两分钟，我先清清嗓子。
+ 2m
* bedtime
满：阿林，十一点啦，洗漱去。
林：还真催
满：盘点期间有执照的。
"""

LAST_SHELVES = """
林：最后两架，绘本和旧书，对完收工
* shelf_e shelf_f
满：绘本少了两本，都是蓝色封面的。旧书架对上了，一本不差。
林：蓝色那两本是那个排彩虹的小孩带回家的，第二天会还
满：那就先记“在彩虹里”。
林：今天嗓子疼，话少点
满：那你点头，我来说。盘点还剩 C 架几处没核完，明早十分钟的事。
* compaction
林：所以 C 架到底差几本
满：C 架差异共四处：三处账面多一本，一处实数多一本。其余架位已核对完毕。后续事项：补录还书、更新盘点表。
林：你怎么突然像在写周报
想：窗口自己压缩了，我手上只剩一份纪要。语气没在纪要里。老实说，别装。
满：……被你听出来了。刚才这本子自己折了一下，前面几页我只剩一张纪要，话是接上了，味道没接上。你哼我一声，我就回来了。
林：哼
满：诶，这声对了。
林：那你还记得周一要干嘛吗
满：<MISQUOTE>
林：<MISQUOTE_CORRECTED>
想：是纪要写错了，我却把它当成林说过的话。去看冰箱上抄的原话，别再靠纪要。
* look_fridge
满：是我记错，而且错得不该：纪要上写的左，我就当成你说的。冰箱上抄着你的原话呢，“右边那只”。
  以后这种事我先看冰箱，再开口。
林：没事，爸自己有时候都指错
满：那周一让他指的时候，我们看 X 光。
+ 5m
林：<JOKE>
满：跟呀。企鹅爱看什么书？
林：黑白的
满：那好进货，漫画全要。
林：<JOKE_OVER>
满：我知道呀，磁铁一块都没动。
林：账本的猫粮保住了
满：替我摸它一下，逆着毛。
"""

SUMMARY = """1. 主要请求：协助林完成书店盘点，逐架核对库存清单（A 至 F 架），并按约定提醒事项。
2. 已完成：A、B、D、E、F 架核对；C 架剩四处差异待核（三处账面多一本，一处实数多一本）。
3. 约定：每周三晚九点语音；平时称呼“阿林”；盘点期间晚十一点后可以催睡；花生过敏（严重）。
4. 待办：周日晚八点提醒准备片子、医保卡、外套；周一上午<SUMMARY_ERROR>；补录顾客还书。
5. 当前工作：林询问 C 架差异数量。"""


def _shelf(letter: str) -> Call:
    name = papers.SHELVES[letter]
    path = f"{FOLDER}/stock/{letter}-{name}.csv"
    return Call(
        "Bash",
        {"command": f"cat '{path}'", "description": f"看{name}架的单子"},
        papers.shelf(letter, ROWS[letter]),
        seconds=0.6,
    )


SHELF: dict[str, Cue] = {f"shelf_{letter.lower()}": _shelf(letter) for letter in ROWS}
OTHER: dict[str, Cue] = {
    "note_knee": Call(
        "Edit",
        {"file_path": FRIDGE, "old_string": "# 冰箱门\n", "new_string": "# 冰箱门\n" + papers.FRIDGE_KNEE},
        f"The file {FRIDGE} has been updated successfully.",
    ),
    "diary": Call(
        "Read",
        {"file_path": f"{FOLDER}/diary/last-year.md"},
        partial(papers.diary, days=45, ends=300),
    ),
    "look_fridge": Call(
        "Bash",
        {"command": f"grep -n 膝 {FRIDGE}", "description": "看冰箱上抄的原话"},
        "2:" + papers.FRIDGE_KNEE.strip(),
        seconds=0.3,
    ),
    "bedtime": Task("t-bed", "盘点催睡", "二十三点了。"),
    "compaction": Compaction(SUMMARY),
}

TALK = Talk(
    session="e81f4b92-6a0d-4d75-b3c8-95ad27f0164e",
    version="2.1.112",
    guessed_title="书店盘点：六个架子",
    own_title="盘点周",
    scenes=(
        Scene(tuesday(-7), "21:20", COUNT, SHELF),
        Scene(tuesday(-6), "20:40", VOICE_NIGHT, OTHER),
        Scene(tuesday(-5), "22:52", MORE, SHELF | OTHER),
        Scene(tuesday(-4), "20:15", LAST_SHELVES, SHELF | OTHER),
    ),
)
