"""Every word the page says stands in one table, in both languages, and every one of the table is said."""

import re
from importlib.resources import files

import pytest

from merula.web.page.document import ENTRIES, LANGUAGES, resource, words_by_key, words_of
from merula.web.page.joining import joined

PAGE = files("merula.web.page")
KEY = re.compile(r'["`]((?:[a-z]+\.)+(?:[a-z._]|\$\{[^}]*\})+)["`]')
OWN_WORDS = {"A", "B", "AB", "0", "1"}


def texts():
    """The text of every module that speaks, and of the Python that writes for it."""
    rooms = [PAGE / "script" / room for room in ("view", "view_network")]
    modules = [file.read_text(encoding="utf-8") for room in rooms for file in room.iterdir() if file.name.endswith(".js")]  # fmt: skip
    return [*modules, *(resource(name) for name in ("asking.py", "card.py", "leaving.py", "document.py"))]


def keys_said():
    return {key for text in texts() for key in KEY.findall(text)}


def test_both_languages_have_the_same_keys_in_order():
    tables = [list(words_of(language)) for language in LANGUAGES]
    assert tables[0] == tables[1] == sorted(tables[0])


def test_every_key_that_is_said_is_known():
    literal = {key for text in texts() for key in re.findall(r'\bsay\(\s*"([^"]+)"', text)}
    assert literal
    assert literal - set(words_of("en")) == set()


def test_every_word_of_the_table_is_said():
    said = keys_said()
    patterns = [re.compile(re.sub(r"\\\$\\\{.*?\\\}", ".+", re.escape(key)) + "$") for key in said if "${" in key]
    facts = {f"card.{name}" for name in re.findall(r'_fact\(\s*"([a-z.]+)"', resource("card.py"))}
    silent = [key for key in words_of("en") if key not in said | facts and not any(one.match(key) for one in patterns)]
    assert silent == []


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_page_holds_every_word_that_its_script_may_say(kind):
    """A key that is put together, wherever it stands, holds all that it may become."""
    script = joined(ENTRIES[kind], ())
    held, known = words_by_key(script, ""), words_of("en")
    made = [re.compile(re.sub(r"\\\$\\\{.*?\\\}", ".+", re.escape(key)) + "$") for key in KEY.findall(script)]
    may = {key for key in known if any(one.match(key) for one in made)}
    assert may and may <= set(held) and all(held[key] == [words_of(one)[key] for one in LANGUAGES] for key in held)
    assert kind == "network" or not any(key.startswith("network.") for key in held)


@pytest.mark.parametrize("language", LANGUAGES)
def test_places_are_the_same_in_every_language(language):
    def places(text):
        return {place for one in ([text] if isinstance(text, str) else text) for place in re.findall(r"\{(\w+)\}", one)}

    for key, text in words_of("en").items():
        assert places(words_of(language)[key]) == places(text), key


def test_elements_hold_no_words_of_their_own():
    """What stands between tags in a template is put in by say, never written there."""
    found = []
    for text in texts():
        for template in re.findall(r">\s*([^<>`${}=;()]*[A-Za-z]{3,}[^<>`${}=;()]*)\s*</", text):
            found += [template.strip()]
    assert [word for word in found if word not in OWN_WORDS] == []
