"""How sure a model is of its answers: models drawn from what the rows make believe of the parameters, asked as the model itself is.

A drawn model has the same terms in the same shape, with other parameters. What all of them answer for a row is how P(class given row)
is distributed, and an interval holds the middle of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from merula.classify.fitted import Component, FittedModel
from merula.classify.plan import Block, Plan, family_key
from merula.core import Array, InputError, warn_of
from merula.core.checks import checked_generator, checked_number
from merula.core.logspace import to_posterior
from merula.core.threads import for_each_block
from merula.data.encode import Encoded
from merula.distributions import Distribution, Setting
from merula.distributions.posteriors import JEFFREYS, Posterior, log_shares
from merula.stats import Collected

PLUG_IN, PREDICTIVE = "plug-in", "predictive"  # estimates of parameters, or none: they are averaged out
DRAWS, MOST_DRAWS = 500, 1_000_000
SCORED = 16_384  # rows asked of one drawn model at once
AT_ONCE = 2**23  # answers that are kept for quantiles by one thread
SORTED = 2**17  # answers that are sorted at once: they stay in the processor's own memory
AS_STATED = "as stated, not drawn"
WEIGHED = "its weights come from all rows together, and what was counted does not tell how sure they are"
INSTEAD = "fit it on rows weighed at random (sample_weight=rng.exponential(size=len(X))) some dozen times and compare the answers, or ask a model without weights"  # fmt: skip


@dataclass(frozen=True, eq=False)
class ClassBelief:
    """What is believed of P(class): a Dirichlet distribution, or, without a concentration, that it is as the model has it."""

    log_prior: Array
    concentration: Array | None = None
    prior: str = AS_STATED

    @classmethod
    def of(cls, option: Any, weight: Array, log_prior: Array) -> ClassBelief:
        """What the option `class_prior` lets one believe of classes that were met with this weight."""
        if not isinstance(option, str) or option not in ("empirical", "laplace"):
            return cls(log_prior)
        rows = 1.0 if option == "laplace" else JEFFREYS
        told = "Dirichlet with 1 imaginary row of each class" if rows == 1 else "Dirichlet with 0.5 imaginary row of each class (Jeffreys)"  # fmt: skip
        return cls(log_prior, weight + rows, told)

    def draw(self, rng: np.random.Generator) -> Array:
        """log P(class)."""
        return self.log_prior if self.concentration is None else log_shares(self.concentration, rng)


@dataclass(frozen=True, eq=False)
class ModelPosterior:
    """What is believed of all parameters of one plain sum: of the classes', and of each block's."""

    fitted: FittedModel
    classes: ClassBelief
    blocks: tuple[Posterior, ...]

    @property
    def priors(self) -> dict[str, str]:
        """What was believed of each column before its rows."""
        return {name: told for block in self.blocks for name, told in block.priors.items()}

    def draws(self, rng: np.random.Generator) -> Iterator[FittedModel]:
        """Models as probable as the rows and the priors make them, without end; blocks in an order that does not depend on their columns."""
        blocks = self.fitted.plan.blocks
        order = sorted(range(len(blocks)), key=lambda k: family_key(blocks[k].family))
        streams = [self.blocks[k].draws(rng) for k in order]
        parts: list[Any] = [None] * len(order)
        while True:
            log_prior = self.classes.draw(rng)
            for k, stream in zip(order, streams, strict=True):
                parts[k] = next(stream)
            yield replace(self.fitted, log_prior=log_prior, components=(Component(log_prior, tuple(parts)),))


class Intervals:
    """The part of every classifier that tells how sure it is, or why it cannot."""

    fitted_: FittedModel
    class_prior: Any
    n_jobs: Any
    _setting: Callable[[Plan, Collected, Block], Setting]
    _encoded: Callable[[Any], Encoded]
    _notes: Callable[..., Any]

    def predict_interval(
        self, X: Any, level: float = 0.9, *, draws: int = DRAWS, random_state: Any = None
    ) -> NDArray[np.float64]:
        """Credible intervals of P(class given row): array of shape (n_samples, n_classes, 2), lower ends first.

        Parameters
        ----------
        X : table, as for `predict_proba`
        level : float
            How probable it is that P(class given row) lies within, between 0 and 1; what is left is shared by both sides.
        draws : int
            How many models are drawn. Each is asked for every row, and ends are quantiles of what they answer.
        random_state : None, int or Generator
            The same number gives the same intervals, for any number of threads and rows in any order.

        Notes
        -----
        Models are drawn from what was counted: P(class) and tables from Dirichlet distributions, means and variances from
        normal–inverse-gamma distributions, and so on; `parameter_priors` says what was believed before the rows. Which columns depend
        on which, where numbers are cut and which families were chosen is taken as the model has it. An interval tells what more rows
        from the same source would settle, not whether the model suits them.

        A model whose parameters have no posterior that statistics tell, such as weights, kernels and neighbours, is an error that says so.

        Examples
        --------
        >>> import merula as mr
        >>> fruit, ripe = [["red"]] * 3 + [["green"]] * 3, ["yes", "yes", "no", "no", "no", "yes"]
        >>> few = mr.NaiveBayesClassifier().fit(fruit, ripe)
        >>> many = mr.NaiveBayesClassifier().fit(fruit * 100, ripe * 100)
        >>> [model.predict_proba([["red"]]).round(2).tolist() for model in (few, many)]
        [[[0.4, 0.6]], [[0.33, 0.67]]]
        >>> few.predict_interval([["red"]], random_state=0).round(2).tolist()[0]  # of "no", of "yes"
        [[0.07, 0.8], [0.2, 0.93]]
        >>> many.predict_interval([["red"]], random_state=0).round(2).tolist()[0]
        [[0.29, 0.38], [0.62, 0.71]]
        """
        check_is_fitted(self, "classes_")
        rows = self._encoded(X)
        found = self._intervals(rows, level, draws, random_state)
        _, impossible = self.fitted_.score(rows, to_posterior, self.n_jobs)
        warn_of(self._notes(rows, impossible))
        return found

    def _intervals(self, rows: Encoded, level: float, draws: int, random_state: Any) -> NDArray[np.float64]:
        """The same of encoded rows, of which nothing is noted."""
        share = float(checked_number(level, "level", "a number between 0 and 1", lambda share: 0 < share < 1))
        count = int(checked_number(draws, "draws", f"a whole number from 2 to {MOST_DRAWS:,}", lambda count: 2 <= count <= MOST_DRAWS, whole=True))  # fmt: skip
        seed = int(checked_generator(random_state).integers(2**62))
        return _quantiles(self._posterior(), rows.apart(), share, count, seed, self.n_jobs)

    def parameter_priors(self) -> dict[str, str]:
        """What `predict_interval` takes to be believed of the parameters before the rows: for the class (under None) and each column.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier(smoothing=0).fit([["red"], ["red"], ["blue"]], ["ripe", "ripe", "unripe"])
        >>> model.parameter_priors()["x0"]
        'Dirichlet with 0.5 imaginary row in each cell (Jeffreys)'
        >>> model.with_class_prior("uniform").parameter_priors()[None]
        'as stated, not drawn'
        """
        check_is_fitted(self, "classes_")
        found = self._posterior()
        return {None: found.classes.prior, **found.priors}  # type: ignore[dict-item]

    @property
    def _no_posterior(self) -> str:
        """Why there is nothing to draw models from; empty where there is."""
        model: Any = self  # what gives no P(row) is a property of another part of it
        if model._no_joint:
            return f"{WEIGHED}; {INSTEAD}"
        collected = self.fitted_.collected
        if collected is None:
            return "its probabilities were stated, not counted, so that nothing tells how sure they are"
        if collected.shared:  # also where it was merged, faded or given another prior since
            return "it shares rows without a class out by expectation-maximisation, which does not tell how sure the shares are; fit it without them"
        return ""

    def _posterior(self) -> ModelPosterior:
        """What is believed of this model's parameters; an error that says why, where nothing is."""
        if why := self._no_posterior:
            raise InputError(f"{type(self).__name__} gives no intervals here: {why}")
        fitted, collected = self.fitted_, self.fitted_.collected
        assert collected is not None
        plan = fitted.plan
        pairs = zip(plan.blocks, collected.blocks, strict=True)
        blocks = tuple(block_posterior(block, part, self._setting(plan, collected, block)) for block, part in pairs)
        belief = ClassBelief.of(self.class_prior, collected.class_counts.weight, fitted.log_prior)
        return ModelPosterior(fitted, belief, blocks)


