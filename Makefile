# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Two workers: more only fight for memory bandwidth on small machines.
WORKERS ?= 2

.PHONY: run demo test check compiler bench laws clean

run: demo  ## answer one question of each kind on the embedded data

demo: $(STAMP)  ## the same, and exit
	@$(BIN)/compass demo

test: check compiler  ## everything that must hold
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

check: $(STAMP)  ## style, types, import direction
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## real tables: stage times, latency, violations, penalised MAPE
	$(BIN)/python -m benchmarks.tables

laws: $(STAMP)  ## the ten analytical laws, judged by the law
	$(BIN)/python -m benchmarks.laws

compiler:  # the kernel sweep is tested for real where there is, or may be installed, a C compiler
	@command -v cc >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && apt-get install -y -qq gcc libc6-dev; } \
		|| echo "no C compiler: the tests of the sweep will skip"

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
