"""The file of what only people know: read as data, and one clear error for whatever is wrong with it."""

import json
import re
from pathlib import Path

import pytest

from merula.core import InputError
from merula.report.dossier.about import KNOWN, read_about

SAME = {"purpose": {"use": ("Who is called first",), "users": ("agents", "their managers")}, "details": {"funding": ("no",)}}  # fmt: skip
YAML = "# what people know\npurpose:\n  use: Who is called first\n  users:\n  - agents\n  - their managers\n  role:\ndetails: {funding: no}\nfairness:\n"
TOML = 'details.funding = false\n[purpose]\nuse = "Who is called first"\nusers = ["agents", "their managers"]\n'
JSON = json.dumps({"purpose": {"use": " Who is called first ", "users": ["agents", "their managers"], "role": None}, "details": {"funding": "no"}})  # fmt: skip


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="about.yaml"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


@pytest.mark.parametrize(("name", "text"), [("about.yaml", YAML), ("a.YML", "\ufeff" + YAML), ("about.toml", TOML), ("about.json", JSON)])  # fmt: skip
def test_every_language_says_the_same(written, name, text):
    assert read_about(written(text, name)) == SAME


def test_a_mapping_says_the_same_and_nothing_says_nothing(written):
    assert read_about(SAME) == SAME
    assert read_about(None) == read_about(written("")) == read_about(written("# nothing\n")) == {}


def test_texts_of_yaml_stay_as_they_are_written(written):
    text = "updates:\n  schedule: 1.10\n  correction: 2024-01-31\nmaintenance: {validity: on, fairness: 0x1F}\n"
    assert read_about(written(text)) == {
        "updates": {"schedule": ("1.10",), "correction": ("2024-01-31",)},
        "maintenance": {"validity": ("on",), "fairness": ("0x1F",)},
    }


WRONG = [
    ("purpos:\n  use: x\n", "about.yaml, line 1: 'purpos' is no part of it; did you mean 'purpose'?"),
    ("purpose:\n  use: x\n  usrs: y\n", "about.yaml, line 3: purpose has no question 'usrs'; did you mean 'users'?"),
    ("population: adults\n", "about.yaml, line 1: 'population' is no part of it; 'population' belongs under 'purpose'"),
    ("purpose:\n  exclusions: x\n", "about.yaml, line 2: purpose has no question 'exclusions'; 'exclusions' belongs under 'out_of_scope'"),
    ("purpose:\n  use: {a: b}\n", "about.yaml, line 2: purpose.use is a group of answers, expected a text or a list of texts"),
    ("purpose:\n  use: [[a]]\n", "about.yaml, line 2: purpose.use is a list, expected a text or a list of texts"),
    ("purpose: everything\n", "about.yaml, line 1: 'purpose' is the text 'everything', expected answers to use, population, users, role"),
    ("purpose:\n  use: a\n  use: b\n", "about.yaml, line 3: 'use' stands twice"),
    ("purpose:\n  use: a\npurpose:\n  users: b\n", "about.yaml, line 3: 'purpose' stands twice"),
    ("purpose:\n  use: 'a\n", "about.yaml, line 3: this cannot be read as YAML"),
    ("purpose:\n\tuse: a\n", "about.yaml, line 2: this cannot be read as YAML"),
    ("purpose: &a {use: x}\ndetails: *a\n", "about.yaml, line 2: aliases are not read"),
    ("purpose:\n  use: !!python/object/apply:os.system ['touch hacked']\n", "about.yaml, line 2: the tag"),
    ("purpose:\n  use: !secret x\n", "about.yaml, line 2: the tag '!secret' is not read"),
    ("? [a, b]\n: c\n", "about.yaml, line 1: a key is no word"),
    ("- purpose\n", "about.yaml holds a list, expected groups of answers"),
    ("purpose\n", "about.yaml holds the text 'purpose', expected groups of answers"),
    ("a: 1\n---\nb: 2\n", "about.yaml, line 2: this cannot be read as YAML"),
    ("purpose:\n  use: \x07\n", "about.yaml cannot be read as YAML"),
    ("[" * 5_000, "about.yaml"),
    (b"purpose:\n  use: \xff\n", "about.yaml is not written in UTF-8"),
    (b"#" * 1_000_001, "about.yaml is larger than 1,000,000 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_one_error_with_file_line_and_key(written, text, told, tmp_path):
    with pytest.raises(InputError) as error:
        read_about(written(text))
    assert str(error.value).startswith(told) and "\n" not in str(error.value)
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("about.toml", "[purpose\n", "about.toml cannot be read as TOML: "),
        ("about.toml", "purpos.use = 'x'\n", "about.toml: 'purpos' is no part of it; did you mean 'purpose'?"),
        ("about.json", '{"purpose": {"use": }}', "about.json, line 1: this cannot be read as JSON"),
        ("about.json", '{"purpose": {"use": "a", "use": "b"}}', "about.json states 'use' twice"),
        ("about.json", "[]", "about.json holds a list"),
        ("about.txt", "use: x", "about.txt is no file of answers, expected one of .yaml, .yml, .toml, .json"),
    ],
)
def test_other_languages_and_other_files(written, name, text, told):
    with pytest.raises(InputError) as error:
        read_about(written(text, name))
    assert str(error.value).startswith(told) and "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_told_with_the_nearest_one(written, tmp_path):
    written("", "about.yaml")
    with pytest.raises(FileNotFoundError, match=r"there is no file abuot\.yaml; did you mean about\.yaml"):
        read_about("abuot.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(IsADirectoryError):
        read_about("folder.yaml")


def test_there_are_31_questions_in_nine_groups():
    assert len(KNOWN) == 9 and sum(map(len, KNOWN.values())) == 31


def test_the_file_in_the_documentation_answers_all_that_people_know(written):
    page = (Path(__file__).parents[3] / "docs" / "howto" / "dossier.md").read_text(encoding="utf-8")
    found = read_about(written(re.search(r"^```text\n(details:.*?)^```", page, re.MULTILINE | re.DOTALL)[1]))
    missing = {f"{group}.{name}" for group, names in KNOWN.items() for name in names if name not in found[group]}
    assert missing == {"details.output", "performance.validity", "performance.fairness"}