def block_posterior(block: Block, statistic: Any, setting: Setting) -> Posterior:
    """What is believed of a block's parameters; an error where its family does not tell."""
    if not hasattr(block.family, "posterior"):
        raise InputError.at(f"column {block.columns[0]!r}", f"has no posterior of its parameters: {block.family.name!r} defines none")  # fmt: skip
    found: Posterior = block.family.posterior(statistic, setting)
    return found


def block_predictive(block: Block, statistic: Any, setting: Setting) -> Distribution:
    """A block's distribution with its parameters averaged out; an error where its family cannot."""
    if not hasattr(block.family, "predictive"):
        raise InputError.at(f"column {block.columns[0]!r}", f"has no posterior of its parameters: {block.family.name!r} defines none")  # fmt: skip
    found: Distribution = block.family.predictive(statistic, setting)
    return found


def drawn_answers(posterior: Any, rows: Encoded, draws: int, seed: int) -> Array:
    """P(class given row) by each of so many models drawn: draws × rows × classes."""
    rng = np.random.default_rng(seed)
    found = np.empty((draws, len(rows), len(posterior.fitted.classes)))
    for k, model in zip(range(draws), posterior.draws(rng), strict=False):
        model.write_log_joint(rows.apart(), found[k])
        to_posterior(found[k], model.log_prior)
    return found


