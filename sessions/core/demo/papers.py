"""What tools bring back in the demo: diaries, shelf lists, a guest book, weather, a page on pots. All of it invented.

The same on every run; what has dates in it takes the day of the scene.
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from itertools import islice

from sessions.core.demo.script import spelt, weekday

TITLES_FIRST = (
    "潮汐",
    "旧站",
    "雨季",
    "南窗",
    "灯下",
    "盐田",
    "松针",
    "回声",
    "纸船",
    "夜航",
    "雾中",
    "矮墙",
    "半坡",
    "白瓷",
    "青苔",
    "远亲",
)
TITLES_LAST = (
    "邮局",
    "来信",
    "手记",
    "地图",
    "食谱",
    "钟表匠",
    "学徒",
    "图书馆",
    "渡口",
    "植物志",
    "晚饭",
    "电话亭",
    "目录",
    "裁缝",
    "搬家史",
)
WRITERS = (
    "闻一苇",
    "周砚青",
    "许半程",
    "鹿鸣川",
    "沈渡",
    "白露生",
    "谢长街",
    "叶小舟",
    "方既白",
    "陶然",
    "江有汜",
    "宋临窗",
    "乔木生",
)
SHELVES = {"A": "文学", "B": "诗与散文", "C": "地图与旅行", "D": "植物与手作", "E": "绘本", "F": "旧书"}


# By shelf: every how many rows a copy is missing, every how many there is one more than the book says; 0 for never.
MISSING = {"A": 52, "B": 97, "C": 190, "D": 0, "E": 210, "F": 0}
SURPLUS = {"A": 0, "B": 150, "C": 400, "D": 0, "E": 0, "F": 0}
REMARKS = {("D", 210): "夹了一片银杏叶", ("E", 100): "蓝封面", ("E", 310): "蓝封面"}
FERRY = ("C", 200)


def shelf(letter: str, rows: int) -> str:
    """The list of one shelf as a spreadsheet gives it: number, title, writer, copies by the book and by hand."""
    lines = ["架号,书号,书名,作者,账面,实数,备注"]
    for row in range(rows):
        number, title, writer, book = _book(letter, row)
        hand = book - _is_turn(row, MISSING[letter]) + _is_turn(row, SURPLUS[letter])
        remark = REMARKS.get((letter, row), "")
        lines.append(f"{letter}{row // 40 + 1},{number},《{title}》,{writer},{book},{hand},{remark}")
    return "\n".join(lines)


def orders(rows: int) -> str:
    """What the shop wants to buy, never more than six of a title."""
    lines = ["序号,书号,书名,作者,要几本"]
    for row in range(rows):
        number, title, writer, copies = _book("O", row)
        lines.append(f"{row + 1},{number},《{title}》,{writer},{copies}")
    return "\n".join(lines)


def _is_turn(row: int, every: int) -> bool:
    return every > 0 and row % every == every // 2 - every // 2 % 10


def _book(letter: str, row: int) -> tuple[int, str, str, int]:
    """(number, title, writer, copies) of a row."""
    turn = row * 7 + ord(letter) * 13
    number = 9787000000000 + (turn * 7919 + row * 104729) % 899999999
    if (letter, row) == FERRY:
        return number, "雾中渡口", WRITERS[3], 3
    title = TITLES_FIRST[turn % 16] + TITLES_LAST[(turn // 16 + row) % 15]
    return number, title, WRITERS[turn % 13], 1 + turn % 6


MORNINGS = (
    "早上醒得比闹钟早，躺着听了一会儿水管。",
    "起晚了，头发翘着去开的门。",
    "天没亮透，巷口的灯还开着两盏。",
    "楼下卖豆浆的换了新锅，蒸汽很大。",
    "被账本踩醒，它饿得理直气壮。",
    "雨打了一夜棚子，出门的时候反而停了。",
    "风把晾的袜子吹到隔壁阳台，隔壁给叠好了。",
)
SHOPS = (
    "店里来了个学生，站着把一本薄书从头看到尾，走之前把它放回原位，书脊对齐了。",
    "老秦把收音机修好了，只收得到一个台，整天放评弹。",
    "有人寄来一箱旧书，里面夹着二十年前的车票，去的地方已经改名了。",
    "大爷又拿三本书垫茶杯，我换成杯垫，他把杯垫也夹进书里了。",
    "今天一本没卖，倒是修好了五本。",
    "小朋友把绘本按颜色排，排到紫色不够，拿自己的铅笔盒补上。",
    "账本在地图册上睡了一下午，把南半球压出一个窝。",
    "对面花店借走一把梯子，还回来的时候上面缠了一圈满天星。",
)
BALCONIES = (
    "薄荷又高了一点，最顶上那对叶子还没完全打开。",
    "薄荷有两片卷边，挪到背阴的地方去了。",
    "浇水之前先戳土，戳到第二个指节才见潮。",
    "掐了一把薄荷尖泡水，掐过的地方第二天就冒新芽。",
    "下雨忘了收，薄荷淋成落汤鸡，站在窗台上滴水。",
    "邻居家的猫隔着栏杆闻了闻薄荷，打了个喷嚏。",
)
NIGHTS = (
    "晚上跟小满说了会儿话，没说什么要紧的，说完就困了。",
    "睡前给爸打电话，他说膝盖还行，上楼慢一点就是了。",
    "夜里起来关窗，顺手把灯也关了。",
    "把明天要带的东西放在门口，省得又忘。",
    "翻了两页书，翻的是哪两页不记得了。",
)
KNEE_DAY = "爸下午打来说右边膝盖疼，下楼要扶着墙。我说去拍个片子，他说等天晴。"


def diary(until: date, days: int, ends: int = 0, entry: tuple[int, str] = (0, "")) -> str:
    """The person's diary as `Read` gives it, numbered: `days` days, the last one `ends` days before `until`.

    `entry` is the one that matters: how many days ago, and its words.
    """
    lines: list[str] = []
    for back in range(ends + days, ends, -1):
        day = until - timedelta(days=back)
        turn = back * 5 + days
        lines += [f"## {spelt(day)} {weekday(day)}", "", MORNINGS[turn % 7] + SHOPS[turn % 8], BALCONIES[turn % 6]]
        lines += [entry[1] if back == entry[0] else NIGHTS[turn % 5], ""]
    return numbered("\n".join(lines))


MINT_FOUND = "下了一天雨。巷口纸箱上放着一盆没人要的薄荷，叶子只剩四片，我给它挪到屋檐底下，走出去十步，又回来抱走了。"


def mint_diary(day: date) -> str:
    """The diary of last year, from the day the mint was found: the same day of the year as `day`."""
    found = day.replace(year=day.year - 1, day=min(day.day, 28 if day.month == 2 else 31))
    return diary(found + timedelta(days=64), days=64, entry=(64, MINT_FOUND))


def numbered(text: str) -> str:
    """As the client's `Read` prints a file."""
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), 1))


