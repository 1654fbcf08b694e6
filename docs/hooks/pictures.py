"""The pictures of the pages, drawn by merula itself whenever the site is built."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any


def on_files(files: Any, config: Any) -> Any:
    """Add each picture to the site."""
    from mkdocs.structure.files import File

    for name, draw in PICTURES.items():
        files.append(File.generated(config, f"pictures/{name}.svg", content=svg(draw())))
    return files


def svg(axes: Any) -> str:
    """The figure of these axes as SVG, the same text for the same picture."""
    import matplotlib
    from matplotlib import pyplot

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "merula", "svg.fonttype": "none"}):
        axes.figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(axes.figure)
    return text.getvalue()


def network(ax: Any = None) -> Any:
    """The network of the guided tour, given an ache."""
    import merula as mr

    drawn = mr.BayesianNetwork().add("chair", ["bad", "good"], [0.8, 0.2]).add("sport", ["yes", "no"], [0.02, 0.98])
    drawn = drawn.add("worker", ["yes", "no"], {"bad": [0.9, 0.1], "good": [0.01, 0.99]}, parents=["chair"])
    back = {
        ("bad", "yes"): [0.9, 0.1],
        ("bad", "no"): [0.2, 0.8],
        ("good", "yes"): [0.9, 0.1],
        ("good", "no"): [0.01, 0.99],
    }
    drawn = drawn.add("backache", ["yes", "no"], back, parents=["chair", "sport"])
    drawn = drawn.add("ache", ["yes", "no"], {"yes": [0.7, 0.3], "no": [0.1, 0.9]}, parents=["backache"])
    return drawn.plot(ax=ax, given={"ache": "yes"})


def explanation(ax: Any = None) -> Any:
    """One penguin explained, as on the first page."""
    import merula as mr

    return mr.explain(_penguins(), {"island": "Dream", "bill_length_mm": 43.5, "flipper_length_mm": 195}).plot(ax=ax)


def column() -> Any:
    """What one column of the penguins holds given each species."""
    return _penguins().plot("bill_length_mm")


def nomogram() -> Any:
    """A naive model of penguins on one page."""
    import merula as mr

    return mr.nomogram(_penguins(), "Chinstrap", "Adelie").plot()


def tree() -> Any:
    """The tree of the guided tour's melons."""
    import pandas as pd

    import merula as mr

    melons = pd.read_csv("docs/data/watermelon3.csv").drop(columns=["编号", "密度", "含糖率"])
    good = melons.pop("好瓜")
    return mr.TANClassifier(smoothing=1).fit(melons, good).to_network("好瓜").plot()


def overview(path: str) -> None:
    """The README's picture, written by ``make picture``: a column given each class, a row explained, a network asked."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, 3, figsize=(15, 4.4), layout="constrained", gridspec_kw={"width_ratios": [1, 1.25, 1]}
    )
    _penguins().plot("bill_length_mm", ax=axes[0])
    explanation(axes[1])
    network(axes[2])
    titles = (
        "what a column holds, given each class",
        "why this row is probably a Chinstrap",
        "a network, given an ache",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=14, pad=16)
    axes[0].set_xlabel("bill_length_mm")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _penguins() -> Any:
    from importlib.resources import files

    import pandas as pd

    import merula as mr

    table = pd.read_csv(str(files("merula") / "data" / "penguins.csv"))
    species = table.pop("species")
    return mr.NaiveBayesClassifier().fit(table, species)


PICTURES: dict[str, Callable[[], Any]] = {
    "network": network,
    "explanation": explanation,
    "column": column,
    "nomogram": nomogram,
    "tree": tree,
}
