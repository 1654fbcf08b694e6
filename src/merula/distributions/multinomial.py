"""Text given the class, word by word: multinomial, complement and Bernoulli."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, one_of
from merula.core.logspace import safe_log
from merula.core.sound import all_paired, all_shaped, are_labels, are_logs, within
from merula.data.encode import Encoded, Tokens
from merula.data.encode.tokens import NO_COUNT
from merula.data.schema import Column, Label, sort_labels
from merula.distributions._kernels import add_tokens
from merula.distributions.base import (
    BaseFamily,
    Distribution,
    IndependentColumns,
    Setting,
    log_belief_in_missing,
    missing_terms,
)
from merula.distributions.posteriors import JEFFREYS, Drawing, MissingCells, Posterior, averaged, dirichlet, log_shares
from merula.distributions.priors import MEstimate, Smoothing, checked_smoothing, log_belief
from merula.stats import TokenCounts, Wanted

LARGEST_LOG = 1_000.0  # of what a word adds: minus the logarithm of the smallest probability there is


@dataclass(frozen=True, eq=False, repr=False)
class TokenDistribution(IndependentColumns):
    """``log_table[j][v, c]`` is what word v of text column j adds to the log probability of class c, each time it occurs.

    With `binary` it adds once, however often it occurs. ``constant[c, j]`` is what every text adds. Unknown words add nothing.
    """

    columns: tuple[str, ...]
    vocabularies: tuple[tuple[Label, ...], ...]
    log_table: tuple[Array, ...]
    binary: bool
    constant: Array
    log_missing: Array

    def fits(self, classes: int) -> bool:
        tables = all_paired(self.columns, self.vocabularies, self.log_table, lambda known: (len(known), classes))
        shaped = tables and all_shaped((classes, len(self.columns)), self.constant, self.log_missing)
        sound = shaped and within(-np.inf, LARGEST_LOG, *self.log_table) and are_logs(self.constant, self.log_missing)
        return sound and super().fits(classes) and type(self.binary) is bool and all(map(are_labels, self.vocabularies))

    def reads(self, column: Column) -> bool:
        return column.kind == "text"

    @property
    def width(self) -> int:
        return sum(len(known) for known in self.vocabularies)

    @cached_property
    def _indices(self) -> tuple[dict[Label, int], ...]:
        return tuple({word: index for index, word in enumerate(known)} for known in self.vocabularies)

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        for j, name in enumerate(self.columns):
            tokens = rows.tokens(name)
            # kept with the distribution, so that no other has its id
            indices = rows.remember(("words", name, id(self)), partial(self._known_and_kept, tokens, j))[1]
            fine = add_tokens(
                tokens.starts,
                tokens.codes,
                tokens.counts,
                indices,
                self.log_table[j],
                self.binary,
                tokens.absent,
                np.ascontiguousarray(self.constant[:, j]),
                np.ascontiguousarray(self.log_missing[:, j]),
                out,
            )
            if not fine:
                raise InputError(NO_COUNT)

    def _known_and_kept(self, tokens: Tokens, j: int) -> tuple[TokenDistribution, NDArray[np.int64]]:
        return self, self._known(tokens, j)

    def _known(self, tokens: Tokens, j: int) -> NDArray[np.int64]:
        """Where each word of these rows stands in the vocabulary, −1 if nowhere; empty if they stand as they are."""
        known = self.vocabularies[j]
        if isinstance(tokens.labels, range):
            if len(tokens.labels) != len(known):
                raise InputError.at(
                    "X",
                    f"has {len(tokens.labels)} features, but this model is expecting {len(known)} features as input",
                )
            return np.zeros(0, dtype=np.int64)
        where = self._indices[j]
        return np.array([where.get(word, -1) for word in tokens.labels] or [-1], dtype=np.int64)

    @property
    def parameters_count(self) -> int:
        """Classes × (words − 1) for each column; with `binary`, classes × words."""
        return self.class_count * sum(max(0, len(known) - (not self.binary)) for known in self.vocabularies)


@dataclass(frozen=True)
class Multinomial(BaseFamily):
    """The family of text: P(text given c) = Π_word P(word given c)^count, P(word given c) = (n_cw + α) / (n_c + α·words).

    Parameters
    ----------
    variant : "multinomial", "complement" or "bernoulli"
        "complement" scores a class by the words of all *other* classes (Rennie et al. 2003; sturdier when classes differ in
        size); "bernoulli" asks whether a word occurs, not how often.
    smoothing : None, float or MEstimate
        The pseudo-count α of every word; None takes the classifier's. ``MEstimate(m)`` is α = m / words.

    Examples
    --------
    >>> import merula as mr
    >>> texts = [["win cash now"], ["cash prize"], ["see you at lunch"], ["lunch tomorrow then"]]
    >>> model = mr.NaiveBayesClassifier(kinds="text").fit(texts, ["spam", "spam", "ham", "ham"])
    >>> model.predict([["win a prize"], ["lunch"]]).tolist()
    ['spam', 'ham']
    """

    variant: str = "multinomial"
    smoothing: Any = None
    name: ClassVar[str] = "multinomial"
    kinds: ClassVar[tuple[str, ...]] = ("text",)
    distribution: ClassVar[type[Distribution]] = TokenDistribution

    def wanted(self, columns: Sequence[str]) -> Wanted:
        one_of(self.variant, ("multinomial", "complement", "bernoulli"), "variant")
        return Wanted(TokenCounts, columns, options={"binary": self.variant == "bernoulli"})

    def _smoothing(self, statistic: TokenCounts, setting: Setting) -> Smoothing:
        return setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns)

    def log_belief(self, part: TokenDistribution, statistic: TokenCounts, setting: Setting) -> float | None:
        """log P(parameters) up to a constant, of the Dirichlet or Beta priors that smoothing is; "complement" has no likelihood."""
        if self.variant == "complement":
            return None
        smoothing = self._smoothing(statistic, setting)
        total = log_belief_in_missing(*missing_terms(statistic.present, setting.class_weight, setting), setting)
        for known, table, counts in zip(part.vocabularies, part.log_table, statistic.counts, strict=True):
            pseudo = _pseudo_count(smoothing, max(1, len(known)))
            if self.variant == "bernoulli" and counts.any():  # the table holds log-odds
                total += log_belief(pseudo, -np.stack([np.logaddexp(0, table), np.logaddexp(0, -table)]))
            elif counts.any():
                total += log_belief(pseudo, table)
        return total

    def build(self, statistic: TokenCounts, setting: Setting) -> TokenDistribution:
        smoothing = self._smoothing(statistic, setting)
        present, missing = missing_terms(statistic.present, setting.class_weight, setting)
        constant, known, tables = present.copy(), [], []
        for j in range(len(statistic.columns)):
            words, counts = _ordered(statistic.labels[j], statistic.counts[j])
            pseudo = _pseudo_count(smoothing, max(1, len(words)))
            if not counts.any():  # a batch, or a column, without any word says nothing
                table = np.zeros(counts.shape)
            elif self.variant == "bernoulli":
                table, every = _bernoulli(counts, statistic.present[:, j], pseudo)
                constant[:, j] += every
            else:
                table = (_complement if self.variant == "complement" else _multinomial)(counts, pseudo)
            known.append(tuple(words))
            tables.append(np.ascontiguousarray(table.T))
        return TokenDistribution(
            statistic.columns, tuple(known), tuple(tables), self.variant == "bernoulli", constant, missing
        )

    def predictive(self, statistic: TokenCounts, setting: Setting) -> Distribution:
        self._refuse_complement(setting)
        return replace(self, smoothing=averaged(self.smoothing)).build(statistic, setting)

    def _refuse_complement(self, setting: Setting) -> None:
        if self.variant == "complement":
            raise self.unknown(setting, "weighs a text by the words of other classes (complement), which gives it no probability")  # fmt: skip

    def posterior(self, statistic: TokenCounts, setting: Setting) -> Posterior:
        self._refuse_complement(setting)
        built = self.build(statistic, setting)
        smoothing = setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, built.columns)
        missing = MissingCells.of(built.columns, statistic.present, setting.class_weight, setting)
        named = [built.columns.index(name) for name in sorted(built.columns)]
        met = {j: _ordered(statistic.labels[j], statistic.counts[j])[1] for j in named}
        pseudo = {j: _pseudo_count(smoothing, max(1, len(built.vocabularies[j]))) or JEFFREYS for j in named}
        every = [j for j in named if met[j].any()]  # what has no word says nothing

        def drawn(rng: np.random.Generator) -> TokenDistribution:
            log_present, log_missing = missing.draw(rng)
            constant, tables = log_present.copy(), list(built.log_table)
            for j in every:
                tables[j], more = self._drawn(met[j] + pseudo[j], statistic.present[:, j] + 2 * pseudo[j], rng)
                constant[:, j] += more
            return replace(built, log_table=tuple(tables), constant=constant, log_missing=log_missing)

        told = {built.columns[j]: self._prior(smoothing, len(built.vocabularies[j])) for j in named}
        return Drawing(told, drawn)

    def _drawn(self, cells: Array, texts: Array, rng: np.random.Generator) -> tuple[Array, Array | float]:
        """What each word adds, words × classes, and what every text does, drawn from what was counted and imagined."""
        if self.variant != "bernoulli":
            return np.ascontiguousarray(log_shares(cells, rng, axis=1).T), 0.0
        held, lacked = log_shares(np.stack([cells, texts[:, None] - cells]), rng, axis=0)
        return np.ascontiguousarray((held - lacked).T), lacked.sum(axis=1)

    def _prior(self, smoothing: Smoothing, words: int) -> str:
        told = dirichlet(smoothing)
        return told if self.variant != "bernoulli" else f"{told} (each word: held or not)"


def _ordered(labels: Sequence[Label], counts: Array) -> tuple[Sequence[Label], Array]:
    """Words that were met, sorted; the numbered words of a sparse matrix as they stand."""
    if isinstance(labels, range) or (len(labels) and not isinstance(labels[0], str)):
        return labels, counts
    total = counts.sum(axis=0).tolist()
    order = sort_labels([word for word, weight in zip(labels, total, strict=True) if weight])
    where = {word: index for index, word in enumerate(labels)}
    return order, counts[:, [where[word] for word in order]]


def _pseudo_count(smoothing: Smoothing, words: int) -> float:
    if not isinstance(smoothing, MEstimate):
        return float(smoothing)
    if smoothing.p is not None:
        raise InputError.at("text", "takes MEstimate(m) without p: its prior belief is the same for every word")
    return float(smoothing.m) / words


def _multinomial(counts: Array, pseudo: float) -> Array:
    """log P(word given class); a class without any word takes all classes' counts."""
    total = counts + pseudo
    total[total.sum(axis=1) == 0] = counts.sum(axis=0)
    return safe_log(total / total.sum(axis=1, keepdims=True))


def _complement(counts: Array, pseudo: float) -> Array:
    """Minus log P(word given any other class)."""
    others = counts.sum(axis=0) - counts + pseudo
    with np.errstate(divide="ignore", invalid="ignore"):
        share = others / others.sum(axis=1, keepdims=True)
    if not (share > 0).all():
        raise InputError(
            "a word occurs in one class only, which the complement variant cannot weigh", remedy="use smoothing > 0"
        )
    return -np.log(share)


def _bernoulli(counts: Array, texts: Array, pseudo: float) -> tuple[Array, Array]:
    """log-odds of each word's occurring, and log P(no word occurs), given each class."""
    total = texts[:, None] + 2 * pseudo
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, (counts + pseudo) / total, counts.sum(axis=0) / texts.sum())
    if ((share <= 0) | (share >= 1)).any():
        raise InputError(
            "a word occurs in all or none of a class's texts, which the Bernoulli variant cannot weigh",
            remedy="use smoothing > 0",
        )
    return np.log(share) - np.log1p(-share), np.log1p(-share).sum(axis=1)
