# Every target makes .venv and installs what it needs, once. Works from a clone in any folder.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check
SOURCES := $(shell find boostlit -name '*.py' -o -name '*.pyi' -o -name '*.csv' -o -name '*.json' 2>/dev/null)
OUT ?= reproduction
ifeq ($(BOOSTLIT_DATA),)
ifneq ($(wildcard ../shared/data/SOURCES.md),)
export BOOSTLIT_DATA := $(shell cd ../shared/data && pwd)
endif
endif
export PYTHONHASHSEED := 0
# tests run the package as users get it: built, in a folder that Python looks into first
BUILT := PYTHONPATH="$$PWD/.venv/wheel" BOOSTLIT_WHEEL="$$PWD/.venv/wheel"

.PHONY: help test check page export notebooks reproduce readme bench lab docs soak mutants coverage house height hooks dist book clean
help:
	@echo "make lab          open the notebooks in JupyterLab"
	@echo "make page NB=...  run one page again, store its outputs, export, test it"
	@echo "make check        press, linter, quick tests: two minutes"
	@echo "make test         everything, on the built package: twelve minutes"
	@echo "make reproduce    the papers' numbers that need no download"
	@echo "make bench        races with peers; WORKS='cold' first calls, WORKS='earlier=PATH' 0.1"
	@echo "also: export notebooks readme house height bench soak mutants coverage docs book dist hooks clean"

.venv/.made:
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade pip setuptools wheel
	@touch $@

# editable: a change of a module needs no new install
.venv/.run: .venv/.made settings.ini setup.py
	$(PIP) -e .
	@touch $@

.venv/.dev: .venv/.made settings.ini setup.py
	$(PIP) -e ".[dev]"
	@touch $@

.venv/.bench: .venv/.dev
	$(PIP) -e ".[bench]" || echo "some peers could not be installed: the benchmark skips them with a word"
	@touch $@

.venv/.wheel: .venv/.made $(SOURCES) settings.ini setup.py pyproject.toml README.md
	rm -rf .venv/wheel build
	$(PIP) --no-deps --target .venv/wheel .
	@rm -rf build
	@touch $@

test: .venv/.dev .venv/.wheel
	$(BUILT) $(BIN)/python .ci/check.py

check: .venv/.dev .venv/.wheel
	$(BUILT) $(BIN)/python .ci/check.py --quick

export: .venv/.dev
	$(BIN)/python .ci/export.py --report

page: .venv/.dev
	@test -n "$(NB)" || { echo "say which: make page NB=nbs/core/02_stumps.ipynb"; exit 2; }
	$(BIN)/python .ci/notebooks.py "$(NB)"

notebooks: .venv/.dev
	$(BIN)/python .ci/notebooks.py $(NB)

# long forms of the tests, then damaged files and hostile inputs by the thousand; COUNT=10000 for less
COUNT ?= 100000
soak: .venv/.dev .venv/.wheel
	$(BUILT) BOOSTLIT_SOAK=1 $(BIN)/python -m pytest tests -m "soak or not soak" -k "fuzz or kill or worker or soak or damaged or interrupt" -s --durations=12
	$(BUILT) $(BIN)/python tests/fuzz.py files --count $(COUNT) --folder .venv/soak
	$(BUILT) $(BIN)/python tests/fuzz.py inputs --count 10000 --folder .venv/soak

# does a test notice when the code is wrong? goes on where it was stopped
mutants: .venv/.dev
	$(BIN)/python .ci/mutants.py --pages --log .venv/mutants.jsonl

# lines of the package that pytest and the pages run; twice as long as make test, so by hand
coverage: .venv/.dev .venv/.wheel
	$(BUILT) $(BIN)/python .ci/cover.py

house: .venv/.dev
	$(BIN)/python .ci/house.py -v

height: .venv/.dev
	$(BIN)/python .ci/height.py

reproduce: .venv/.run
	$(BIN)/python -m boostlit reproduce --out "$(OUT)"

readme: .venv/.dev
	$(BIN)/python .ci/readme.py

bench: .venv/.bench
	$(BIN)/python -c "from boostlit.lab.benchmarks import benchmark; benchmark()" $(WORKS)

lab: .venv/.dev
	$(BIN)/python -m jupyterlab nbs

hooks: .venv/.dev
	$(BIN)/nbdev_install_hooks

dist: .venv/.dev
	rm -rf build dist
	$(BIN)/python -m build

docs: .venv/.dev
	@command -v quarto >/dev/null || { echo "make docs needs Quarto 1.7 or later on the PATH (https://quarto.org); nothing was built."; exit 1; }
	$(BIN)/nbdev_proc_nbs && quarto render _proc --no-execute
	@rm -rf _docs && mv _proc/_docs _docs && echo "The site is in _docs: open _docs/index.html."
	$(BIN)/python .ci/browser.py _docs --shots _shots

# for readers without a browser; the PDF only where `pip install typst` was said
book: .venv/.dev
	$(BIN)/python .ci/book.py book.epub book.pdf

clean:
	rm -rf .venv build dist *.egg-info _proc _docs _shots book.epub book.pdf .mypy_cache .ruff_cache
