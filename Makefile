# make run     set up what is missing and open memtui      (ARGS="demo" opens the demo)
# make test    set up what is missing and run the tests for every change: unit tests and
#              one journey per screen, less than three minutes on two cores
#                                                          (ARGS="-k hook": pytest options)
# make test-full
#              all tests except those of make torture, with more examples: twelve minutes
# make torture kills, full disks, floods and more damaged input: half an hour, before a
#              release
# make torture-short
#              kills and damaged input, other ones each time, in a few minutes
#                                                 (SEED=… repeats those of a seed)
# make check   lint, format, types and import contracts
# make shape   size and structure of the code, and the files that two tasks need
# make bench-import, bench-secrets, bench-start, bench-hook, bench-tail, bench-search,
# bench-teleport, bench-ui, bench-agents
#              benchmarks; see benchmarks/
# make eval    accuracy of grounding (docs/grounding.md), and quality of summaries and
#              search (docs/performance.md), on labelled data
# make ablate  what each rule of a verdict is worth on sets that were not used to make it
# make screenshots
#              draw the pictures of the README             (ARGS="search": only that one)

VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# The constraints apply to build dependencies, too; older and newer versions of pip read
# different variables.
INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet -c constraints.txt

.PHONY: run test test-full torture torture-short check shape bench-import bench-secrets bench-start bench-hook bench-tail bench-search bench-teleport bench-ui screenshots clean

run: $(VENV)/.runs
	@$(BIN)/memtui $(ARGS)

# Without options, pytest runs the tests of make test-full with the few examples of make
# test. A second -m in ARGS replaces the first.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

test: $(VENV)/.tests
	@$(PYTEST) -m "not full and not torture" --hypothesis-profile=quick $(ARGS)

test-full: $(VENV)/.tests
	@$(PYTEST) -m "not torture" --hypothesis-profile=full --timeout=300 \
		-o faulthandler_timeout=290 $(ARGS)

# This seed is printed; with it, the same kills and examples are tried.
SEED ?= $(shell od -An -N3 -tu4 /dev/urandom | tr -d ' ')

torture: SEED := $(SEED)
torture: $(VENV)/.tests
	@echo "make torture SEED=$(SEED) repeats this."
	@$(PYTEST) -m "torture or fuzz" --hypothesis-profile=torture --timeout=1800 \
		-o faulthandler_timeout=1790 --hypothesis-seed=$(SEED) $(ARGS)

torture-short: SEED := $(SEED)
torture-short: $(VENV)/.tests
	@echo "make torture-short SEED=$(SEED) repeats this."
	@$(PYTEST) -m "torture or fuzz" --hypothesis-profile=short --timeout=600 \
		-o faulthandler_timeout=590 --hypothesis-seed=$(SEED) \
		--ignore=tests/faults/test_flood.py --ignore=tests/faults/test_full.py $(ARGS)

shape: $(VENV)/.runs
	@$(BIN)/python scripts/shape.py $(ARGS)

check: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

bench-import: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.import_ $(ARGS)

bench-secrets: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.secrets $(ARGS)

screenshots: $(VENV)/.runs
	@$(BIN)/python docs/picture.py $(ARGS)

bench-start: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.start $(ARGS)

bench-hook: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.hook $(ARGS)

bench-tail: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.tail $(ARGS)

bench-search: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.search $(ARGS)

bench-teleport: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.teleport $(ARGS)

bench-ui: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.ui $(ARGS)

.PHONY: bench-agents
bench-agents: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.agents $(ARGS)

.PHONY: eval eval-grips eval-grounding eval-search eval-words

eval: eval-grips eval-grounding eval-search eval-words

eval-search: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.search_quality $(ARGS)

eval-grips: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.grips $(ARGS)

eval-grounding: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.grounding $(ARGS)

.PHONY: ablate
ablate: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.ablate $(ARGS)

eval-words: $(VENV)/.runs
	@$(BIN)/python -m benchmarks.words $(ARGS)

clean:
	rm -rf $(VENV) .cache

# These files are stamps: their times say when the packages were installed.
$(VENV)/.runs: $(BIN)/python pyproject.toml constraints.txt
	@echo "Setting up memtui in $(VENV) …"
	@$(INSTALL) -e '.[mcp]'
	@touch $@

$(VENV)/.tests: $(BIN)/python pyproject.toml constraints.txt
	@echo "Setting up memtui and its tests in $(VENV) …"
	@$(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/.runs

# PYTHON=… selects an interpreter; by default the first one that is new enough is used.
# With VENV=… another one gets an environment of its own.
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11

$(BIN)/python:
	@for python in $(PYTHON); do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| continue; \
		"$$python" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }; \
		exit 0; \
	done; \
	echo "memtui needs Python 3.11 or newer; $(firstword $(PYTHON)) is" \
		"$$($(firstword $(PYTHON)) --version 2>/dev/null || echo not installed)." >&2; \
	echo "Install one, or name it: make run PYTHON=/path/to/python3.12" >&2; \
	exit 1
