"""Words and characters that say little of what a sentence is about, in Chinese and English (spec H1)."""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Said too often to tell one promise from another.
EMPTY_CHARACTERS = frozenset(
    "我你他她它们的了是不在有和就都也要会说好约定答应吧吗呢啊呀哦喔嗯啦嘛么这那个还把给让来去没很"
    "再先别得着过跟到成改为做弄搞办完妥已经用可以后从之记提忘千万绝对许永远禁准保证待欠什怎为啥哪谁时候一下点儿里上事请想能行醒"
)
TIME_CHARACTERS = frozenset("一二三四五六七八九十两零半分钟年月日号天周星期礼拜早晚下午今明昨每次点上")
EMPTY_WORDS = _words(
    "a about actually after again already an and are aren as at be because been before being but by can change",
    "changed come could couldn did didn do does doesn don done every even finished for forget from get go going",
    "gonna good got gotta had has have he hello her hey hi him his how i id if im in instead into is isn it its ive",
    "just kind know let like ll lol made make many maybe me mine more moved much my need never no not now of off oh",
    "ok okay on one only or our out over please promise re really remember remind reschedule right said say see she",
    "should so some something still sure than thank thanks that the their them then there they thing things think",
    "this time to too try two up us very want wanted was wasn we week well were what when which who why will with",
    "won would wouldn yeah yes you your all also any anything",
)
TIME_WORDS = _words(
    "monday tuesday wednesday thursday friday saturday sunday weekend january february march april june july august",
    "september october november december noon midnight oclock am pm tomorrow today tonight yesterday morning",
    "evening night day next last",
)
# The same word to whoever counts what two sentences share.
IRREGULAR = {
    "paid": "pay", "bought": "buy", "sent": "send", "wrote": "write", "written": "write", "took": "take", "taken": "take",
    "ate": "eat", "brought": "bring", "told": "tell", "met": "meet", "fed": "feed", "found": "find",
}  # fmt: skip
# Nouns to a splitter, and words that no memory is found by.
COMMON = _words(
    "一下 一会 一点 一边 一直 下午 上午 上面 不错 世界 东西 个人 中午 之后 事情 人 什么 今天 以后 份 先生 内容 刚才",
    "别人 前面 办法 原因 右边 口气 句 名字 后面 哈哈 哈哈哈 嗯 嘿嘿 地方 外头 大家 天 头 女士 家 家里 宝宝 小时",
    "小时候 左边 张 待会 待会儿 心里 情况 意思 意见 感觉 手 手机 方面 旁边 早上 时候 时间 星期 昨天 明天 晚上 晚安",
    "早安 最后 有点 朋友 本 条 样 样子 段 没事 消息 点 爸爸 现在 生活 电话 眼睛 第一 结果 老公 老婆 自己 话 这个 道",
    "那个 部分 里头 里面 问题 周末 分钟 妈妈 字 可能 大概 always back bad best better big bit call called coming",
    "down ever feel feeling feels felt find finish first forever friend gave give great haha hour hours keep later",
    "left little long look looking lot love mean mind minute minutes month months nice old people put real same",
    "sorry start started stay stuff take talk talked talking tell told took truly use used wait way weeks work yep",
    "year years",
)
