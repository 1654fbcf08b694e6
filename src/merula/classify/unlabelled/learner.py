"""The part of every classifier that learns from rows without a class, or says why it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merula.classify.fitted import FittedModel
from merula.classify.plan import Block, Plan
from merula.core import InputError, Option
from merula.distributions import Setting
from merula.engines import Source
from merula.stats import Collected, Wanted


class UnlabelledLearner:
    """What `fit` asks of a classifier where it is given rows without a class; a classifier that learns from them has no reason not to."""

    class_prior: Any
    estimate: Any
    _setting: Callable[[Plan, Collected, Block], Setting]

    @property
    def _needs_classes(self) -> str:
        """Why rows without a class cannot be learned from; empty where they can."""
        return "its estimates are not those of a largest likelihood, which is all that such rows can raise"

    def _learned_with(self, source: Source, unlabelled: Any, weight: Any) -> FittedModel:
        """The model of rows with a class and rows without."""
        if self.estimate == "predictive":
            raise InputError((Option("unlabelled"), " is not for ", Option("estimate", self.estimate), ": rows without a class make estimates likelier, and averaged parameters are no estimates"), where="unlabelled", remedy=("use ", Option("estimate", "plug-in")))  # fmt: skip
        from merula.classify.unlabelled.learning import (
            learn,
        )  # on first use: it knows models that are built on this one

        return learn(self, source, unlabelled, weight)

    def _wanted_again(self, block: Block, statistic: Any) -> Wanted:
        """What a block counts of further rows, once its first statistic is there."""
        wanted: Wanted = block.family.wanted(block.columns)
        return wanted

    def _log_belief(self, fitted: FittedModel) -> float:
        """log P(parameters) up to a constant, of the prior that smoothing is."""
        return self._log_belief_in_classes(fitted) + sum(one or 0.0 for one in self._log_beliefs(fitted))

    def _log_beliefs(self, fitted: FittedModel) -> list[float | None]:
        """The same of each block; None where its estimates are not the likeliest of any prior."""
        collected, plan = fitted.collected, fitted.plan
        assert collected is not None
        parts = zip(plan.blocks, fitted.components[0].parts, collected.blocks, strict=True)
        return [
            block.family.log_belief(part, statistic, self._setting(plan, collected, block))
            if hasattr(block.family, "log_belief")
            else None
            for block, part, statistic in parts
        ]

    def _log_belief_in_classes(self, fitted: FittedModel) -> float:
        """The same of P(class)."""
        laplace = isinstance(self.class_prior, str) and self.class_prior == "laplace"
        return float(fitted.log_prior.sum()) if laplace else 0.0


def refuse_weight_of_nothing(weight: Any) -> None:
    """An error for a weight of rows without a class where there are none."""
    if not (isinstance(weight, str) and weight == "auto"):
        told = Option("unlabelled_weight", weight), " does nothing without ", Option("unlabelled")
        raise InputError(told, where="unlabelled_weight", got=weight, remedy="leave it out")
