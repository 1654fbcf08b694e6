"""What is stated of a file at fit holds for new files: nobody has to say it again."""

import random

import pytest

STATED = ["--decimal", ",", "--date-order", "dmy", "--missing", "-9", "--keep", "NA", "--fold-case"]


def cells(count=80):
    """Lengths of three decimals, days of either order, words in any case, a sentinel, Namibia, a class of two spellings."""
    draw = random.Random(3)
    for place in range(count):
        yield (
            f"{draw.uniform(1, 9) + place % 2:.3f}".replace(".", ","),
            f"{draw.randint(1, 12):02d}/{draw.randint(1, 12):02d}/2020",
            draw.choice(["Red", "red", "BLUE", "blue"]),
            str(draw.choice([-9, 3, 4, 5, 6, 7, 8.5])),
            draw.choice(["NA", "DE", "FR"]),
            "wren" if place % 2 else draw.choice(["Tit", "tit"]),
        )


@pytest.fixture
def birds(folder):
    """The same rows apart by tabs (where 7,024 may be seven thousand) and by semicolons."""
    rows = [("länge", "seen", "colour", "eggs", "land", "bird"), *cells()]
    for name, sign in (("birds.tsv", "\t"), ("birds.csv", ";")):
        (folder / name).write_text("\n".join(map(sign.join, rows)) + "\n", encoding="utf-8")
    return folder


def test_new_files_are_read_as_was_stated_at_fit(merula, birds):
    fit = merula("fit", "birds.tsv", "--target", "bird", "--model", "naive", "-o", "birds.merula", *STATED)
    assert fit.exit_code == 0, fit.stderr
    answers = {}
    for table, more in (("birds.tsv", STATED), ("birds.tsv", []), ("birds.csv", [])):
        assert merula("predict", "birds.merula", table, "-o", "answers.csv", *more).exit_code == 0
        answers[table, bool(more)] = (birds / "answers.csv").read_text(encoding="utf-8")
    assert len(set(answers.values())) == 1


def test_a_decimal_comma_that_was_found_holds_for_new_files(merula, folder):
    """At fit two decimals tell that commas are decimal; a new file of three decimals alone could mean thousands."""
    draw = random.Random(5)
    lengths = [draw.uniform(1, 9) + (k % 2) for k in range(80)]
    rows = [f"{length:.2f}".replace(".", ",") + f"\t{'wren' if k % 2 else 'tit'}" for k, length in enumerate(lengths)]
    (folder / "birds.tsv").write_text("länge\tbird\n" + "\n".join(rows) + "\n", encoding="utf-8")
    new = [f"{length:.3f}" for length in lengths[:20]]
    (folder / "commas.tsv").write_text(
        "länge\tring\n" + "".join(f"{n.replace('.', ',')}\tA1\n" for n in new), encoding="utf-8"
    )
    (folder / "points.tsv").write_text("länge\tring\n" + "".join(f"{n}\tA1\n" for n in new), encoding="utf-8")
    assert merula("fit", "birds.tsv", "--target", "bird", "--model", "naive", "-o", "birds.merula").exit_code == 0
    answers = []
    for table in ("commas.tsv", "points.tsv"):
        said = merula("predict", "birds.merula", table, "-o", "answers.csv")
        assert said.exit_code == 0, said.stderr
        answers.append((folder / "answers.csv").read_text(encoding="utf-8"))
    assert answers[0] == answers[1]


def test_case_that_does_not_matter_does_not_matter_in_the_target(merula, birds):
    fit = merula("fit", "birds.tsv", "--target", "bird", "--model", "naive", "-o", "birds.merula", *STATED)
    assert "2 classes" in fit.stdout and "read as one" in fit.stderr
    assert "2 classes" in merula("look", "birds.tsv", "--target", "bird", "--fold-case").stdout
    assert "3 classes" in merula("look", "birds.tsv", "--target", "bird").stdout


def test_words_that_were_kept_are_kept_where_rows_are_measured_and_counted_like_a_model(merula, folder):
    """Namibia's code tells the class: who takes it for missing measures another model."""
    rows = [("NA", "tit"), ("DE", "wren"), ("FR", "wren"), ("NA", "tit"), ("DE", "tit")] * 16
    (folder / "lands.csv").write_text("land,bird\n" + "".join(f"{land},{bird}\n" for land, bird in rows))
    fitted = merula("fit", "lands.csv", "--target", "bird", "--model", "naive", "-o", "lands.merula", "--keep", "NA")
    assert fitted.exit_code == 0, fitted.stderr
    for verb, more in (("evaluate", []), ("count", ["-o", "lands.counts"])):
        stated, found = (merula(verb, "lands.csv", "--target", "bird", "--like", "lands.merula", *more, *keep) for keep in (["--keep", "NA"], []))  # fmt: skip
        assert (found.exit_code, found.stdout) == (0, stated.stdout), found.stderr
        assert "unseen" not in found.stderr and "missing" not in found.stderr
