# `make` prints what there is.  Nothing but Python 3.11+, git and make is needed.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup run test test-fast test-kernels test-matrix check format test-gpu bench-overhead bench-numerics bench-web table-rules docs lint-compose lock clean

# torch: torch + triton.  cuda: CUDA's compilers, into the torch runtime.  jax: jax + libtpu.
WORKBENCH_RUNTIMES ?= torch jax cuda
# The application reads the same variable as JSON {"torch": "/a/path/to/python"}: then nothing is
# installed here, and the value is passed on.  A list of names is for make alone.
ifeq (,$(findstring {,$(WORKBENCH_RUNTIMES)))
unexport WORKBENCH_RUNTIMES
else
override WORKBENCH_RUNTIMES_TO_INSTALL :=
endif
WORKBENCH_RUNTIMES_TO_INSTALL ?= $(WORKBENCH_RUNTIMES)
VENV := .venv
BIN := $(VENV)/bin
T ?= tests
# Two halves of the tests at once, a file never torn apart: its tests share a house, a broker, a browser.
SIDE_BY_SIDE ?= -n 2 --dist loadfile
PIP := -m pip --disable-pip-version-check install --quiet

# The first interpreter that starts, is new enough and can make a virtual environment.
# (A name on PATH proves nothing: version managers leave shims for versions that are switched off.)
PYTHON ?=
PYTHON_CHECK := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
define FIND_PYTHON
candidates="$(or $(PYTHON),python3.11 python3.12 python3.13 python3)"; python=; \
for name in $$candidates; do \
  if $$name -c '$(PYTHON_CHECK)' >/dev/null 2>&1; then python=$$name; break; fi; \
done; \
if [ -z "$$python" ]; then \
  for name in $$candidates; do \
    if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
      echo "$$name cannot make virtual environments: install its venv module (on Debian: apt-get install python3-venv)." >&2; exit 1; \
    fi; \
  done; \
  echo "Python 3.11 or newer is needed and none of these is: $$candidates. Install one, or name it: make PYTHON=/path/to/python3.11 setup" >&2; exit 1; \
fi
endef

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo '  (WORKBENCH_RUNTIMES="torch" installs less; T=tests/serve runs part of the tests)'

setup: $(VENV)/.stamp $(foreach runtime,$(WORKBENCH_RUNTIMES_TO_INSTALL),.runtimes/.stamp-$(runtime))  ## install everything into .venv and .runtimes; quick when nothing changed

$(VENV)/.stamp: pyproject.toml constraints.txt requirements/dev.txt workers/judge/numerics/single_pass.c
	@$(FIND_PYTHON); echo "Installing the application into $(VENV) with $$($$python --version)"; \
	 [ -x $(BIN)/python ] || $$python -m venv $(VENV)
	@$(BIN)/python $(PIP) --constraint constraints.txt --editable '.[dev]'
	@touch $@

.runtimes/.stamp-torch: runtimes/torch.txt
	$(call install_runtime,torch,torch,torch and triton)

.runtimes/.stamp-jax: runtimes/jax.txt
	$(call install_runtime,jax,jax,jax and libtpu)

.runtimes/.stamp-cuda: runtimes/cuda.txt | .runtimes/.stamp-torch
	$(call install_runtime,torch,cuda,CUDA compilers)

define install_runtime
@$(FIND_PYTHON); echo "Installing $(3) into .runtimes/$(1)"; \
 [ -x .runtimes/$(1)/bin/python ] || $$python -m venv .runtimes/$(1)
@.runtimes/$(1)/bin/python $(PIP) --requirement runtimes/$(2).txt
@touch $@
endef

run: setup  ## start everything with demo data, and print the address and logins
	@exec $(BIN)/workbench serve --demo

test: setup  ## run all tests (browser tests skip where there is no Chromium)
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(T)

test-fast: setup  ## run the tests that take seconds
	@$(BIN)/python -m pytest -m 'not slow and not matrix and not browser' $(T)

test-kernels: setup  ## judge every specimen of the zoo in tests/kernels (minutes)
	@$(BIN)/python -m pytest -m 'matrix or not matrix' tests/kernels

test-matrix: setup  ## run what `make test` has a sample of: the zoo, the thirty kernels, simulations, every page by role
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m matrix $(T)

test-gpu: setup  ## run the tests that need a CUDA device; they skip where there is none
	@$(BIN)/python -m pytest -m gpu $(T) || [ $$? -eq 5 ]

check: $(VENV)/.stamp  ## ruff, formatting, types, import contracts
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.stamp  ## apply the formatter and the safe fixes
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench-overhead: setup  ## measure what the workbench adds to a kernel's own time
	@$(BIN)/python bench/overhead.py

bench-numerics: setup  ## time the comparison of outputs beside torch.testing.assert_close
	@$(BIN)/python bench/numerics.py

table-rules: setup  ## judge thirty kernels, honest and faulty, beside what eleven published rules say of them
	@$(BIN)/python -m tests.run_rules

bench-web: setup  ## time queue, claim, autosave and submit on SQLite and PostgreSQL (`B=--quick` counts only)
	@$(BIN)/python bench/web.py $(B)

docs: $(VENV)/.stamp  ## write the pages that are made from the code
	@$(BIN)/python docs/generate.py

lint-compose:  ## check docker-compose.yml with dclint (needs npx, and the npm registry once)
	@npx --yes dclint@3.1.0 docker-compose.yml

lock: $(VENV)/.stamp  ## write what is installed to constraints.txt
	@{ sed -n '/^#/p' constraints.txt; $(BIN)/python -m pip freeze --exclude-editable; } > constraints.new
	@mv constraints.new constraints.txt

clean:  ## remove what make and the tools made (not var/, where the data is)
	rm -rf $(VENV) .runtimes build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
