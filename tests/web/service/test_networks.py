"""Questions to a network over HTTP, worked out by hand."""

import gzip
import json
import math

import pytest

RAIN, SPRINKLER = {"no": 0.8, "yes": 0.2}, {"no": {"off": 0.6, "on": 0.4}, "yes": {"off": 0.99, "on": 0.01}}
WET = {("no", "off"): 0.0, ("no", "on"): 0.9, ("yes", "off"): 0.8, ("yes", "on"): 0.99}
JOINT = {
    (rain, sprinkler, grass): RAIN[rain] * SPRINKLER[rain][sprinkler] * (WET[rain, sprinkler] if grass == "wet" else 1 - WET[rain, sprinkler])
    for rain in RAIN for sprinkler in ("off", "on") for grass in ("dry", "wet")
}  # fmt: skip
NAMES = ("rain", "sprinkler", "grass")


def worked_out(name, level, given):
    """P(name = level given what holds), from the joint table."""

    def weight(cells):
        found = dict(zip(NAMES, cells, strict=True))
        return math.prod(given[one](found[one]) for one in given)

    total = sum(p * weight(cells) for cells, p in JOINT.items())
    part = sum(p * weight(cells) for cells, p in JOINT.items() if cells[NAMES.index(name)] == level)
    return part / total


def asked(service, **query):
    status, found = service.json("/v1/models/garden/query", query)
    assert status == 200, found
    return found


@pytest.mark.parametrize(
    ("given", "meaning"),
    [
        ({}, {}),
        ({"grass": "wet"}, {"grass": lambda level: level == "wet"}),
        ({"grass": "wet", "sprinkler": ["on", "off"]}, {"grass": lambda level: level == "wet"}),
        ({"grass": {"not": "dry"}}, {"grass": lambda level: level == "wet"}),
        ({"grass": {"wet": 0.7, "dry": 0.3}}, {"grass": {"wet": 0.7, "dry": 0.3}.get}),
    ],
)
def test_posteriors_follow_findings(service, given, meaning):
    found = asked(service, given=given)["probabilities"]
    for row in found["rain"]:
        assert row["probability"] == pytest.approx(worked_out("rain", row["rain"], meaning), abs=1e-12)


def test_several_variables_together(service):
    found = asked(service, variables=["rain", "sprinkler"], given={"grass": "wet"})["probabilities"]
    total = sum(p for cells, p in JOINT.items() if cells[2] == "wet")
    expected = {cells[:2]: p / total for cells, p in JOINT.items() if cells[2] == "wet"}
    assert {(row["rain"], row["sprinkler"]): row["probability"] for row in found} == pytest.approx(expected, abs=1e-12)


def test_what_is_done_says_nothing_of_its_causes(service):
    found = asked(service, do={"sprinkler": "on"})["probabilities"]
    assert {row["rain"]: row["probability"] for row in found["rain"]} == pytest.approx(RAIN)


def test_the_most_probable_explanation_and_the_probability_of_findings(service):
    found = asked(service, ask="most_probable", given={"grass": "wet"})
    total = sum(p for cells, p in JOINT.items() if cells[2] == "wet")
    best, most = max(((cells, p) for cells, p in JOINT.items() if cells[2] == "wet"), key=lambda pair: pair[1])
    assert found["most_probable"] == {"rain": best[0], "sprinkler": best[1]}
    assert found["probability"] == pytest.approx(most / total)
    found = asked(service, ask="probability", given={"grass": "wet"})
    assert found["probability"] == pytest.approx(total) and found["log_probability"] == pytest.approx(math.log(total))


def test_what_depends_on_what(service):
    assert asked(service, ask="d_separated", variables="rain", others="grass")["d_separated"] is False
    assert asked(service, ask="markov_blanket", variables="rain")["markov_blanket"] == ["grass", "sprinkler"]


@pytest.mark.parametrize(
    "query",
    [
        {"given": {"snow": "yes"}}, {"given": {"rain": "perhaps"}}, {"variables": ["snow"]}, {"ask": "joint"}, {"ask": "everything"}, {"givn": {}},
        {"given": {"rain": {"no": -1}}}, {"given": {"rain": {"no": 0, "yes": 0}}}, {"do": {"rain": ["no", "yes"]}}, {"given": {"rain": []}}, {"given": {"rain": {"not": ["no", "yes"]}}},
        {"given": {"rain": [["no"]]}}, {"ask": "markov_blanket"}, {"given": {"grass": "wet", "rain": "no", "sprinkler": "off"}},
    ],
)  # fmt: skip
def test_questions_without_an_answer_are_one_sentence(service, query):
    status, told = service.json("/v1/models/garden/query", query)
    assert status == 422 and told["error"] and "Traceback" not in told["error"], told


@pytest.mark.parametrize(
    ("query", "unused"),
    [
        ({"ask": "posteriors", "variables": ["rain"]}, "variables"),
        ({"ask": "probability", "variables": "rain", "given": {"rain": "yes"}}, "variables"),
        ({"ask": "joint", "variables": "rain", "others": "grass"}, "others"),
        ({"ask": "most_probable", "others": "grass"}, "others"),
        ({"ask": "markov_blanket", "variables": "rain", "given": {"grass": "wet"}}, "given"),
    ],
)
def test_what_changes_nothing_of_a_question_is_refused(service, query, unused):
    status, told = service.json("/v1/models/garden/query", query)
    assert (status, told["where"]) == (422, unused)
    assert told["error"].startswith(f"{unused} changes nothing of {query['ask']}")


def test_questions_come_packed_by_gzip_alone(service):
    body = json.dumps({"given": {"grass": "wet"}}).encode()
    plain = service.json("/v1/models/garden/query", body)
    assert plain[0] == 200
    assert service.json("/v1/models/garden/query", gzip.compress(body), content_encoding="gzip") == plain
    status, told = service.json("/v1/models/garden/query", body, content_encoding="br")
    assert (status, told["where"]) == (415, "content-encoding")


@pytest.mark.parametrize("share", [int("9" * 400), {"dry": int("9" * 400), "wet": 1}])
def test_numbers_that_no_float_holds_are_refused(service, share):
    status, told = service.json("/v1/models/garden/query", {"given": {"grass": share}})
    assert status == 422, told
