# make run     install, play the main experiments on what comes with the library, say where the reports are
# make quick   while developing: style, types, layers, and all tests that take less than a tenth of a second
# make test    install, then everything that must hold: types, style, layers, tests with coverage
# make docs    install, then build the documentation into site/, strictly
# make clusters  install Ray and Dask, then the tests that run episodes on clusters; make test leaves them out
# make samplers  install NumPyro in an environment of its own, then compare posteriors with its sampler's
# make bench   install, then speed as ratios against reference implementations in the same process
# install also fetches the smallest language model, 98 MB, into the user's cache, unless it is there
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# the core and the systems of the papers are measured for coverage, the rest runs without, which is faster
MEASURED := tests/test_distribution.py tests/test_observer.py tests/test_world.py $(wildcard $(addprefix tests/papers/,\
  protom/test_episodes.py protom/test_facilitator.py protom/test_language_facilitator.py \
  functional/test_game_prompts.py functional/test_prompting.py \
  hypothetical_minds/test_agent.py hypothetical_minds/test_cook.py hypothetical_minds/test_ppo.py \
  hypothetical_minds/test_ppo_files.py hypothetical_minds/test_programs.py mumatom/test_limp.py))

# compiled modules are kept even where the environment says otherwise: tests import everything, again in each process
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install run quick quick-tests test measured clusters samplers bench docs lint style types layers clean browser

install: $(VENV)/.installed
	@$(BIN)/otherminds models fetch smollm2

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("otherminds needs Python 3.11 or newer; try: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev,embedded,openai,fast,pettingzoo,web,parquet]'
	@touch $@

run: install
	$(BIN)/otherminds reproduce --quick --jobs 2

docs: $(VENV)/.more
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lint: install
	@$(MAKE) --no-print-directory --jobs=3 style types layers

style:
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types:
	$(BIN)/mypy

layers:
	$(BIN)/lint-imports

# only tests need the harness of Inspect, and the documentation
$(VENV)/.more: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[inspect,docs]'
	@touch $@

# the tests in a browser need Chromium; root on Debian gets it, others are told
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name > /dev/null && exit 0; done; \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium > /dev/null; } || \
	echo "there is no Chromium: tests in a browser are skipped"

quick: install
	@$(MAKE) --no-print-directory --jobs=4 style types layers quick-tests

# all tests of Inspect are slow, and importing it takes seconds
quick-tests:
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'not slow' --ignore=tests/adapters/test_inspect_ai.py

# a worker for each processor leaves none for threads of numerical libraries
test: export OPENBLAS_NUM_THREADS := 1
test: install browser $(VENV)/.more
	@$(MAKE) --no-print-directory --jobs=4 style types layers measured
	$(BIN)/python -m pytest -n auto --dist loadfile $(addprefix --ignore=,$(MEASURED))

measured:
	$(BIN)/python -m pytest -n auto --dist loadfile $(MEASURED) --cov --cov-report= --cov-config=pyproject.toml
	$(BIN)/coverage report --fail-under=95

clusters: install
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[ray,dask]'
	$(BIN)/python -m pytest tests/evaluation/test_engines_clusters.py

samplers: pyproject.toml
	$(PYTHON) -m venv .venv-samplers
	.venv-samplers/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e . numpyro
	.venv-samplers/bin/python -m benchmarks.evidence.samplers

bench: install
	$(BIN)/python -m benchmarks.speed.run

clean:
	rm -rf $(VENV) .venv-samplers build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
