"""A network learned from a table with gaps: its arcs, what they say is independent, and answers with most cells unknown."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

import merula as mr


def main() -> None:
    birds = pd.read_csv(str(files("merula") / "data" / "penguins.csv"))
    facts, measures = (
        ["species", "sex", "island", "year"],
        ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"],
    )
    network = mr.learn_structure(birds, kinds={"year": "categorical"}, tiers=[facts, measures])
    print(network)
    for name in network.variables:
        print(f"{name:18} depends on {', '.join(network.parents(name)) or 'nothing'}")

    print("\nGiven the species, does the island tell the sex anything?")
    print("no" if network.d_separated("island", "sex", given="species") else "perhaps")

    print("\nA female from Dream with a bill of 46 mm:")
    print(network.query("species", given={"island": "Dream", "sex": "female", "bill_length_mm": 46.0}))
    print("\nHow heavy is it?")
    print(network.query("body_mass_g", given={"island": "Dream", "sex": "female", "bill_length_mm": 46.0}))

    known = birds[["island", "bill_length_mm"]]
    right = network.predict_rows(known, "species").argmax(axis=1)
    named = [network.levels["species"][place] for place in right]
    print(
        f"\nFrom island and bill length alone, {sum(a == b for a, b in zip(named, birds['species'], strict=True))} of {len(birds)} species are told."
    )


if __name__ == "__main__":
    main()
