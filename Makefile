# Each target sets up what it needs in .venv; nothing else is touched.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

DATA ?= penguins
TARGET ?=

.PHONY: run test test-engines test-wide test-contract test-page attack lint types imports bench bench-large compare docs examples picture format clean

# The main job on the penguins, or on any table: make run DATA=my.csv TARGET=outcome
run: $(VENV)/.command
	$(BIN)/merula demo '$(subst ','\'',$(DATA))' $(if $(TARGET),--target '$(subst ','\'',$(TARGET))')

# A file of tests belongs to one worker: what it compiles, the other then finds compiled. Files keep their order: by default those of
# few tests come last, and one of them takes a minute
test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# Databases and a cluster that are started for it: PostgreSQL and Java come with PyPI packages. Nothing is left out
test-engines: $(VENV)/.engines
	MERULA_ENGINES=1 $(BIN)/python -m pytest tests/engines_external

# Models of 500 columns scored in every database, 10,000 rows each compared with predict_proba: the better part of an hour
test-wide: $(VENV)/.engines
	$(BIN)/python benchmarks/wide_sql.py

# The attacks of tests/attack for as long as MINUTES says: make attack MINUTES=30 SEED=7; what breaks is kept in attack-found/
MINUTES ?= 30
SEED ?= 12
attack: $(VENV)/.ready
	$(BIN)/python -m pytest tests/attack -k 'not damaged'
	$(BIN)/python -m tests.attack --minutes $(MINUTES) --seed $(SEED)

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

imports: $(VENV)/.ready
	$(BIN)/lint-imports

# Every option of every classifier; make test asks those that differ most
test-contract: $(VENV)/.ready
	MERULA_CONTRACT=every $(BIN)/python -m pytest -n auto tests/contract

# Pages in a browser, at every width and in every language; a thousand rows and findings of each model and network
test-page: $(VENV)/.ready
	MERULA_PAGE=every $(BIN)/python -m pytest -n auto --dist loadfile tests/web

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/networks.py
	$(BIN)/python benchmarks/structures.py
	$(BIN)/python benchmarks/network_em.py
	$(BIN)/python benchmarks/semi_naive.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/large.py

# Tables of 1,000,000 to 50,000,000 rows, Khiops and Spark beside: needs some 10 GB of disk, khiops, and the packages of test-engines
bench-large: $(VENV)/.engines
	$(BIN)/python benchmarks/large.py growth khiops
	$(BIN)/python benchmarks/large_sql.py

# Is anything slower than it was? make compare OLD=../before; CASES='gaussian categoricals' and ROWS=100000 for a quick look
CASES ?=
ROWS ?= 1000000
compare: $(VENV)/.ready
	$(BIN)/python benchmarks/compare.py '$(OLD)' . $(CASES) --rows $(ROWS)

# The documentation as a site in site/; nothing is fetched, and a warning is an error.
docs: $(VENV)/.ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'open site/index.html; with search: $(BIN)/python -m http.server -d site'

# What the examples print, for the page that shows them.
examples: $(VENV)/.ready
	for script in examples/*.py; do $(BIN)/python $$script > $${script%.py}.txt || exit 1; done

# The README's picture.
picture: $(VENV)/.ready
	MPLBACKEND=Agg $(BIN)/python -c 'import runpy; runpy.run_path("docs/hooks/pictures.py")["overview"]("docs/overview.png")'

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# What the merula command needs, and nothing that only developers do.
$(VENV)/.command: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[cli,report]'
	touch $@

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(VENV)/.engines: $(VENV)/.ready
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[engines]'
	touch $@
