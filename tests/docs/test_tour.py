"""The guided tour shows the figures of the sources' worked examples (W1 to W9), recomputed here from what they state.

The pages' code is executed by their own doctests; what is asserted here is that what they print is right.
"""

import re
from fractions import Fraction
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[2] / "docs" / "tour"

BACK = {
    (True, True): Fraction("0.9"),
    (True, False): Fraction("0.2"),
    (False, True): Fraction("0.9"),
    (False, False): Fraction("0.01"),
}


def ache(worker=None):
    """P(chair bad, ache) and P(chair good, ache), with the worker known or not, by enumeration."""
    joint = []
    for chair, p_chair in ((True, Fraction("0.8")), (False, Fraction("0.2"))):
        p_worker = 1 if worker is None else (Fraction("0.9") if chair else Fraction("0.01"))
        for sport, p_sport in ((True, Fraction("0.02")), (False, Fraction("0.98"))):
            back = BACK[chair, sport]
            joint.append(
                (chair, p_chair * p_worker * p_sport * (back * Fraction("0.7") + (1 - back) * Fraction("0.1")))
            )
    return [sum(p for state, p in joint if state is chair) for chair in (True, False)]


def share(parts):
    return parts[0] / sum(parts)


W3 = [
    Fraction("0.5") * Fraction("0.1") * Fraction("0.9") ** 2,
    Fraction("0.5") * Fraction("0.2") * Fraction("0.3") ** 2,
]
PRINTED = {
    "sample-space.md": [
        Fraction("0.25"),
        Fraction("0.57"),
        Fraction("0.8"),
        Fraction("0.1"),
        Fraction(1, 3),
        Fraction(1, 2),
        Fraction(3, 5),
    ],  # W2
    "naive-bayes.md": [*W3, share(W3)],
    "smoothing.md": [(4 + Fraction(2, 3)) / 12, Fraction(2, 3) / 12, (6 + Fraction(2, 3)) / 12],  # W4
    "mixed-columns.md": [  # W1, as the mission's figures state them
        0.052378718925955615,
        6.85842403030207e-05,
        0.9986923209362051,
        0.9990210154018457,
        0.9969961544713821,
        0.9977502320535819,
    ],
    "joint-and-neighbours.md": [Fraction(2, 3), Fraction(5, 8)],  # W8
    "kernels.md": [Fraction("0.5") / Fraction("1.45"), Fraction("0.95") / Fraction("1.45"), Fraction(3, 5)],  # W7
    "risk.md": [Fraction(2), Fraction("0.8"), Fraction(1, 11)],  # W6
    "first-question.md": [Fraction(8, 17), Fraction(5, 17)],  # W9
    "network.md": [Fraction("0.17676"), sum(ache()), share(ache()), share(ache(worker=True))],  # W5
}


@pytest.mark.parametrize("page", PRINTED)
def test_page_prints_the_figures_of_the_source(page):
    text = (TOUR / page).read_text(encoding="utf-8")
    printed = "\n".join(
        line
        for block in re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
        if not line.startswith((">>>", "..."))
    )
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[-+]\d+)?", printed)]
    for figure in map(float, PRINTED[page]):
        assert any(abs(number - figure) <= (6e-5 if figure > 1e-3 else 1e-3 * figure) for number in numbers), figure
