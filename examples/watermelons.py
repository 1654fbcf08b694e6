"""Seventeen watermelons, as in the textbook: mixed columns, one melon explained, and which column to look at first."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import merula as mr

TABLE = Path(__file__).parent.parent / "docs" / "data" / "watermelon3.csv"


def main() -> None:
    melons = pd.read_csv(TABLE).drop(columns="编号")
    good = melons.pop("好瓜")
    model = mr.NaiveBayesClassifier().fit(melons, good)
    print("Is the first melon good (是)?")
    print(mr.explain(model, melons.iloc[0]))

    print("\nNothing is known of a melon. Which column first, if a cut to taste it (含糖率) costs 0.3 of a mistake?")
    print(mr.next_question(model, {}, prices={"含糖率": 0.3}))

    print("\nHow far can this be trusted? On melons that were left out, in eight folds:")
    print(mr.evaluate({"naive": model, "all together": mr.BayesClassifier()}, melons, good, cv=8, repeats=1))


if __name__ == "__main__":
    main()
