# Two commands do all the set-up: `make demo` and `make test`. Both work on a fresh machine with Python 3.11+.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench bench-quick clean

$(VENV)/.core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[report,data]"
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $@

demo: $(VENV)/.core
	$(BIN)/masked-subspace demo --out demo-report

test: $(VENV)/.test
	$(BIN)/python -m pytest

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/masked-subspace bench

# Under two minutes; fails when the solver is slower than half of what it should be.
bench-quick: $(VENV)/.test
	$(BIN)/masked-subspace bench --quick

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache demo-report
