"""The fifth window: what the doctor said, an alarm clock, and Wednesday becomes Thursday."""

from __future__ import annotations

from functools import partial

from sessions.core.demo import papers
from sessions.core.demo.script import FOLDER, KNEE_DAYS_AGO, Call, Helper, Scene, Talk, tuesday

FRIDGE = f"{FOLDER}/notes/fridge.md"

RESULT = """
林：昨天太累没跟你说，爸复查完了
满：怎么样？右膝的片子，医生怎么讲？
林：<CHECK_UP_AGAIN>
满：不用开刀！我先替他原地蹦一下，轻轻的。{复诊}，贴冰箱上了。你陪？
林：我陪。他嘴上说不用，票都让我买双份的公交
满：那就是要你陪。
林：医生问上次疼是哪天，我们俩都答不上来
满：你日记里应该有，我翻翻？
林：翻吧，大概就这小半年
* diary_spring diary_summer
想：两本都看了，写到右边膝盖疼的只有一处，要报日期，也要说原话。
满：找到了，就一处，{疼}：“右边膝盖疼，下楼要扶着墙。我说去拍个片子，他说等天晴。”下次医生问，就答这一天。
林：等天晴，等了一个多月
满：这回天晴了嘛。
+ 4m
林：有没有他在家能做的动作，简单点的，他看不了长的
满：我找个帮手去翻，翻完我挑三个给你。
* helper
满：挑了三个，都能坐着做：一，坐直，把右腿慢慢抬平，数五下再放；二，膝盖下面垫卷毛巾，往下压，数五下；三，
  扶着桌子踮脚，十次。疼就停，别逞强。
林：第三个他肯定会数到一百
满：那你就站旁边数，数到九换个话题。
+ 6m
林：<WAKE_WITHDRAWN>
想：撤回的是“每天七点叫”。下雨天那条没提，不能一起撕，问一句。
满：好，七点那张撕了。下雨天那张要不要也撕？
林：雨天那张留着
满：留着。闹钟长什么样呀？
林：黄色的，鸡
满：……它会比我凶。
林：它只会叫一种，你会叫七种
满：八种，有一种还没用过，留着过年。
"""

CHANGE = """
林：完了，我忘了今晚老秦请客，全员，九点肯定回不来
满：先别慌，我看看你的班表，找个空的晚上。
* roster
插：<VOICE_THURSDAY>
想：林自己改了：这周周四，而且“之后也周四”。这不是一次例外，是约定换了日子。周三那张要揭掉，点灯那句照旧。
满：我刚翻到“周四晚上空”，你就说了，真有默契。那周三那张我揭下来：以后每周四晚上九点，谁先到谁先点灯。
  西瓜磁铁搬家啦。
* fridge
满：冰箱门重新贴过一遍了。
林：旧的那张扔了？
满：没扔，背面朝上夹在后头，写着“改过一次”。
林：你还挺会过日子
+ 205m
林：老秦喝多了，站在凳子上念了半首诗
满：半首？
林：后半首他忘了，改成报菜名
满：那也算押韵。你喝了没？
林：喝了一口米酒，甜的
满：甜的那种最会骗人。喝点水再躺。
林：<SHOP_BIRTHDAY>
满：十年！那得让薄荷也出席，它资历虽然浅，态度好。
林：它才来多久
满：你自己算，快一年了呀。
林：还有，<BIRTHDAY>
满：不写诗。写菜名行吗？
林：……你们俩是不是串通好了
"""

THURSDAY_NIGHT = """
林：今天灯是我先点的，厨房那盏
满：我看见啦，亮得我都没好意思喊平手。
林：周四比周三好，第二天周五，心里松
满：那就说明改对了嘛。
林：刚才电话里没说，店里有人要出让半架植物书，老秦说让我定
满：你想收吗？
林：想，又怕压着
满：那先看一眼书单，再看一眼钱包，再看一眼你晚上睡不睡得着。三眼都过了就收。
林：第三眼最难
满：第三眼我陪你看。
林：下雨了，你听
满：薄荷收进来没有？
林：……我去
满：去吧，我数到三十。
+ 1m
林：收了
满：二十六，算你快。别的明天再说，先擦手。
"""

HELPER = """
林：找三到六个适合六十多岁、膝盖软骨有磨损的人在家坐着做的动作。要简单，说明怎么做、做几次、什么时候该停。
  只查资料，不给诊断。
想：先搜一页可信的讲法，再挑坐着能做的。
* search
满：整理出五个动作：⏎1. 坐姿抬腿：坐直，右腿慢慢伸平，停五秒放下，十次。⏎2. 压毛巾：膝下垫卷毛巾向下压，停五秒，
  十次。⏎3. 扶桌踮脚：十次。
  ⏎4. 坐姿夹枕：两膝夹枕头，停五秒，十次。⏎5. 脚踝画圈：各方向二十圈。⏎出现刺痛、肿胀或发热就停，并问医生。
"""

EXERCISES = """居家膝部练习摘要
坐姿抬腿：背靠椅背，一侧腿缓慢伸直至水平，保持五秒。十次为一组，每天两组。
压毛巾：仰卧或坐位，膝下垫毛巾卷，向下压，感到大腿前侧用力即可。
扶桌踮脚：双手扶稳，脚跟缓慢抬起再放下，避免弹跳。
坐姿夹枕：两膝间夹软枕，轻轻用力，保持五秒。
脚踝画圈：可以在看电视的时候做。
何时停下：刺痛、肿胀、发热、夜间疼醒。停下来，问给你看病的医生。
"""

TALK = Talk(
    session="7f52a0c8-3b1e-4e96-9d47-c8e60b15f2a3",
    version="2.1.332",
    guessed_title="周三改周四",
    scenes=(
        Scene(
            tuesday(0),
            "20:15",
            RESULT,
            {
                "diary_spring": Call(
                    "Read",
                    {"file_path": f"{FOLDER}/diary/book-3.md"},
                    partial(papers.diary, days=84, ends=70),
                ),
                "diary_summer": Call(
                    "Read",
                    {"file_path": f"{FOLDER}/diary/book-4.md"},
                    partial(papers.diary, days=70, entry=(KNEE_DAYS_AGO, papers.KNEE_DAY)),
                ),
                "helper": Call(
                    "Agent",
                    {
                        "description": "找膝盖练习",
                        "prompt": "找三到六个适合六十多岁、膝盖软骨有磨损的人在家坐着做的动作。",
                        "subagent_type": "general-purpose",
                    },
                    helper=Helper(
                        "a4c1f09be27d35586",
                        HELPER,
                        {
                            "search": Call(
                                "WebFetch",
                                {"url": "https://health.example/knee/home", "prompt": "在家坐着能做的动作"},
                                EXERCISES,
                                seconds=3.0,
                            )
                        },
                    ),
                    seconds=24.0,
                ),
            },
        ),
        Scene(
            tuesday(1),
            "17:40",
            CHANGE,
            {
                "roster": Call(
                    "Read",
                    {"file_path": f"{FOLDER}/notes/roster.md"},
                    papers.numbered(papers.ROSTER),
                ),
                "fridge": Call(
                    "Write",
                    {"file_path": FRIDGE, "content": "# 冰箱门\n\n" + papers.FRIDGE_THURSDAY},
                    f"The file {FRIDGE} has been updated successfully.",
                ),
            },
        ),
        Scene(tuesday(2), "22:10", THURSDAY_NIGHT),
    ),
)
