"""The option ``weights="conditional"`` of classifiers whose terms may be weighted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from merula.classify.base import BayesianClassifier
from merula.classify.fitted import FittedModel
from merula.classify.folds import Folds, Some, canonical_order, deal, some_of_each, uncut
from merula.classify.intervals import PREDICTIVE
from merula.classify.plan import Block, Plan
from merula.core import InputError, Option
from merula.data.encode import Encoded, Target
from merula.data.schema import Column
from merula.engines import Source, encoded
from merula.engines.sampling import some_rows
from merula.stats import Statistic, Wanted

if TYPE_CHECKING:
    from merula.classify.left_out import Held


class WeightedTerms(BayesianClassifier):
    """What classifiers share whose terms may be weighted by conditional likelihood; see `merula.classify.term_weights`."""

    weights: Any

    @property
    def _weighs(self) -> bool:
        return isinstance(self.weights, str) and self.weights == "conditional"

    @property
    def _needs_classes(self) -> str:
        return (
            "its terms are weighted by how well they tell the classes of rows (weights=None does without)"
            if self._weighs
            else ""
        )

    def _check_options(self) -> None:
        super()._check_options()
        if self.weights is not None and not self._weighs:
            raise InputError.of("weights", self.weights, "None or 'conditional'")
        if self._weighs and self.estimate == PREDICTIVE:
            raise InputError((Option("estimate", PREDICTIVE), " averages parameters out, and ", Option("weights", "conditional"), " weights terms by what rows left out of plug-in estimates tell"), where="estimate", got=self.estimate, remedy="leave one of them out")  # fmt: skip

    def _tuned(self, fitted: FittedModel, source: Source) -> FittedModel:
        """The same model with the weights that tell the classes of rows left out best."""
        if not self._weighs:
            return fitted
        from merula.classify.left_out import left_out_terms
        from merula.classify.term_weights import FOLDS, MOST_CELLS, fit_weights

        plan, (component,) = fitted.plan, fitted.components
        source = replace(some_rows(source, "the weights of columns were learned"), named=plan.named)
        rows, target = encoded(source, plan.schema, self.n_jobs)
        most = MOST_CELLS // (len(component.factors) * len(fitted.classes))
        folds, some = self._dealt(plan, source, rows, target, FOLDS, most)
        terms = left_out_terms(self._held(fitted), rows, target, plan.schema, folds, some)
        weights, ridge = fit_weights(terms, fitted.log_prior)
        return fitted.with_weights(weights.tolist(), ridge=ridge)

    def _dealt(
        self, plan: Plan, source: Source, rows: Encoded, target: Target, count: int, most: int
    ) -> tuple[Folds, list[Some]]:
        """Folds of the rows, and of each at most so many rows; by numbers as they are, which tell rows apart that intervals do not."""
        schema = uncut(plan.schema)
        if schema == plan.schema or isinstance(source.table, Encoded):
            fine, schema = rows, plan.schema
        else:
            fine, _ = encoded(replace(source, target=target, weight=None), schema, self.n_jobs)
        folds = deal(fine, target, schema, count)
        return folds, some_of_each(folds, canonical_order(fine, target, schema), most)

    def _held(self, fitted: FittedModel) -> list[Held]:
        """The blocks of a model with every choice held that all rows made."""
        from merula.classify.left_out import Held

        collected = fitted.collected
        assert collected is not None
        found = []
        for block, statistic, part in zip(
            fitted.plan.blocks, collected.blocks, fitted.components[0].parts, strict=True
        ):
            family, wanted = self._as_chosen(block, statistic, part)
            columns = tuple(_declared(fitted.schema[name]) for name in block.columns)
            setting = replace(self._setting(fitted.plan, collected, block), columns=columns)
            found.append(Held(family, wanted, statistic, part, setting))
        return found

    def _as_chosen(self, block: Block, statistic: Statistic, part: Any) -> tuple[Any, Wanted]:
        """The family of a block with what it chose stated, and what it counts."""
        return block.family, block.family.wanted(block.columns)

    def _hold(self, fitted: FittedModel) -> Self:
        """See `BayesianClassifier._hold`; and what the weights are."""
        super()._hold(fitted)
        for name in ("weights_", "ridge_"):
            self.__dict__.pop(name, None)
        if "ridge" in fitted.tuning:
            from merula.classify.term_weights import by_column

            factors = fitted.components[0].factors
            self.weights_ = by_column([one.columns for one, _ in factors], [weight for _, weight in factors])
            self.ridge_ = fitted.tuning["ridge"]
        return self


def _declared(column: Column) -> Column:
    """A column of words whose levels are those it has now."""
    if column.kind != "categorical" or column.levels is None:
        return column
    return replace(column, declared=True, levels=tuple(level for level in column.levels if level is not None))
