"""Tables to explain: W1's melons, the bundled penguins, and those of shared/data where they are at hand."""

import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr

DATA = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[3].parent / "shared" / "data"))
MELON_COLUMNS = ["色泽", "根蒂", "敲声", "纹理", "脐部", "触感", "密度", "含糖率", "好瓜"]
MELON_ROWS = """
青绿 蜷缩 浊响 清晰 凹陷 硬滑 0.697 0.460 是
乌黑 蜷缩 沉闷 清晰 凹陷 硬滑 0.774 0.376 是
乌黑 蜷缩 浊响 清晰 凹陷 硬滑 0.634 0.264 是
青绿 蜷缩 沉闷 清晰 凹陷 硬滑 0.608 0.318 是
浅白 蜷缩 浊响 清晰 凹陷 硬滑 0.556 0.215 是
青绿 稍蜷 浊响 清晰 稍凹 软粘 0.403 0.237 是
乌黑 稍蜷 浊响 稍糊 稍凹 软粘 0.481 0.149 是
乌黑 稍蜷 浊响 清晰 稍凹 硬滑 0.437 0.211 是
乌黑 稍蜷 沉闷 稍糊 稍凹 硬滑 0.666 0.091 否
青绿 硬挺 清脆 清晰 平坦 软粘 0.243 0.267 否
浅白 硬挺 清脆 模糊 平坦 硬滑 0.245 0.057 否
浅白 蜷缩 浊响 模糊 平坦 软粘 0.343 0.099 否
青绿 稍蜷 浊响 稍糊 凹陷 硬滑 0.639 0.161 否
浅白 稍蜷 沉闷 稍糊 凹陷 硬滑 0.657 0.198 否
乌黑 稍蜷 浊响 清晰 稍凹 软粘 0.360 0.370 否
浅白 蜷缩 浊响 模糊 平坦 硬滑 0.593 0.042 否
青绿 蜷缩 沉闷 稍糊 稍凹 硬滑 0.719 0.103 否
"""


def melon_table():
    frame = pd.DataFrame([line.split() for line in MELON_ROWS.strip().splitlines()], columns=MELON_COLUMNS)
    return frame.astype({"密度": float, "含糖率": float}), "好瓜"


def penguin_table():
    return pd.read_csv(str(files("merula") / "data" / "penguins.csv")), "species"


def shared_table(name, target):
    if not (DATA / name).exists():
        pytest.skip(f"no {name} in {DATA}; MERULA_DATA names the folder that holds it")
    return pd.read_csv(DATA / name), target


TABLES = {
    "melons": melon_table,
    "penguins": penguin_table,
    "horse-colic": lambda: shared_table("horse-colic.csv", "surgical_lesion"),
    "soybean": lambda: shared_table("soybean.csv", "class"),
    "heart": lambda: shared_table("heart-cleveland.csv", "num"),
}


@pytest.fixture(params=list(TABLES))
def real_table(request):
    """A real table without its target, and the target."""
    frame, target = TABLES[request.param]()
    return frame.drop(columns=target), frame[target]


@pytest.fixture
def penguins():
    frame, target = penguin_table()
    return frame.drop(columns=target), frame[target]


@pytest.fixture
def melons():
    frame, target = melon_table()
    return frame.drop(columns=target), frame[target]


@pytest.fixture
def textbook(melons):
    """W1's model: unsmoothed, variance 1/(n − 1)."""
    return mr.NaiveBayesClassifier(smoothing=0, variance="unbiased").fit(*melons)


@pytest.fixture
def many_columns():
    """A fitted naive model of 40 columns, numbers and words, and one of its rows; two classes."""
    rng = np.random.default_rng(8)
    y = rng.choice(["gesund", "krank"], 300)
    columns = {}
    for k in range(20):
        columns[f"measurement number {k} of blood pressure"] = rng.normal(120 + 6 * k * (y == "krank") / 20, 12).round(
            1
        )
        levels = ["yellow", "pink", "white", f"level {k}", "somewhat greenish"]
        shares = [0.2, 0.2, 0.2, 0.2, 0.2] if k % 2 else [0.1, 0.4, 0.3, 0.1, 0.1]
        columns[f"色泽 {k}"] = np.where(y == "krank", rng.choice(levels, 300, p=shares), rng.choice(levels, 300))
    frame = pd.DataFrame(columns)
    return frame, y, mr.NaiveBayesClassifier().fit(frame, y)


@pytest.fixture
def overlaps():
    """The pairs of texts of an axes that overlap once it is drawn: labels, tick labels (also of the upper axis), notes."""

    def drawn_texts(ax):
        for axes in (ax, *ax.child_axes):
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
                yield from (label for tick in ticks for label in (tick.label1, tick.label2) if label.get_visible())
                yield axis.label
            yield from axes.texts
            yield axes.title

    def found(ax, slack=1.0):
        ax.figure.canvas.draw()
        renderer = ax.figure.canvas.get_renderer()
        boxes = [
            (text.get_text(), text.get_window_extent(renderer)) for text in drawn_texts(ax) if text.get_text().strip()
        ]
        return [
            (one, two)
            for k, (one, box) in enumerate(boxes)
            for two, other in boxes[k + 1 :]
            if min(box.x1, other.x1) - max(box.x0, other.x0) > slack
            and min(box.y1, other.y1) - max(box.y0, other.y0) > slack
        ]

    return found


@pytest.fixture
def outside():
    """The texts of a drawn axes that reach beyond the figure."""

    def found(ax, slack=1.0):
        ax.figure.canvas.draw()
        renderer, page = ax.figure.canvas.get_renderer(), ax.figure.bbox
        boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in (*ax.texts, *ax.get_yticklabels())]
        return [
            text
            for text, box in boxes
            if text.strip()
            and (
                box.x0 < page.x0 - slack
                or box.x1 > page.x1 + slack
                or box.y0 < page.y0 - slack
                or box.y1 > page.y1 + slack
            )
        ]

    return found


class Twice(mr.NaiveBayesClassifier):
    """A mixture of two equal halves."""

    def _build(self, plan, collected):
        fitted = super()._build(plan, collected)
        return replace(fitted, components=tuple(replace(one, log_weight=np.log(0.5)) for one in fitted.components * 2))


@pytest.fixture
def twice():
    return Twice()
