"""Made-up dialogue in Chinese and English whose words are as uneven as real ones, for the search to look through."""

from __future__ import annotations

import functools
import itertools
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

STARTED = datetime(2024, 1, 1, tzinfo=UTC)
# The most frequent first: shares fall with the place in the list.
ALL_COMMON = (
    "的 我 了 你 是 不 在 就 也 很 今天 晚上 我们 觉得 可以 什么 没有 知道 时候 现在 还是 因为 但是 一起 喜欢 想要 明天 "
    "早上 睡觉 吃饭 工作 朋友 妈妈 说话 回来 出去 下雨 天气 房间 阳台 薄荷 书店 橘猫 咖啡 地铁 周末 音乐 电影 身体 医生 "
    "记得 答应 约定 害怕 开心 难过 安静 慢慢 等会儿 没关系 图书馆 为什么 有时候 发现 头发 面条 衣服 颜色 故事 名字 声音"
)
COMMON = ALL_COMMON.split()
ALL_ENGLISH = (
    "the a to and of is in it you that was for on are with as be at one have this from by hot word but what some we can out "
    "other were all there when up use your how said each she which do their time if will way about many then them write would "
    "like so these her long make thing see him two has look more day could go come did number sound no most people my over know "
    "water than call first who may down side been now find"
)
ENGLISH = ALL_ENGLISH.split()
# About one in so many utterances has the word.
RARE = {"失眠": 5_000, "薰衣草": 20_000, "thunderstorm": 10_000, "林夕月": 50_000}
SOMETIMES = {"焦糖": 200, "migration": 200}


@functools.cache
def vocabulary(size: int = 30_000) -> tuple[list[str], list[float]]:
    """Common words, then made-up ones of two or three common characters; and their shares, summed up."""
    chance = random.Random(7)
    characters = [chr(code) for code in chance.sample(range(0x4E00, 0x9FA5), 3_000)]
    weights = [1 / (place + 5) for place in range(len(characters))]
    made = (
        "".join(chance.choices(characters, weights, k=chance.choice((2, 2, 2, 3)))) for _ in range(size - len(COMMON))
    )
    return [*COMMON, *made], shares(size)


def shares(size: int) -> list[float]:
    return list(itertools.accumulate(1 / (place + 3) for place in range(size)))


def utterances(seed: int, count: int) -> Iterator[tuple[str, str, datetime, str]]:
    """(uuid, kind, time, text), the person and the companion in turns."""
    chance = random.Random(seed)
    chinese, places = vocabulary()
    english = shares(len(ENGLISH))
    at = STARTED + timedelta(hours=seed)
    for number in range(count):
        at += timedelta(seconds=chance.uniform(5, 300))
        is_answer = number % 2 == 1
        length = int(chance.triangular(3, 60 if is_answer else 25, 8))
        if chance.random() < 0.12:
            words = chance.choices(ENGLISH, cum_weights=english, k=length)
            text = " ".join(_seasoned(words, chance, SOMETIMES | RARE, is_latin=True))
        else:
            words = chance.choices(chinese, cum_weights=places, k=length)
            text = "".join(_seasoned(words, chance, SOMETIMES | RARE, is_latin=False))
        yield str(uuid.UUID(int=chance.getrandbits(128))), "a" if is_answer else "h", at, text


def _seasoned(words: list[str], chance: random.Random, rare: dict[str, int], *, is_latin: bool) -> list[str]:
    for word, share in rare.items():
        if word.isascii() == is_latin and chance.random() < 1 / share * (8 if is_latin else 1.14):
            words[chance.randrange(len(words))] = word
    if not is_latin:
        for at in range(6, len(words), 7):
            words[at] += chance.choice("，。？！")
    return words
