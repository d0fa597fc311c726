# Every target makes .venv and installs what it needs, once.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find boostlit -name '*.py' -o -name '*.pyi' -o -name '*.csv' -o -name '*.json' 2>/dev/null)
OUT ?= reproduction
ifeq ($(BOOSTLIT_DATA),)
ifneq ($(wildcard ../shared/data/SOURCES.md),)
export BOOSTLIT_DATA := $(abspath ../shared/data)
endif
endif
export PYTHONHASHSEED := 0

.PHONY: help test reproduce notebooks readme bench lab docs soak coverage clean
help:
	@echo "make test | reproduce | notebooks | readme | bench | soak | coverage | lab | docs | clean"

.venv/.made:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade pip setuptools wheel
	@touch $@

# requirements of an extra, read from settings.ini by setup.py; the package itself is installed by .venv/.package
.venv/.dev: .venv/.made settings.ini setup.py
	$(BIN)/python -m pip install -q --disable-pip-version-check ".[dev]"
	@touch $@

.venv/.run: .venv/.made settings.ini setup.py
	$(BIN)/python -m pip install -q --disable-pip-version-check .
	@touch $@

.venv/.bench: .venv/.dev
	$(BIN)/python -m pip install -q --disable-pip-version-check ".[bench]" || echo "some peers could not be installed: the benchmark skips them with a word"
	@touch $@

# the package as users get it: a built copy in site-packages, renewed when a module changed
.venv/.package: .venv/.made $(SOURCES) settings.ini setup.py README.md
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --force-reinstall .
	@rm -rf build *.egg-info
	@touch $@

test: .venv/.dev .venv/.package
	$(BIN)/python .ci/check.py

soak: .venv/.dev .venv/.package
	BOOSTLIT_SOAK=1 $(BIN)/pytest tests -m "soak or not soak" -k "fuzz or kill or worker or soak or damaged or interrupt" -s --durations=12

# lines of the installed package that pytest and the pages run; twice as long as make test, so by hand
coverage: .venv/.dev .venv/.package
	$(BIN)/python .ci/cover.py

reproduce: .venv/.run .venv/.package
	$(BIN)/boostlit reproduce --out $(OUT)

notebooks: .venv/.dev .venv/.package
	$(BIN)/python .ci/notebooks.py $(NB)

readme: .venv/.dev
	$(BIN)/python .ci/readme.py

bench: .venv/.bench .venv/.package
	$(BIN)/python -c "from boostlit.lab.benchmarks import main; main()"

lab: .venv/.dev .venv/.package
	$(BIN)/jupyter lab nbs

docs: .venv/.dev .venv/.package
	@command -v quarto >/dev/null || { echo "make docs needs Quarto 1.7 or later on the PATH (https://quarto.org); nothing was built."; exit 1; }
	$(BIN)/nbdev_proc_nbs && quarto render _proc --no-execute
	@rm -rf _docs && mv _proc/_docs _docs && echo "The site is in _docs: open _docs/index.html."

clean:
	rm -rf .venv build dist *.egg-info _proc _docs