def hourly_weather(day: date) -> str:
    """Ten days of hours from a weather service, far more than anybody asked for."""
    hours = []
    for hour in range(240):
        at = day + timedelta(days=hour // 24)
        wave = (hour * 37 + day.toordinal() * 11) % 100
        rain = max(0.0, round((wave - 62) / 9, 1)) if hour % 24 >= 19 or hour % 24 < 6 else 0.0
        hours.append(
            {
                "time": f"{at.isoformat()}T{hour % 24:02}:00+08:00",
                "temp_c": round(9 + 5 * ((hour % 24) in range(9, 18)) + wave / 40, 1),
                "humidity_pct": 58 + wave % 37,
                "rain_mm": rain,
                "rain_chance_pct": min(95, int(rain * 30) + wave % 12),
                "wind_kmh": 6 + wave % 14,
                "sky": "小雨" if rain else ("多云", "阴", "晴")[wave % 3],
            }
        )
    return json.dumps({"place": "檐下路", "unit": "metric", "hours": hours}, ensure_ascii=False, separators=(",", ":"))


GUESTS = (
    "来躲雨的人",
    "三楼的老师",
    "借过梯子的花店",
    "一个学生",
    "送外卖的",
    "看地图的大爷",
    "迷路的",
    "刚下班",
    "第二次来",
    "画绘本的",
    "住隔壁",
    "带女儿来的妈妈",
    "要搬走的人",
)
GUESTS_CAME = (
    "进来的时候只想避雨，",
    "本来是找厕所的，",
    "路过七次，第八次才推门，",
    "朋友说这里的猫不理人，",
    "加班到很晚，看见灯还亮着，",
    "从很远的地方来，",
    "今天被骂了一顿，",
    "跟人约在这里，那个人没来，",
    "考完试，",
)
GUESTS_SAW = (
    "坐在窗边翻完了一本薄书",
    "在旧书里找到了小时候的那一版",
    "跟猫对视了十分钟",
    "闻到了旧纸的味道",
    "把雨声听完了",
    "买了一本看不懂的诗",
    "给女儿念了半本绘本",
    "什么也没买，坐了一下午",
    "发现书里夹着别人的电影票",
    "店员递给我一本地图册",
)
GUESTS_LEFT = (
    "，走的时候心里松了一截。",
    "，谢谢那杯没收钱的茶。",
    "。下次带伞来。",
    "，明年还来。",
    "，猫最后还是理我了。",
    "。原来慢下来是这种声音。",
    "，请不要搬家。",
    "。祝薄荷长得高。",
)
GUEST_MAP = "店员递给我一本地图册，翻到冰岛，我站着看了二十分钟。没买，可是那天晚上我睡着了。"
GUEST_CHILD = "我把书排成彩虹啦！紫色不够我明年再来补。——排书的小孩"


def guest_book(entries: int) -> str:
    """The shop's guest book, typed up; two of its entries are picked in the talk."""
    lines = ["# 檐下留言簿 第三本", ""]
    for entry in range(entries):
        turn = entry * 11 + entry // 13
        text = GUESTS_CAME[turn % 9] + GUESTS_SAW[(turn // 9 + entry) % 10] + GUESTS_LEFT[(turn // 5 + entry) % 8]
        picked = {58: GUEST_MAP, 131: GUEST_CHILD}.get(entry, text)
        lines.append(f"{entry + 1}. {picked}（{GUESTS[turn % 13]}）")
    return numbered("\n".join(lines))


POTS_HEADS = ("先看根", "盆要多大", "土怎么配", "换盆那天", "换完一周", "常见的慌张")
POTS_SAID = (
    "薄荷的根跑得比人快，盆底的孔里看见白须，就是它在敲门了。",
    "换盆前一天不要浇水，土干一点，坨子才不散。",
    "新盆的口径比旧盆大出三四指就够，太大了水走得慢，根容易闷。",
    "陶盆透气，塑料盆轻，搪瓷盆好看但要打孔。",
    "园土四成、腐叶土四成、粗砂两成，捏得成团、一碰就散，就是合适的。",
    "手边没有粗砂，碎瓦片敲成绿豆大也行，垫在最底下。",
    "脱盆的时候一只手托住土面，另一只手拍盆边，别扯茎。",
    "黑了的根剪掉，白的留着，断口晾半个钟头。",
    "填土填到离盆沿一指，留着接水。",
    "第一次浇水要浇透，从底孔流出来为止，然后倒掉托盘里的水。",
    "换完头三天放在屋里有散光的地方，别晒，别吹风，别着急。",
    "叶子蔫一两天是正常的，它在认新房间。",
    "一周以后再搬回窗台，先半天，再一天。",
    "有黄叶就摘，摘到见新芽为止。",
    "不要施肥，新土里有它吃的。",
)


def page_on_pots(rounds: int) -> str:
    """A long page on repotting that says everything several times, as such pages do."""
    said = (POTS_SAID[turn * 7 % 15] for turn in range(10_000))
    parts = ["# 薄荷换盆，从头说到尾"]
    for turn in range(rounds):
        parts.append(f"## {turn + 1}. {POTS_HEADS[turn % 6]}")
        parts.append("".join(islice(said, 7 + turn % 3)))
    return "\n\n".join(parts)


PAGE_ONE = """第一段，开店第三天：
“今天卖出去一本。买主是来问路的，问完不好意思走，就买了最薄的那本。找他两块，他说不用找了，我追出去半条街，把两块钱塞回他兜里。回来想想，要是不追，今天就多挣两块；可是不追，我晚上睡不着。房东来看过一眼，说这地方从前是配钥匙的，配钥匙的前头是卖盐的，都没撑过三年。我说那正好，书比盐轻，比钥匙慢，说不定能多撑几天。晚上下雨，屋檐水滴在门口那块砖上，一声一声，像有人在外头翻书。店名就这么定了。”"""
PAGE_TWO = """第二段，第十九天：
“来了一只黄猫，站在门口看了我半天，像查账的。我说小店亏着呢，没什么可查。它不听，进来挑了最贵的那本画册，躺上去。我没赶。下午来了三拨人，两拨看猫，一拨看完猫买了书。我在账本上记：猫，进账三十六。第二天它又来，我把那页撕下来给它垫窝。后来它生了一窝，送走四只，留下一只，就生在那页账上。”"""
PAGE_THREE = """第三段，第三十天：
“一个月了，亏一千一。把数写在小黑板上，想想又擦了，改成‘今日有茶’。有个学生天天来，坐最里头那张凳子，把一套书从第一本看到第六本，没买。今天看完第六本，站起来，把凳子擦了，六本书按顺序插回去，走到我面前鞠了一躬。我不知道怎么办，也鞠了一躬。人走了我才想起来，后面还有第七本。明天把第七本摆到最外头。”"""

ROSTER = """# 班表（老秦排的，有改动用红笔）
周一 早班 10:00–18:00
周二 早班 10:00–18:00
周三 老秦请客，六点半，全员
周四 早班 10:00–18:00，晚上空
周五 晚班 14:00–22:00
周六 晚班 14:00–22:00
周日 休"""

FRIDGE_FIRST = """# 冰箱门

- **红笔，正中间**：花生过敏，很严重。花生、花生酱、花生油都算。
- 平时叫阿林。
- 咖啡不加糖。
- 每周三晚上九点语音，谁先到谁先点灯。（西瓜磁铁）
"""
FRIDGE_KNEE = "- 爸，{复查}上午八点半，复查膝盖。原话：“右边那只。”\n"
FRIDGE_THURSDAY = """- 每周四晚上九点语音，谁先到谁先点灯。（西瓜磁铁，从周三搬来）
- 下雨天早上等阿林先开口。七点叫起床那张撕掉了。
- 爸，{复诊}，右膝，看理疗效果。
"""
