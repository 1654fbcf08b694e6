"""The compiled loops behind tables of log terms: one fold's model grown round by round, and the twin's terms; plain and serial.

Cases are known by codes (columns × cases), −1 where nothing is known. Scores are rows × one number where there are two classes
(the log-odds of the second), rows × classes where there are more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.classify.log_linear._answers import add_tables, share_of_yes
from merula.core import Array
from merula.core.compiled import inner, kernel
from merula.core.exponential import exp_in_place

Codes = NDArray[np.int32]
Places = NDArray[np.int64]
Sums = NDArray[np.float32]
RATE, FASTER, FASTEST = (
    0.1,
    200.0,
    3.0,
)  # of learning: at first, the rounds after which it has doubled, and at most so many times the first
NOISE = 0.3  # a question's score counts up to so much more, by chance
PATIENCE, BETTER = 50, 1e-4  # rounds without so much less loss, until no more are tried
LEFT = -2  # less its cell: where a row stood that does not know the answer to the next question
NOTHING = 1e-9  # curvature of a cell that no row is in
ROWS_AT_ONCE = 64
SIDE_BY_SIDE = 8  # columns that are counted in one pass over rows: their tables stay in the nearest cache


class Grid(NamedTuple):
    """What questions can be asked of each column: its codes, its coarse codes, how many of these, the first code of each, whether it has gaps."""

    codes: Codes
    coarse: NDArray[np.int16]
    bins: Places
    first: Places
    is_word: NDArray[np.bool_]
    gaps: NDArray[np.bool_]


class Packed(NamedTuple):
    """Rows to be counted: which case each is, its cell, its sums of derivatives."""

    place: Places
    cell: Places
    sums: Sums


class Rows(NamedTuple):
    """The rows of a round: which case each is, weights, sums of derivatives (slopes, then curvature), curvature by class, cell in the table."""

    place: Places
    weight: Array
    sums: Sums
    curved: Sums
    cell: Places


class Sides(NamedTuple):
    """Sums of one cell by the answer that a question ends with, or asks for: of a class's slopes, of curvature; squares on both sides."""

    part: Array
    curved: Array
    yes: Array
    no: Array


class Memory(NamedTuple):
    """What one fold's rounds write to.

    Rows, those to be counted and those lost, which these are, the columns in the order drawn, tables of counts, of half of them for a
    few columns and of one column's codes, sums over a cell, scores, probabilities, and what chance depends on, in a round and for a row.
    """

    rows: Rows
    given: Packed
    lost: Packed
    side: Places
    dropped: Places
    order: Places
    tables: NDArray[np.float32]
    parts: NDArray[np.float32]
    fine: Sums
    sides: Sides
    scores: Array
    chances: Array
    state: NDArray[np.uint64]
    own: NDArray[np.uint64]


