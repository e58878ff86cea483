# make demo: set up and run the demo study; make test: set up and pass the tests; make check: style and types
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check format clean

demo: .venv/installed
	$(BIN)/snakemake --cores all
	@echo "figures: $(CURDIR)/results/figures"
	@echo "report:  $(CURDIR)/results/ledger.csv"

test: .venv/tools
	$(BIN)/python -m pytest

check: .venv/tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

format: .venv/tools
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/snakefmt Snakefile workflow

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	touch $@

.venv/tools: .venv/installed
	$(PIP) --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv results .snakemake
