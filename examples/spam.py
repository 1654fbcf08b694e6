"""Text, a number and a word in one model: which messages are spam, why, and from when on to act."""

from __future__ import annotations

import pandas as pd

import merula as mr

SPAM = [
    ("win cash now, reply to claim", 3.0, "no"),
    ("free prize! call now to claim", 2.5, "no"),
    ("you have won a free holiday", 4.0, "no"),
    ("cheap loans, reply now", 23.0, "no"),
    ("claim your free cash prize today", 1.0, "no"),
]
HAM = [
    ("see you at lunch", 11.5, "yes"),
    ("are you free tomorrow evening", 18.0, "yes"),
    ("call me when you are home", 19.0, "yes"),
    ("the meeting is moved to monday", 9.0, "yes"),
    ("thanks for the lovely holiday photos", 20.5, "yes"),
    ("running late, start without me", 8.5, "no"),
]


def main() -> None:
    messages = pd.DataFrame([*SPAM, *HAM], columns=["text", "hour", "known sender"])
    sort = ["spam"] * len(SPAM) + ["ham"] * len(HAM)
    model = mr.NaiveBayesClassifier(kinds={"text": "text"}).fit(messages, sort)

    print(mr.explain(model, {"text": "free lunch tomorrow", "hour": 12.0, "known sender": "no"}, label="spam"))

    costs = {"deliver": {"ham": 0, "spam": 1}, "bin": {"ham": 20, "spam": 0}}
    careful = mr.DecisionClassifier(
        mr.NaiveBayesClassifier(kinds={"text": "text"}), costs=costs, reject_cost=0.5, reject_label="flag"
    )
    careful.fit(messages, sort)
    new = pd.DataFrame(
        [("free cash prize, claim now", None, "no"), ("lunch on monday", 12.0, "yes"), ("free holiday", 12.0, None)],
        columns=messages.columns,
    )
    print("\nA lost message costs 20, a delivered spam 1, a flag 0.5:")
    for text, spam, action in zip(new["text"], careful.predict_proba(new)[:, 1], careful.predict(new), strict=True):
        print(f"{text:28} P(spam) = {spam:.4f}  {action}")


if __name__ == "__main__":
    main()