def ends_of(answers: Array, level: float) -> Array:
    """Both ends of the middle of what was answered, rows × classes × 2; of two classes, one is what the other leaves."""
    draws, rows, classes = answers.shape
    cells = (answers[:, :, :1] if classes == 2 else answers).reshape(draws, -1)
    size = max(1, SORTED // draws)
    ends = np.concatenate([_middle(cells[:, start : start + size], level) for start in range(0, cells.shape[1], size)])
    ends = ends.reshape(rows, -1, 2)
    return np.concatenate([ends, 1 - ends[:, :, ::-1]], axis=1) if classes == 2 else ends


def _middle(answers: Array, level: float) -> Array:
    """Two quantiles of each column of draws × cells, as NumPy's method "weibull" has them: cells × 2.

    Between the k-th and the l-th of n draws one more lies with probability (l − k) / (n + 1): so intervals hold what they say they do.
    All draws of a cell are sorted, in the processor's vector instructions, which is faster than to look for two of them.
    """
    ordered: Array = np.array(answers.T, order="C")
    ordered.sort(axis=1)
    last = len(answers) - 1
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    place = np.clip((last + 2) * shares - 1, 0, last)
    rank = np.minimum(place.astype(np.int64), last - 1)
    return np.asarray(ordered[:, rank] + (place - rank) * (ordered[:, rank + 1] - ordered[:, rank]))


def _quantiles(posterior: Any, rows: Encoded, level: float, draws: int, seed: int, n_jobs: int | None) -> Array:
    """The ends for every row; each part of the rows is asked of the same models, drawn again."""
    classes = len(posterior.fitted.classes)
    size = min(max(1, AT_ONCE // (draws * classes)), SCORED)
    out = np.empty((len(rows), classes, 2))

    def part(start: int) -> None:
        stop = min(start + size, len(rows))
        out[start:stop] = ends_of(drawn_answers(posterior, rows.tile(start, stop), draws, seed), level)

    for_each_block(part, len(rows), n_jobs, size)
    return out
