# Every target prepares its own local environment, and is quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NATIVE := $(wildcard src/chartpact/native/*.c src/chartpact/native/*.h)
STRICT ?=
JOBS ?= auto
ROOM ?=
ARGS ?=
# A file's tests share what they start, so a file is run by one process.
PARALLEL = --numprocesses=$(JOBS) --dist=loadfile --no-loadscope-reorder
BENCH ?= ta

.PHONY: serve test quick check bench fuzz guard steps mutants soak docs gallery format clean

serve: $(READY)
	$(BIN)/chartpact serve --no-auth $(ARGS)

test: $(READY)
	CHARTPACT_STRICT=$(STRICT) $(BIN)/python -m pytest $(PARALLEL) $(ARGS)

quick: $(READY)
	$(BIN)/python -m tests.quick $(ROOM)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY)
	$(BIN)/python docs/generate.py

fuzz: $(READY)
	$(BIN)/python tests/script/guided.py $(or $(SECONDS),600)

mutants: $(READY)
	$(BIN)/python -m tests.script.mutants $(ARGS)

gallery: $(READY)
	$(BIN)/python docs/gallery/make.py

bench: $(VENV)/.ready-bench
	$(BIN)/python bench/$(BENCH).py $(ARGS)

guard: $(READY)
	$(BIN)/python bench/sandbox.py --guard

steps: $(READY)
	$(BIN)/python bench/steps.py $(ARGS)

soak: $(READY)
	CHARTPACT_SOAK_RUNS=10000 CHARTPACT_SOAK_KILLS=10 $(BIN)/python -m pytest \
	  tests/sandbox/test_lifecycle.py tests/server/test_serving.py \
	  -k "500_runs or renewal or storm" $(ARGS)

$(READY): pyproject.toml setup.py $(NATIVE)
	@# The mark is written last: without it an environment is half made, and made anew.
	@test -e $@ && $(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@rm -f $@
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "setuptools>=77" "numpy>=2.0,<3"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[dev]"
	@touch $@

$(VENV)/.ready-bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]" --no-build-isolation
	@touch $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info src/chartpact/_native*.so
