# make demo: set up and run the demo study; make test: set up and pass the tests; make check: style and types;
# make docs: the documentation as a site, site/index.html; make peers: other programs that some tests compare with;
# make peers-benchmark: times beside other programs, in an environment of their own
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test docs peers peers-benchmark check format clean

demo: .venv/installed
	$(BIN)/snakemake --cores all
	@echo "figures: $(CURDIR)/results/figures"
	@echo "report:  $(CURDIR)/results/report/index.html"

test: .venv/tools
	$(BIN)/python -m pytest

docs: .venv/tools
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site: $(CURDIR)/site/index.html"

# other programs that some tests compare with; those tests are skipped where it cannot be installed
peers: .venv/tools
	@$(PIP) --editable ".[peers]" || echo "make peers: opensim or atheris could not be installed; the tests that need them are skipped"

# prints the tables, and puts them and their figure into docs/benchmarks.md; RECORDINGS=folder reads real C3D files too
peers-benchmark: .venv-peers/installed
	.venv-peers/bin/python benchmarks/peers.py --install --write $(if $(RECORDINGS),--recordings "$(RECORDINGS)")

check: .venv/tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow

format: .venv/tools
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/snakefmt Snakefile workflow

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	touch $@

.venv-peers/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv/tools: .venv/installed
	$(PIP) --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv .venv-peers results site .snakemake
