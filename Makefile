# Every target makes its own .venv; nothing else has to be installed first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.bench-installed
DOCS_STAMP := $(VENV)/.docs-installed

.PHONY: demo test codegen prove check bench bench-check accuracy oracle docs docs-check clean
.DEFAULT_GOAL := help

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gradspec needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (once; one to five minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q codegen generated runtime
	@touch $@

demo: $(STAMP)  ## Generate, train on handwritten digits, add an op and prove it
	@$(BIN)/gradspec codegen
	@$(BIN)/python examples/digits.py
	@$(BIN)/python examples/add_an_op.py

# Two test processes on two cores: threads of NumPy's BLAS would only wait for each other.
test oracle: export OPENBLAS_NUM_THREADS = 1
test oracle: export OMP_NUM_THREADS = 1

# Each process begins with a half of the files, whose tests share what is proved or built for them;
# the one that is done first takes of the other's.
test oracle: PYTEST = $(BIN)/python -m pytest -n 2 --dist worksteal

test: $(STAMP)  ## Run the tests (those against PyTorch where it is installed)
	@$(PYTEST)

codegen: $(STAMP)  ## Prove the formulas in specs/ and write generated/
	@$(BIN)/gradspec codegen
	@cd examples/own_ops && $(abspath $(BIN))/gradspec codegen
	@cd examples/framework_ops && $(abspath $(BIN))/gradspec codegen ops.yaml --out torch_ops --target torch
	@cd examples/force_field && $(abspath $(BIN))/gradspec codegen potential.yaml --out torch_ops --target torch
	@cd examples/framework_ops && $(abspath $(BIN))/gradspec codegen ops.yaml --out jax_ops --target jax --proofs torch_ops/proofs.lock

prove: $(STAMP)  ## Prove the whole table from nothing
	@$(BIN)/gradspec prove --all

check: $(STAMP)  ## Formatting, lint, types, and generated/ fresh
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/python -m tests.meta.typecheck
	@$(BIN)/gradspec codegen --check
	@cd examples/own_ops && $(abspath $(BIN))/gradspec codegen --check
	@cd examples/framework_ops && $(abspath $(BIN))/gradspec codegen ops.yaml --out torch_ops --target torch --check
	@cd examples/framework_ops && $(abspath $(BIN))/gradspec codegen ops.yaml --out jax_ops --target jax --check
	@cd examples/force_field && $(abspath $(BIN))/gradspec codegen potential.yaml --out torch_ops --target torch --check

$(BENCH_STAMP): $(STAMP)
	@echo "Adding JAX, autograd and MyGrad to $(VENV) (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

bench: $(BENCH_STAMP)  ## Measure against NumPy, JAX, autograd, MyGrad (and PyTorch if installed)
	@$(BIN)/python -m benchmarks

bench-check: $(STAMP)  ## Fail where the ratio to NumPy or PyTorch is worse than the committed one
	@$(BIN)/python -m benchmarks --check

accuracy: $(STAMP)  ## Compare errors with other libraries, against 50 digits
	@$(BIN)/python -m benchmarks.accuracy
	@$(BIN)/python -m benchmarks.accuracy --calls

oracle: $(STAMP)  ## Install PyTorch 2.13.0 and JAX 0.10.2 and run the tests against them
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'
	@$(BIN)/python -c 'import jax' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'jax==0.10.2'
	@$(PYTEST) -m 'oracle or jax'

$(DOCS_STAMP): $(STAMP)
	@echo "Adding what sets the site to $(VENV) (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(DOCS_STAMP)  ## Build the site into build/docs/site
	@$(BIN)/python -m atlas

docs-check: docs  ## Look at the site with a browser (chromium and chromedriver, if installed)
	@$(BIN)/python -c 'import selenium' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	@$(BIN)/python -m pytest -m browser tests/browser

clean:  ## Remove what the targets made
	rm -rf $(VENV) build dist *.egg-info demo-output
