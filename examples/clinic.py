"""A network stated by an expert: noisy causes, a temperature, uncertain evidence, and what doing changes."""

from __future__ import annotations

import merula as mr


def clinic() -> mr.BayesianNetwork:
    """Flu and cold, and what they bring about."""
    network = mr.BayesianNetwork().add("flu", ["no", "yes"], [0.95, 0.05]).add("cold", ["no", "yes"], [0.8, 0.2])
    network = network.add("fever", ["no", "yes"], mr.NoisyOr({"flu": 0.9, "cold": 0.2}, leak=0.01))
    network = network.add("cough", ["no", "yes"], mr.NoisyOr({"flu": 0.6, "cold": 0.7}, leak=0.05))
    warm = mr.LinearGaussian({"no": 36.8, "yes": 38.7}, variance={"no": 0.1, "yes": 0.4})
    return network.add("temperature", warm, parents=["fever"])


def main() -> None:
    network = clinic()
    print(network)
    known = [{}, {"cough": "yes"}, {"cough": "yes", "temperature": 38.4}, {"cough": {"yes": 0.6, "no": 0.4}}]
    for given in known:
        print(f"P(flu given {given or 'nothing'}) = {network.query('flu', given=given)['yes']:.4f}")

    print("\nThe temperature to expect with a cough:")
    print(network.query("temperature", given={"cough": "yes"}))

    seen = network.query("flu", given={"fever": "no"})["yes"]
    done = network.do({"fever": "no"}).query("flu")["yes"]
    print(f"\nNo fever seen: P(flu) = {seen:.4f}. Fever taken away by a pill: P(flu) = {done:.4f}.")

    levels, probability = network.most_probable(["flu", "cold"], given={"fever": "yes", "cough": "yes"})
    print(f"With fever and cough, most probably {levels} ({probability:.2f}).")
    print("\nAs a drawing (Mermaid):")
    print(network.to_mermaid())


if __name__ == "__main__":
    main()
