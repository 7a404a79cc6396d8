import time

import pytest

from companion.lib.secrets_mask import COVER, masked

BODY = "AbCdEf0123456789AbCdEf0123456789AbCdEf01"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"我的是sk-ant-api03-{BODY}，别说", f"我的是sk-ant-api03-{COVER}，别说"),
        (f"sk-proj-{BODY}", f"sk-proj-{COVER}"),
        (f"ghp_{BODY}", f"ghp_{COVER}"),
        (f"github_pat_{BODY}", f"github_pat_{COVER}"),
        ("AKIAIOSFODNN7EXAMPLE", f"AKIA{COVER}"),
        ("xoxb-123456789012-abcdefghij", f"xoxb-{COVER}"),
        ("Authorization: Bearer abcdef0123456789abcdef", f"Authorization: Bearer {COVER}"),
        ("123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", f"123456789:{COVER}"),
        ("postgres://lin:hunter2@db/x", f"postgres://lin:{COVER}@db/x"),
        ('"api_key": "Zx81Zx81Zx81Zx81"', f'"api_key": "{COVER}"'),
        ("密码：Abc12345678x 然后呢", f"密码：{COVER} 然后呢"),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n完",
            f"-----BEGIN OPENSSH PRIVATE KEY-----{COVER}\n完",
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", f"-----BEGIN RSA PRIVATE KEY-----{COVER}"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh123", f"eyJhbGci{COVER}"),
    ],
    ids=lambda value: value[:24],
)
def test_a_secret_is_covered(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize("text", ["sk-ant-api03-AbC…", "ghp_AbC…", "xoxb-12…"])
def test_a_secret_cut_by_the_end_of_a_preview_is_covered(text: str) -> None:
    assert masked(text).endswith(COVER)


@pytest.mark.parametrize(
    "text",
    [
        "今天的 task-list 和 risk-averse 都没问题，basic 的 bearer of news",
        "ask-ant-hill 8:30 见，password 忘了",
        "sk-learn-is-a-nice-library-for-python",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "7c41e0d2-93b5-4f7e-a6c8-2d1f0b9e54a3",
        "https://example.cn:8443/path?from=2026-11-26T18:00",
        "她说：密码是我们第一次见面的日子",
        "电话 13800138000，会议号 123-456-789",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("text", ["password=" * 20_000, "sk-" * 50_000, "eyJabcde" * 30_000, "-----BEGIN " * 20_000])
def test_long_hostile_text_takes_no_time(text: str) -> None:
    started = time.perf_counter()

    masked(text)

    assert time.perf_counter() - started < 2
