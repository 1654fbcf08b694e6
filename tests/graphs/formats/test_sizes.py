"""What a table costs is known before memory is taken, in every reader and in `add`; a large answer is held about once."""

import tracemalloc

import numpy as np
import pytest

import merula as mr
from merula.graphs.factors import TooWideError
from merula.graphs.formats import bif, merula_json, net, uai, xdsl, xmlbif
from merula.graphs.formats.checks import table_shape

CAUSES = [f"cause {index}" for index in range(25)]


def peak(work):
    """The most bytes that NumPy and Python held at once, beyond what was there."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused(parse, text, message="cells \\("):
    """The text is refused by its sizes, within ten megabytes."""

    def work():
        with pytest.raises(ValueError, match=message):
            parse(text)

    assert peak(work) < 10e6


def bif_text(tables=1, parents=25):
    """Tables that a few letters state: one default row for all combinations."""
    names = [f"cause{index}" for index in range(parents)]
    effects = [f"effect{index}" for index in range(tables)]
    lines = [f"variable {name} {{ type discrete [ 2 ] {{ yes, no }}; }}" for name in [*names, *effects]]
    lines += [f"probability ( {name} ) {{ table .5 .5; }}" for name in names]
    lines += [f"probability ( {name} | {', '.join(names)} ) {{ default .5 .5; }}" for name in effects]
    return "network n { }\n" + "\n".join(lines)


def test_a_default_row_of_twenty_five_parents():
    refused(bif.parse, bif_text())


def test_many_tables_that_would_fit_one_by_one():
    refused(bif.parse, bif_text(tables=9, parents=22), "the tables up to that of 'effect7' would have 67,108,908 cells")


def test_sizes_beyond_any_whole_number_of_c():
    refused(bif.parse, bif_text(parents=63), "18,446,744,073,709,551,616 cells")


def deterministic(states, parents=0, words="s0"):
    declared = "".join(f'<state id="s{index}" />' for index in range(states))
    causes = "".join(
        f'<cpt id="c{index}"><state id="y" /><state id="n" /><probabilities>.5 .5</probabilities></cpt>'
        for index in range(parents)
    )
    given = f"<parents>{' '.join(f'c{index}' for index in range(parents))}</parents>" if parents else ""
    return f'<smile version="1.0"><nodes>{causes}<deterministic id="d">{declared}{given}<resultingstates>{words}</resultingstates></deterministic></nodes></smile>'


def test_a_deterministic_node_takes_its_own_table_alone():
    """Its states squared would be 3.2 GB."""
    text = deterministic(20_000)
    assert peak(lambda: xdsl.parse(text)) < 100e6
    assert xdsl.parse(text)[0].table.sum() == 1


def test_a_deterministic_node_of_many_parents_and_states():
    refused(xdsl.parse, deterministic(2, 25))
    refused(xdsl.parse, deterministic(2, 20), "1 resulting states, expected 1048576")


LISTED = {
    "xmlbif": (xmlbif.parse, "<BIF><NETWORK>" + "".join(f"<VARIABLE><NAME>{c}</NAME><OUTCOME>y</OUTCOME><OUTCOME>n</OUTCOME></VARIABLE><DEFINITION><FOR>{c}</FOR>{''.join(f'<GIVEN>{p}</GIVEN>' for p in CAUSES) if c == 'effect' else ''}<TABLE>.5 .5</TABLE></DEFINITION>" for c in [*CAUSES, "effect"]) + "</NETWORK></BIF>"),
    "net": (net.parse, "".join(f'node "{c}" {{ states = ("y" "n"); }} potential ( "{c}" ) {{ data = (.5 .5); }}\n' for c in CAUSES) + 'node effect { states = ("y" "n"); } potential ( effect | ' + " ".join(f'"{c}"' for c in CAUSES) + " ) { data = (.5 .5); }"),
    "uai": (uai.parse, "BAYES 26 " + "2 " * 26 + "26 " + "".join(f"1 {i} " for i in range(25)) + "26 " + " ".join(map(str, range(26))) + " 2 .5 .5" * 26),
    "json": (merula_json.parse, '{"format": "merula network", "version": 2, "nodes": [' + ", ".join(f'{{"name": "{c}", "kind": "table", "levels": [0, 1], "parents": {str(CAUSES if c == "effect" else []).replace(chr(39), chr(34))}, "probabilities": [0.5, 0.5]}}' for c in [*CAUSES, "effect"]) + "]}"),
}  # fmt: skip


@pytest.mark.parametrize("parse, text", LISTED.values(), ids=LISTED.keys())
def test_numbers_that_do_not_fill_a_giant_table(parse, text):
    refused(parse, text, "cells \\(|expected .* = 67108864|has 2 probabilities")


def test_add_knows_the_size():
    network = mr.BayesianNetwork()
    for name in [*CAUSES, "one more"]:
        network.add(name, ["no", "yes"], [0.5, 0.5])

    def work():
        for parents in ([*CAUSES, "one more"], network.variables):
            with pytest.raises(ValueError, match="134,217,728 cells \\(1.07 GB\\), the limit is 537 MB"):
                network.add("effect", ["no", "yes"], {}, parents=parents)

    assert peak(work) < 10e6
    network.add("effect", ["no", "yes"], mr.NoisyOr(dict.fromkeys(CAUSES, 0.1)))
    with pytest.raises(ValueError, match="67,108,864 cells \\(537 MB\\), the limit is 134 MB"):
        network.distribution("effect")


# --------------------------------------------------------------------------------------------------------- joint tables

BITS = 20
TABLE = 8 * 2**BITS


def chain():
    network = mr.BayesianNetwork().add("v0", [0, 1], [0.5, 0.5])
    for index in range(1, BITS):
        network.add(f"v{index}", [0, 1], [[0.6, 0.4], [0.3, 0.7]], parents=[f"v{index - 1}"])
    return network


@pytest.mark.parametrize("order", [1, -1])
def test_a_joint_query_holds_its_table_about_once(order):
    network, asked = chain(), [f"v{index}" for index in range(BITS)][::order]
    network.query("v0")
    found = []
    assert peak(lambda: found.append(network.query(asked))) < (1.3 if order == 1 else 2.3) * TABLE
    assert found[0].values.shape == (2,) * BITS
    assert found[0].values.sum() == pytest.approx(1)
    assert found[0].probability({"v3": 1, "v4": 0}) == pytest.approx(network.query(["v3", "v4"])[1, 0])


def test_a_query_of_more_than_the_limit_takes_nothing():
    network = chain()
    with pytest.raises(TooWideError):
        network.query(list(network.variables), limit=2**BITS - 1)


def test_a_joint_distribution_holds_its_table_about_once():
    weights = np.full((2,) * BITS, 2.0**-BITS)
    levels = {f"v{index}": [0, 1] for index in range(BITS)}
    assert peak(lambda: mr.JointDistribution(levels, weights)) < 1.3 * TABLE
    rows = {f"v{index}": np.arange(2) for index in range(BITS)}
    assert peak(lambda: mr.JointDistribution.from_rows(rows)) < 1.6 * TABLE


def test_what_was_given_is_not_written_to():
    weights = np.array([0.25, 0.75])
    rain = mr.JointDistribution({"rain": ["no", "yes"]}, weights)
    weights[0] = 0.5
    assert rain.values.tolist() == [0.25, 0.75]


def test_limits_of_tables_are_raised_and_lowered_by_one_setting(monkeypatch):
    monkeypatch.setenv("MERULA_MOST_BYTES", "1000")
    with pytest.raises(ValueError, match="256 cells \\(2.05 kB\\), the limit is 1 kB; .* set MERULA_MOST_BYTES"):
        table_shape("ill", ["age"], {"ill": tuple(range(16)), "age": tuple(range(16))})
    monkeypatch.setenv("MERULA_MOST_BYTES", "1e10")
    wide = {"ill": tuple(range(2**13)), "age": tuple(range(2**13))}
    assert table_shape("ill", ["age"], wide) == (2**13, 2**13)  # 2**26 cells
    monkeypatch.delenv("MERULA_MOST_BYTES")
    with pytest.raises(ValueError, match="the limit is 134 MB"):
        table_shape("ill", ["age"], wide)
