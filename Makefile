# make demo             install, and run the demo study
# make test             install, and run the tests but for slow ones; make slow: those; make quick: without Snakemake and browser, too
# make coverage         line coverage of the fast tests; `.ci/run` prints that of three rooms
# make attack           damage files, tables, runs and results, 16 minutes on two cores: SEED= FILES= TABLES= KILLS= (docs/reliability.md)
# make check            check style and types; make format: mend the style
# make mutants          change the code in 300 places, run the tests that run each (an hour at most); NUMBER=300 SEED=1
# make docs             build the documentation as a site, site/index.html
# make size             count lines, modules, functions, options and words
# make lock             pin what `make demo` installs, with hashes, in requirements/
# make licences         list the licences of all dependencies; fails at the GPL outside peers of the tests and tools of a release
# make sbom             list what `make demo` installs as CycloneDX, dist/sbom.cdx.json
# make s3-test          run a study in a bucket of a local server of S3, in an environment of its own
# make release          check that this tree can be released, and build wheel and sdist in dist/ (docs/releasing.md)
# make pythons          run the fast tests on every Python from 3.11 to 3.13 that is installed
# make benchmark        compare speed and memory with the last release, in turns, in under five minutes: BEFORE=revision WRITE=docs/benchmarks.md
# make peers            install other programs that some tests compare with
# make peers-benchmark  compare speed with other programs, in an environment of their own
PYTHON ?= python3
# where this is set, every process would compile the packages anew
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
# uv where it is there, else pip; both leave it to Python to compile the modules that are imported
UV := $(shell command -v uv || { $(PYTHON) -m uv --version >/dev/null 2>&1 && echo "$(PYTHON) -m uv"; })
VENV = $(if $(UV),$(UV) venv --quiet --clear --python $(PYTHON),$(PYTHON) -m venv)
WITH_PIP = -m pip install --quiet --disable-pip-version-check --no-compile
INSTALL = $(if $(UV),$(UV) pip install --quiet --python $(1)/bin/python,$(1)/bin/python $(WITH_PIP))
HASHED = $(INSTALL) --require-hashes --only-binary :all:
PIP = $(call INSTALL,.venv) --constraint constraints.txt
LOCK = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --constraint constraints.txt
# two workers more than cores, because tests of Snakemake and Slurm often wait; files in ONE_WORKER of
# tests/conftest.py share a worker
PYTEST = $(BIN)/python -m pytest -n $(shell echo $$(($$(nproc) + 2))) --dist loadgroup

# files of tests with a mark: to collect the others takes each worker ten seconds
MARKED = $(shell grep -rl "mark\.$(1)" tests --include='test_*.py')

.PHONY: demo test slow attack attack-sample slurm-test s3-test quick coverage mutants mutants-sample docs size lock licences sbom release pythons benchmark peers peers-benchmark check format clean

demo: .venv/installed
	$(BIN)/snakemake --cores all
	@echo "figures: $(CURDIR)/results/figures"
	@echo "report:  $(CURDIR)/results/report/index.html"

test: .venv/tools
	$(PYTEST) -m "not (slow or slurm or attack)" --durations=10

slow: .venv/tools
	$(PYTEST) -m "slow and not (slurm or attack)" --durations=10 $(call MARKED,slow)

# counts of docs/reliability.md; make attack WRITE=docs/reliability.md writes them there
attack: .venv/tools
	PYTHONPATH=tests $(BIN)/python -m attack --seed $(or $(SEED),17) --files $(or $(FILES),20000) --tables $(or $(TABLES),2000) --kills $(or $(KILLS),60) $(if $(WRITE),--write $(WRITE))

# the same kinds and judges, a little over a minute
attack-sample: .venv/tools
	$(BIN)/python -m pytest -n $(shell nproc) -m attack $(call MARKED,attack)

# jobs on a Slurm (and a Grid Engine) that is running here: four minutes, most of them waiting
slurm-test: .venv/tools
	$(BIN)/python -m pytest -m slurm $(call MARKED,slurm)

# a study in a bucket of moto's server; about a minute; where it cannot be installed, the test is skipped
s3-test: .venv/tools
	@if $(MAKE) --no-print-directory .venv-s3/installed; then .venv-s3/bin/python -m pytest tests/workflow/test_bucket.py; \
	else echo "make s3-test: moto or Snakemake's plugin for S3 could not be installed; the test is skipped"; fi

quick: .venv/tools
	$(PYTEST) -m "not (slow or workflow or slurm or browser or attack)"

