# Two commands do all the set-up: `make demo` and `make test`. Both work on a fresh machine with Python 3.11+.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-cpus test-oldest test-pythons fuzz soak robustness dist lint docs docs-quick bench bench-quick clean

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

# One file of tests at a time on each core.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist loadfile

# The numerical parts as other CPUs compute them: BLAS kernels by name, numba's code for any x86-64, numpy without
# AVX-512, one thread and two. NUMBA_CACHE_DIR keeps that code apart from this machine's. Kernels whose instructions this
# machine does not have (SkylakeX without AVX-512) are named and passed over, and so is a name for which this OpenBLAS has
# the kernels of another (Zen those of Haswell): they are tested once.
CPUS ?= Prescott Nehalem Haswell Zen SkylakeX
CPU_THREADS ?= 1 2
CPU_TESTS ?= tests/_common tests/baselines tests/estimators tests/represent tests/label
test-cpus: $(VENV)/.test
	tested=""; for cpu in $(CPUS); do \
	kernels=$$(OPENBLAS_CORETYPE=$$cpu $(BIN)/python benchmarks/robustness/blas_kernels.py) || \
	{ echo "== $$cpu: not tested, this machine cannot run its kernels"; continue; }; \
	case " $$tested " in *" $$kernels "*) echo "== $$cpu: the kernels of $$kernels, tested above"; continue;; esac; \
	tested="$$tested $$kernels"; \
	for threads in $(CPU_THREADS); do \
	echo "== $$cpu ($$kernels), $$threads threads"; \
	OPENBLAS_CORETYPE=$$cpu NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=.cache/numba-generic \
	NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL" \
	OMP_NUM_THREADS=$$threads OPENBLAS_NUM_THREADS=$$threads \
	$(BIN)/python -W "ignore:During parsing environment variable" -m pytest $(CPU_TESTS) || exit 1; done; done

# The oldest versions that pyproject.toml declares, in an environment of their own.
OLDEST ?= .venv-oldest
test-oldest:
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet --constraint constraints-oldest.txt --editable . pytest hypothesis pandas psutil rich
	$(OLDEST)/bin/python -m pytest $(CPU_TESTS) tests/masks tests/rows tests/test_metrics.py

# Every Python that is installed, by name or by path, with current versions of everything. Those that are not are named.
PYTHONS ?= python3.11 python3.12 python3.13
test-pythons:
	for python in $(PYTHONS); do \
	command -v $$python > /dev/null || { echo "== $$python: not tested, it is not installed"; continue; }; \
	venv=.venv-$$(basename $$python); echo "== $$python"; \
	$$python -m venv $$venv && \
	$$venv/bin/pip install --quiet --editable . pytest hypothesis pandas psutil rich && \
	$$venv/bin/python -m pytest $(CPU_TESTS) tests/masks tests/rows tests/test_metrics.py || exit 1; done

# FUZZ says how many cases each property gets.
FUZZ ?= 400
fuzz: $(VENV)/.test
	MASKED_SUBSPACE_FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz

# Everything of docs/findings/robustness.md: fuzz cases, kills, many fits, permuted rows; half an hour.
robustness: $(VENV)/.test
	$(BIN)/python benchmarks/robustness/robustness.py --fuzz $(FUZZ) --out robustness.json

# 200 fits in one process: memory, file descriptors, threads and temporary files must not grow.
soak: $(VENV)/.test
	MASKED_SUBSPACE_SOAK=200 $(BIN)/python -m pytest tests/fuzz/test_soak.py

# What a release uploads, in dist/: built, checked, and its demo run in an empty environment.
dist: $(VENV)/.test
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[release]"
	$(BIN)/python -m pytest tests/test_distribution.py
	rm -rf dist build/empty
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/empty
	build/empty/bin/pip install --quiet --constraint constraints.txt dist/*.whl
	build/empty/bin/masked-subspace demo --out build/empty/demo-report

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.docs: $(VENV)/.core
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

# The site, in docs/site: open docs/site/index.html. Pictures and examples are computed; a warning is an error.
docs: $(VENV)/.docs
	$(BIN)/python docs/pictures.py docs/_pictures
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build docs docs/site
	$(BIN)/python docs/check_site.py docs/site

# The same without running the examples: what changes with every commit, in about a minute.
docs-quick: $(VENV)/.docs
	$(BIN)/python docs/pictures.py docs/_pictures
	$(BIN)/python -m sphinx -W --keep-going -q -b html -D plot_gallery=0 -d docs/_build-quick docs docs/site-quick
	$(BIN)/python docs/check_site.py docs/site-quick

bench: $(VENV)/.test
	$(BIN)/masked-subspace bench

# Under two minutes; fails when the solver is slower than half of what it should be.
bench-quick: $(VENV)/.test
	$(BIN)/masked-subspace bench --quick

clean:
	rm -rf $(VENV) .venv-* .cache build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache demo-report docs/site docs/site-quick docs/_build docs/_build-quick docs/_pictures docs/gallery docs/api/generated