def memory_for(grid: Grid, width: int, order: int, drawn: int, seed: Any) -> Memory:
    """Memory for scores of so many numbers a case, tables of so many questions, and so many columns a round."""
    cases, w, half = grid.codes.shape[1], width + 1, (1 << order) // 2
    widest, pair = int(grid.bins.max()) + 1, _widest_pair(grid) + 2

    def places() -> Places:
        return np.zeros(cases, dtype=np.int64)

    def sums(*shape: int) -> NDArray[np.float32]:
        return np.zeros((*shape, w), dtype=np.float32)

    rows = Rows(places(), np.zeros(cases), sums(cases), np.zeros((cases, width), dtype=np.float32), places())
    given, lost = Packed(places(), places(), sums(cases)), Packed(places(), places(), sums(cases))
    tables, parts, fine = (
        sums(drawn, half * widest),
        sums(min(drawn, SIDE_BY_SIDE), max(half // 2, 1) * widest),
        sums(half * pair),
    )
    answers = max(widest, pair)
    sides = Sides(np.zeros(answers), np.zeros(answers), np.zeros(answers), np.zeros(answers))
    scores, chances = np.zeros(answers), np.zeros((cases, width))
    return Memory(rows, given, lost, places(), places(), np.arange(len(grid.bins)), tables, parts, fine, sides, scores, chances, np.array([seed], dtype=np.uint64), np.zeros(1, dtype=np.uint64))  # fmt: skip


def _widest_pair(grid: Grid) -> int:
    """The most codes that two neighbouring coarse ones have together, over all columns of numbers."""
    spans = [grid.first[j, min(b + 2, bins)] - grid.first[j, b] for j, bins in enumerate(grid.bins.tolist()) if not grid.is_word[j] for b in range(bins - 1)]  # fmt: skip
    return int(max(spans, default=2))


@kernel
def uniform(state: NDArray[np.uint64]) -> Any:
    """The next number from 0 up to 1 (splitmix64: Steele, Lea & Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@inner
def _draw_rows(train: Array, hashes: NDArray[np.uint64], share: float, memory: Memory) -> Any:
    """Each unit of weight with this chance, which depends on the round and on what the row holds; the number of rows drawn."""
    count, rows, state = 0, memory.rows, memory.own
    turn = np.uint64(uniform(memory.state) * 2.0**53)
    for i in range(len(train)):
        weight = train[i]
        if weight > 0 and share < 1:
            state[0] = hashes[i] ^ turn
            whole, left = int(weight), weight - int(weight)
            weight = 0.0
            for _ in range(whole):
                weight += 1.0 if uniform(state) < share else 0.0
            if left > 0 and uniform(state) < share:
                weight += left
        if weight > 0:
            rows.place[count] = i
            rows.weight[count] = weight
            count += 1
    return count


@inner
def _derive(scores: Array, labels: Places, count: int, rows: Rows, chances: Array) -> Any:
    """Write the derivatives of the log likelihood of each row; back comes the mean curvature p(1 − p).

    Where there are more than two classes, a row's curvature in the choice of questions is the mean one.
    """
    width = scores.shape[1]
    for e in range(count):
        i = rows.place[e]
        highest = scores[i, 0]
        for c in range(1, width):
            highest = max(highest, scores[i, c])
        for c in range(width):
            chances[e, c] = scores[i, c] - highest if width > 1 else -abs(scores[i, 0])
    exp_in_place(chances[:count])
    total, heavy = 0.0, 0.0
    for e in range(count):
        i, weight = rows.place[e], rows.weight[e]
        heavy += weight
        below = 0.0
        for c in range(width):
            below += chances[e, c]
        for c in range(width):
            p = chances[e, c] / below
            if width == 1:
                p = (1.0 if scores[i, 0] > 0 else chances[e, 0]) / (1.0 + chances[e, 0])
            own = labels[i] == (c if width > 1 else 1)
            rows.sums[e, c] = weight * ((1.0 if own else 0.0) - p)
            rows.curved[e, c] = weight * p * (1.0 - p)
            total += weight * p * (1.0 - p)
    mean = total / max(heavy * width, 1e-300)
    for e in range(count):
        rows.sums[e, width] = rows.curved[e, 0] if width == 1 else mean * rows.weight[e]
    return mean


@inner
def _pack(rows: Rows, members: Places, count: int, packed: Packed) -> None:
    """Some rows side by side, each with the cell that it was in before the last question."""
    width = rows.sums.shape[1]
    for u in range(count):
        e = members[u]
        cell = rows.cell[e]
        packed.place[u] = rows.place[e]
        packed.cell[u] = cell >> 1 if cell >= 0 else LEFT - cell
        for c in range(width):
            packed.sums[u, c] = rows.sums[e, c]


@inner
def _count(coarse: NDArray[np.int16], columns: Places, bins: Places, packed: Packed, count: int, tables: NDArray[np.float32], sign: float) -> None:  # fmt: skip
    """Add the sums of rows to (or take them from) where their cell and their answer stand in the tables of some columns.

    A sum waits for the one before it in the same place. Where there are two classes, which is little to do meanwhile, columns are
    counted side by side: those of another table need not wait.
    """
    width = tables.shape[2]
    if width == 2:
        for u in range(count):
            place, cell = packed.place[u], packed.cell[u]
            for a in range(len(columns)):
                b = coarse[columns[a], place]
                if b >= 0:
                    at = cell * (bins[columns[a]] + 1) + b
                    tables[a, at, 0] += sign * packed.sums[u, 0]
                    tables[a, at, 1] += sign * packed.sums[u, 1]
        return
    for a in range(len(columns)):
        codes, table, answers = coarse[columns[a]], tables[a], bins[columns[a]] + 1
        for u in range(count):
            b = codes[packed.place[u]]
            if b >= 0:
                at = packed.cell[u] * answers + b
                for c in range(width):
                    table[at, c] += sign * packed.sums[u, c]


@inner
def _split(table: Sums, side: Sums, cells: int, bins: int, answer: int) -> None:
    """Each cell's sums as those of the rows that gave the answer, which are known, and of the others, which is what they leave."""
    width = table.shape[1]
    for cell in range(cells - 1, -1, -1):  # from the last: halves are written at or behind where the whole stood
        for b in range(bins + 1):
            whole, given, others = cell * (bins + 1) + b, (2 * cell + answer) * (bins + 1) + b, (2 * cell + 1 - answer) * (bins + 1) + b  # fmt: skip
            for c in range(width):
                before, part = table[whole, c], side[whole, c]
                table[given, c] = part
                table[others, c] = before - part


@inner
def _reach(table: Sums, start: int, c: int, bins: int, is_word: bool, part: Array) -> Any:
    """part[b] = what the rows of a cell sum up to that answer b, or up to it where answers are in order; back comes the sum of all."""
    total = 0.0
    for b in range(bins):
        total += table[start + b, c]
        part[b] = table[start + b, c] if is_word else total
    return total + table[start + bins, c]


@inner
def _score(table: Sums, cells: int, bins: int, is_word: bool, ridge: float, sides: Sides, scores: Array) -> None:
    """scores[b] = Σ_cell Σ_class G² / (H + ridge) of both answers to the question that ends with answer b, or asks for it."""
    slopes, asked = table.shape[1] - 1, bins if is_word else bins - 1
    part, curved, yes, no = sides.part, sides.curved, sides.yes, sides.no
    scores[:asked] = 0.0
    for cell in range(cells):
        start = cell * (bins + 1)
        heavy = _reach(table, start, slopes, bins, is_word, curved)
        if heavy <= NOTHING:
            continue
        for b in range(asked):
            yes[b] = no[b] = 0.0
        for c in range(slopes):
            known = _reach(table, start, c, bins, is_word, part)
            for b in range(asked):
                yes[b] += part[b] * part[b]
                no[b] += (known - part[b]) ** 2
        for b in range(asked):
            scores[b] += yes[b] / (max(curved[b], 0.0) + ridge) + no[b] / (max(heavy - curved[b], 0.0) + ridge)


@inner
def _best(scores: Array, count: int, state: NDArray[np.uint64]) -> Any:
    """The highest score with its noise, the same without, and its place."""
    found, plain, place = -1.0, -1.0, -1
    for b in range(count):
        value = scores[b] * (1.0 + NOISE * uniform(state))
        if value > found:
            found, plain, place = value, scores[b], b
    return found, plain, place


@inner
def _count_codes(codes: Codes, low: int, bins: int, rows: Rows, count: int, cells: int, fine: Sums) -> None:
    """Count the rows by cell and code from `low` on: one answer for all below (the first), one each, one for all above."""
    fine[: cells * (bins + 1)] = 0.0
    for e in range(count):
        cell, code = rows.cell[e], codes[rows.place[e]]
        if cell >= 0 and code >= 0:
            at = cell * (bins + 1) + min(max(code - low + 1, 0), bins)
            for c in range(fine.shape[1]):
                fine[at, c] += rows.sums[e, c]


@inner
def _answer(codes: Codes, cut: int, is_word: bool, rows: Rows, count: int, side: Places, dropped: Places) -> Any:
    """Put each row into its cell after one more question; the rarer answer, how many rows gave it, how many know none."""
    yes, alive, lost, members = 0, 0, 0, 0
    for e in range(count):
        if rows.cell[e] < 0:
            continue
        code = codes[rows.place[e]]
        if code < 0:
            rows.cell[e] = LEFT - rows.cell[e]
            dropped[lost] = e
            lost += 1
            continue
        says = (code == cut) if is_word else (code <= cut)
        rows.cell[e] = 2 * rows.cell[e] + (1 if says else 0)
        yes += 1 if says else 0
        alive += 1
    answer = 1 if 2 * yes <= alive else 0
    for e in range(count):
        if rows.cell[e] >= 0 and rows.cell[e] & 1 == answer:
            side[members] = e
            members += 1
    return answer, members, lost


@inner
def _draw_columns(order: Places, count: int, state: NDArray[np.uint64]) -> None:
    """Put so many columns, drawn by chance, in front of the others."""
    for a in range(count):
        b = a + int(uniform(state) * (len(order) - a))
        order[a], order[b] = order[b], order[a]


@inner
def _update(grid: Grid, columns: Places, whole: Packed, given: Packed, lost: Packed, depth: int, last: Places, tables: NDArray[np.float32], parts: NDArray[np.float32]) -> None:  # fmt: skip
    """Count the answers of some columns by cell: of all rows at first; then of the last question's rarer side alone, by subtraction.

    ``last`` is which answer was rarer, how many rows gave it, and how many did not know it and are lost.
    """
    if depth == 0:
        for a in range(len(columns)):
            tables[a, : grid.bins[columns[a]] + 1] = 0.0
        _count(grid.coarse, columns, grid.bins, whole, last[1], tables, 1.0)
        return
    before = 1 << (depth - 1)
    _count(grid.coarse, columns, grid.bins, lost, last[2], tables, -1.0)
    for a in range(len(columns)):
        parts[a, : before * (grid.bins[columns[a]] + 1)] = 0.0
    _count(grid.coarse, columns, grid.bins, given, last[1], parts, 1.0)
    for a in range(len(columns)):
        _split(tables[a], parts[a], before, grid.bins[columns[a]], last[0])


@inner
def _reached(rows: Rows, count: int, cells: int, ridge: float) -> Any:
    """The score of the table as it stands: Σ_cell Σ_class G² / (H + ridge)."""
    width = rows.sums.shape[1]
    total, score = np.zeros((cells, width)), 0.0
    for e in range(count):
        if rows.cell[e] >= 0:
            for c in range(width):
                total[rows.cell[e], c] += rows.sums[e, c]
    for cell in range(cells):
        for c in range(width - 1):
            score += total[cell, c] ** 2 / (max(total[cell, width - 1], 0.0) + ridge)
    return score


@inner
def _fill(rows: Rows, count: int, ridge: float, rate: float, values: Array) -> None:
    """A cell's value: rate · G / (H + ridge) for each class."""
    cells, width = values.shape
    slope, curved = np.zeros((cells, width)), np.zeros((cells, width))
    for e in range(count):
        if rows.cell[e] >= 0:
            for c in range(width):
                slope[rows.cell[e], c] += rows.sums[e, c]
                curved[rows.cell[e], c] += rows.curved[e, c]
    for cell in range(cells):
        for c in range(width):
            values[cell, c] = rate * slope[cell, c] / (curved[cell, c] + ridge)


@kernel
def loss_of(scores: Array, labels: Places, weight: Array) -> Any:
    """−Σ weight · log P(own class) of the cases that have a weight."""
    total, width = 0.0, scores.shape[1]
    for i in range(len(labels)):
        if weight[i] <= 0:
            continue
        if width == 1:
            odds = scores[i, 0] if labels[i] == 1 else -scores[i, 0]
            total += weight[i] * (np.log1p(np.exp(-abs(odds))) + max(-odds, 0.0))
        else:
            highest, below = scores[i, 0], 0.0
            for c in range(1, width):
                highest = max(highest, scores[i, c])
            for c in range(width):
                below += np.exp(scores[i, c] - highest)
            total += weight[i] * (np.log(below) + highest - scores[i, labels[i]])
    return total


@inner
def _ask(grid: Grid, count: int, order: int, drawn: int, ridge: float, memory: Memory, asked: Codes, cuts: Codes) -> Any:  # fmt: skip
    """Ask one question after the other, each the best given those before; how many were asked.

    A cut of numbers is looked for among coarse codes first, then among the codes of the two neighbouring coarse ones.
    """
    rows, last, scores, state = memory.rows, np.array([0, count, 0]), memory.scores, memory.state
    whole = Packed(rows.place, rows.cell, rows.sums)
    rows.cell[:count] = 0
    for depth in range(order):
        cells, highest, score, column, cut = 1 << depth, -1.0, -1.0, 0, 0
        blocks = -(-drawn // SIDE_BY_SIDE)
        for block in range(blocks):
            start, stop = block * drawn // blocks, (block + 1) * drawn // blocks
            _update(grid, memory.order[start:stop], whole, memory.given, memory.lost, depth, last, memory.tables[start:stop], memory.parts)  # fmt: skip
        for a in range(drawn):
            j = memory.order[a]
            bins, is_word = grid.bins[j], grid.is_word[j]
            _score(memory.tables[a], cells, bins, is_word, ridge, memory.sides, scores)
            value, plain, place = _best(scores, bins if is_word else bins - 1, state)
            if value > highest:
                highest, score, column, cut = value, plain, j, place
        if depth > 0 and grid.gaps[column] and score < _reached(rows, count, cells, ridge):
            return depth  # it would take more from rows that do not know the answer than it gives to the others
        codes, is_word = grid.codes[column], grid.is_word[column]
        if not is_word:
            low, high = grid.first[column, cut], grid.first[column, min(cut + 2, grid.bins[column])]
            cut, bins = low, high - low + 1
            if bins > 3:
                _count_codes(codes, low, bins, rows, count, cells, memory.fine)
                _score(memory.fine, cells, bins, is_word, ridge, memory.sides, scores)
                scores[0] = -1.0  # a cut below all of these codes is none of these
                cut = low - 1 + _best(scores, bins - 1, state)[2]
        asked[depth], cuts[depth] = column, cut
        last[0], last[1], last[2] = _answer(codes, cut, is_word, rows, count, memory.side, memory.dropped)
        _pack(rows, memory.side, last[1], memory.given)
        _pack(rows, memory.dropped, last[2], memory.lost)
    return order


@inner
def _share_yes(grid: Grid, weight: Array, columns: Codes, cuts: Codes, depth: int, shares: Array) -> None:
    """The share of yes to each question of a table, if one of them is of a column that has gaps."""
    gaps = False
    for k in range(depth):
        gaps = gaps or grid.gaps[columns[k]]
    for k in range(depth if gaps else 0):
        shares[k] = share_of_yes(grid.codes[columns[k]], cuts[k], grid.is_word[columns[k]], weight)


@kernel
def grow(grid: Grid, labels: Places, hashes: NDArray[np.uint64], weight: Array, train: Array, held: Array, scores: Array, memory: Memory, rounds: int, order: int, row_share: float, drawn: int, lowest: float) -> Any:  # fmt: skip
    """One fold's tables: columns, cuts, depths and values by round; and the loss of the held-out weight before each and after the last.

    Every round draws rows and columns, asks `order` questions, and adds the table of their answers to the scores, which start at the
    log prior; answers that are not known are averaged out, as all of the weight gives them. The ridge falls with the curvature that is
    left, but not below its `lowest` share.
    """
    width, first, best, since, done = scores.shape[1], 0.0, np.inf, 0, 0
    asked, cuts = np.zeros((rounds, order), dtype=np.int32), np.zeros((rounds, order), dtype=np.int32)
    depths, values, loss = np.zeros(rounds, dtype=np.int32), np.zeros((rounds, 1 << order, width)), np.zeros(rounds + 1)
    shares = np.zeros((1, order))
    loss[0] = loss_of(scores, labels, held)
    for t in range(rounds):
        count = _draw_rows(train, hashes, row_share, memory)
        mean = _derive(scores, labels, count, memory.rows, memory.chances)
        first = mean if t == 0 else first
        ridge = max(mean / max(first, 1e-300), lowest) if lowest < 1 else 1.0
        _draw_columns(memory.order, drawn, memory.state)
        depths[t] = _ask(grid, count, order, drawn, ridge, memory, asked[t], cuts[t])
        _fill(memory.rows, count, ridge, RATE * min(1.0 + t / FASTER, FASTEST), values[t, : 1 << depths[t]])
        done = t + 1
        _share_yes(grid, weight, asked[t], cuts[t], depths[t], shares[0])
        add_tables(
            grid.codes, asked[t:done], cuts[t:done], depths[t:done], values[t:done], shares, grid.is_word, scores
        )
        loss[done] = loss_of(scores, labels, held)
        since += 1
        if loss[done] < best * (1.0 - BETTER):
            best, since = loss[done], 0
        if since >= PATIENCE:
            break
    return asked[:done], cuts[:done], depths[:done], values[:done], loss[: done + 1]


class Quadratic(NamedTuple):
    """Numbers and their products: means and deviations; what each adds if known, times z, times z², and if missing; pairs; Σ of all constants.

    Weights are columns × classes, or pairs × classes; ``known`` is less 0 where being missing is an answer.
    """

    center: Array
    scale: Array
    known: Array
    linear: Array
    square: Array
    missing: Array
    pairs: NDArray[np.int32]
    middle: Array
    products: Array
    constant: Array


@kernel
def add_quadratic(x: NDArray[Any], terms: Quadratic, farthest: float, grid: float, out: Array) -> int:
    """Add constant + Σ_j z_j · (linear + square · z_j) + Σ_pair product · (z_i · z_j − middle) to each row and class.

    z is (x − center) / scale within ±farthest, rounded to 1/grid. Some rows at a time, as if complete, z of a missing number 0; then
    what they lack is put right. −1 comes back, or a column that holds infinity.
    """
    classes, columns = out.shape[1], x.shape[1]
    z, total, infinite = np.zeros((columns, ROWS_AT_ONCE)), np.empty((classes, ROWS_AT_ONCE)), -1
    for start in range(0, len(x), ROWS_AT_ONCE):
        count, lost = min(ROWS_AT_ONCE, len(x) - start), 0
        for j in range(columns):
            endless, center, scale, own = 0, terms.center[j], terms.scale[j], z[j]
            for row in range(count):
                own[row] = x[start + row, j]
            for row in range(ROWS_AT_ONCE):
                endless += 1 if abs(own[row]) == np.inf else 0
                away = (own[row] - center) / scale
                away = -farthest if away < -farthest else away
                away = farthest if away > farthest else away
                lost += 1 if away != away else 0
                own[row] = np.rint(away * grid) / grid if away == away else 0.0
            infinite = j if endless else infinite
        for label in range(classes):
            own = total[label]
            own[:] = terms.constant[label]
            for j in range(columns):
                linear, square = terms.linear[j, label], terms.square[j, label]
                for row in range(ROWS_AT_ONCE):
                    own[row] += z[j, row] * (linear + square * z[j, row])
            for k in range(len(terms.pairs)):
                one, other, product = z[terms.pairs[k, 0]], z[terms.pairs[k, 1]], terms.products[k, label]
                for row in range(ROWS_AT_ONCE):
                    own[row] += product * one[row] * other[row]
        if lost:
            for row in range(count):
                _put_right(x[start + row], terms, total[:, row])
        for row in range(count):
            for label in range(classes):
                out[start + row, label] += total[label, row]
    return infinite


@inner
def _put_right(x: NDArray[Any], terms: Quadratic, total: Array) -> None:
    """Take from a row what its missing numbers would add if they were known, and add what they do."""
    for j in range(len(x)):
        if x[j] != x[j]:
            for label in range(len(total)):
                total[label] += terms.missing[j, label] - terms.known[j, label]
    for k in range(len(terms.pairs)):
        i, j = terms.pairs[k]
        if x[i] != x[i] or x[j] != x[j]:
            for label in range(len(total)):
                total[label] += terms.products[k, label] * terms.middle[k]
