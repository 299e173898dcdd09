# make run     install, play the main experiments on what comes with the library, say where the reports are
# make test    install, then everything that must hold: types, style, layers, tests with coverage
# make bench   install, then speed as ratios against reference implementations in the same process
# install also fetches the smallest language model, 98 MB, into the user's cache, unless it is there
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install run test bench lint clean

install: $(VENV)/.installed
	@$(BIN)/otherminds models fetch smollm2

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("otherminds needs Python 3.11 or newer; try: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,embedded,openai,fast,pettingzoo,web,parquet]'
	@touch $@

run: install
	$(BIN)/otherminds reproduce --quick

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n auto --cov --cov-report= --cov-config=pyproject.toml
	$(BIN)/coverage report --fail-under=95

bench: install
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
