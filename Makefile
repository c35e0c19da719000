# Every target prepares its own local environment, and is quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev
NODE := web/node_modules/.ready
NATIVE := $(wildcard src/chartpact/native/*.c src/chartpact/native/*.h)
STRICT ?=
JOBS ?= auto
ROOM ?=
ARGS ?=
# A file's tests share what they start, so a file is run by one process.
PARALLEL = --numprocesses=$(JOBS) --dist=loadfile --no-loadscope-reorder
BENCH ?= ta

.PHONY: serve test exhaustive test-postgres quick check bench fuzz guard steps mutants soak nightly docs gallery web format clean

serve: $(READY)
	@$(BIN)/chartpact serve --no-auth $(ARGS)

test: $(DEV)
	CHARTPACT_STRICT=$(STRICT) $(BIN)/python -m pytest $(PARALLEL) $(ARGS)

# All of the server's tests on PostgreSQL; those about storage run on both databases in `make test`.
test-postgres: $(DEV)
	CHARTPACT_STRICT=$(STRICT) CHARTPACT_TEST_DATABASE=postgresql \
	  $(BIN)/python -m pytest $(PARALLEL) tests/server $(ARGS)

# The suite with every example of its property tests.
exhaustive: $(DEV)
	CHARTPACT_EXHAUSTIVE=1 $(BIN)/python -m pytest $(PARALLEL) $(ARGS)

quick: $(DEV)
	$(BIN)/python -m tests.quick $(ROOM)

check: $(DEV) $(NODE)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check
	npm run --silent check --prefix web

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# What the suite samples, in full; the sum of it takes hours.
nightly: exhaustive test-postgres mutants soak fuzz
	$(BIN)/python -m tests.fuzz $(or $(MUTANTS),20000)

docs: $(DEV)
	$(BIN)/python docs/generate.py

fuzz: $(DEV)
	$(BIN)/python tests/script/guided.py $(or $(SECONDS),600)

mutants: $(DEV)
	$(BIN)/python -m tests.script.mutants $(ARGS)

gallery: $(DEV)
	$(BIN)/python docs/gallery/make.py

# What the web page takes from others, bundled from the lock file, and the MCP App.
web: $(NODE)
	node web/build.mjs "$(CURDIR)/src/chartpact/server/static/vendor"

# It needs Node 20.19 or later.
$(NODE): web/package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix web
	@touch $@

bench: $(VENV)/.ready-bench
	$(BIN)/python bench/$(BENCH).py $(ARGS)

guard: $(DEV)
	$(BIN)/python bench/sandbox.py --guard

steps: $(DEV)
	$(BIN)/python bench/steps.py $(ARGS)

soak: $(DEV)
	CHARTPACT_SOAK_RUNS=10000 CHARTPACT_SOAK_KILLS=10 $(BIN)/python -m pytest \
	  tests/sandbox/test_lifecycle.py tests/server/test_serving.py \
	  -k "many_runs or renewal or storm" $(ARGS)

# A mark is written last: an environment without one is half made, and made anew.
$(READY): pyproject.toml setup.py $(NATIVE)
	@$(PYTHON) tools/environment.py $(VENV) server
	@touch $@

$(DEV): pyproject.toml setup.py $(NATIVE)
	@$(PYTHON) tools/environment.py $(VENV) dev
	@touch $(READY) $@

$(VENV)/.ready-bench: $(DEV)
	@$(PYTHON) tools/environment.py $(VENV) dev bench
	@touch $(READY) $(DEV) $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info src/chartpact/_native*.so
