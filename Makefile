# make demo             install, and run the demo study
# make test             install, and run the tests (six minutes on two cores); make quick: those without slow ones
# make check            check style and types; make format: mend the style
# make docs             build the documentation as a site, site/index.html
# make peers            install other programs that some tests compare with
# make peers-benchmark  compare speed with other programs, in an environment of their own
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# one worker more than cores, because tests of Snakemake and Slurm often wait; tests of one xdist_group share a worker
PYTEST = $(BIN)/python -m pytest -n $(shell echo $$(($$(nproc) + 1))) --dist loadgroup

.PHONY: demo test slurm-test quick docs peers peers-benchmark check format clean

demo: .venv/installed
	$(BIN)/snakemake --cores all
	@echo "figures: $(CURDIR)/results/figures"
	@echo "report:  $(CURDIR)/results/report/index.html"

test: .venv/tools
	$(PYTEST) -m "not slurm" --durations=10

# jobs on a Slurm that is running here: three minutes, most of them waiting
slurm-test: .venv/tools
	$(BIN)/python -m pytest -m slurm

quick: .venv/tools
	$(PYTEST) -m "not (slow or workflow or slurm or browser or fuzz)"

docs: .venv/tools
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site: $(CURDIR)/site/index.html"

# where they cannot be installed, the tests that need them are skipped
peers: .venv/tools
	@$(PIP) --editable ".[peers]" || echo "make peers: opensim or atheris could not be installed; the tests that need them are skipped"

# writes its tables and figure into docs/benchmarks.md; RECORDINGS=folder reads real C3D files, too
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
