"""Hours, durations and units as Chinese, Japanese and Korean tables have them, and what only resembles them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from merula.data.words.decision import understand
from merula.data.words.times import duration, instant, seconds_of_day

CLOCKS = {"午前10時18分": (10, 18, 0), "午後2時5分30秒": (14, 5, 30), "10時半": (10, 30, 0), "14点30分": (14, 30, 0), "下午2点": (14, 0, 0), "上午12点05分": (0, 5, 0), "오후 2시 5분": (14, 5, 0), "오전 9시": (9, 0, 0), "14時": (14, 0, 0)}  # fmt: skip
LENGTHS = {"1小时12分钟": 72, "2個小時": 120, "45分钟": 45, "1時間30分": 90, "5時間": 300, "2시간 30분": 150, "3天4小时": 4560, "30秒": 0.5}  # fmt: skip


@pytest.mark.parametrize("word", CLOCKS)
def test_hours_and_minutes(word: str) -> None:
    hour, minute, second = CLOCKS[word]
    assert seconds_of_day(word) == 3600 * hour + 60 * minute + second


@pytest.mark.parametrize("word", LENGTHS)
def test_durations(word: str) -> None:
    assert duration(word) == timedelta(minutes=LENGTHS[word]) // timedelta(microseconds=1)


@pytest.mark.parametrize("word", ["2023年10月5日14时30分", "2023年10月5日 下午2点30分", "令和5年10月5日 14時30分", "2023년 10월 5일 오후 2시 30분"])  # fmt: skip
def test_days_with_hours(word: str) -> None:
    expected = datetime(2023, 10, 5, 14, 30, tzinfo=UTC).timestamp()
    assert instant(word, "ymd") == expected * 1_000_000


@pytest.mark.parametrize("word", ["90点", "5点", "30分", "5일", "14時間", "25時10分", "10時75分"])
def test_no_times_of_day(word: str) -> None:
    assert seconds_of_day(word) is None


@pytest.mark.parametrize(("words", "unit"), [(["22세", "9세", "41세"], "세"), (["80分", "95分", "75分"], "分"), (["5点", "12点", "9点"], "点"), (["61.5公斤", "72千克"], None)])  # fmt: skip
def test_units_close_to_their_number(words: list[str], unit: str | None) -> None:
    reading = understand(words, [5] * len(words))
    assert (reading and reading.unit) == unit