# line coverage, which takes a third more processor time: tests of processes and browser add little to it
coverage: .venv/tools
	$(PYTEST) -m "not (slow or workflow or slurm or browser or attack)" --cov=limbtorque --cov-report=term:skip-covered

# the lines that each test runs are noted first, and again after any change; SEED chooses the places
mutants: .venv/tools
	$(BIN)/python tools/mutants.py --number $(or $(NUMBER),300) --seed $(or $(SEED),1)

# for every change: of three rooms, with their own tests; as many may survive as chance leaves of 90 % killed
mutants-sample: .venv/tools
	$(BIN)/python tools/mutants.py --number 12 --rooms chain torques signals --tests tests/chain tests/torques tests/signals --sample

docs: .venv/tools
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site: $(CURDIR)/site/index.html"

size: .venv/tools
	$(BIN)/python tools/size.py --rooms

# where they cannot be installed, the tests that need them are skipped
peers: .venv/tools
	@$(PIP) --editable ".[peers]" || echo "make peers: opensim, mujoco, quadprog, statsmodels, mne or spm1d could not be installed; the tests that need them are skipped"

# ends with 1 where a row is slower than 1.1 times
benchmark: .venv/tools
	$(BIN)/python benchmarks/two_versions.py $(if $(BEFORE),--before $(BEFORE)) $(if $(WRITE),--write $(WRITE))

# writes its tables and figure into docs/benchmarks.md; RECORDINGS=folder reads real C3D files, too
peers-benchmark: .venv-peers/installed
	.venv-peers/bin/python benchmarks/peers.py --install --write $(if $(RECORDINGS),--recordings "$(RECORDINGS)")

lock: .venv/tools
	$(LOCK) --group build --output-file requirements/build.txt
	$(LOCK) pyproject.toml --output-file requirements/demo.txt
	$(subst --constraint constraints.txt,,$(LOCK)) --group release --group build --output-file requirements/release.txt

# the packages of the extra s3, and the tools of a release, are in environments of their own
licences: .venv/tools .venv-s3/installed .venv-release/installed
	$(BIN)/python tools/licences.py
	.venv-s3/bin/python tools/licences.py run buckets
	.venv-release/bin/python tools/licences.py release

# of an environment that has nothing else
sbom: .venv/tools .venv-demo/installed
	mkdir -p dist
	$(BIN)/cyclonedx-py environment .venv-demo --pyproject pyproject.toml --mc-type application --output-reproducible --output-file dist/sbom.cdx.json
	@echo "bill of materials: $(CURDIR)/dist/sbom.cdx.json"

# in environments of its own: its tools need other versions than the tests; ends with 1 at the first step that fails
release: .venv-release/installed .venv-demo/installed
	rm -rf results .snakemake
	.venv-demo/bin/snakemake --cores all --quiet all
	.venv-release/bin/python tools/release.py

pythons: .venv/tools
	$(BIN)/python tools/pythons.py

check: types-linux types-win32 types-darwin
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check Snakefile workflow

# of each system, side by side by `make --jobs 2 check`
types-%: .venv/tools
	$(BIN)/mypy --platform $* --cache-dir .mypy_cache/$*

format: .venv/tools
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/snakefmt Snakefile workflow

# nothing is installed without a hash: first what builds, then the packages (connection_pool has no wheel), then this project
.venv/installed .venv-demo/installed: pyproject.toml requirements/build.txt requirements/demo.txt
	$(VENV) $(@D)
	$(call HASHED,$(@D)) --requirement requirements/build.txt
	$(call HASHED,$(@D)) --no-build-isolation $(if $(UV),,--use-pep517) --no-binary connection_pool --requirement requirements/demo.txt
	$(call INSTALL,$(@D)) --no-deps --no-build-isolation --editable .
	touch $@

.venv-peers/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv-release/installed: requirements/release.txt
	$(VENV) $(@D)
	$(call INSTALL,$(@D)) --require-hashes --requirement requirements/release.txt # reuse has no wheel
	touch $@

# botocore refuses the python-dateutil that the other environments have
.venv-s3/installed: .venv/tools pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-s3
	grep -v '^python-dateutil' constraints.txt > .venv-s3/constraints.txt
	$(BIN)/uv pip install --quiet --python .venv-s3/bin/python --constraint .venv-s3/constraints.txt --group buckets --editable ".[slurm,s3]"
	touch $@

.venv/tools: .venv/installed
	$(PIP) --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv .venv-demo .venv-peers .venv-s3 .venv-uv .venv-release .venv-wheel .venv-python* .mutants results site .snakemake
