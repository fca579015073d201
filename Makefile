# The project's commands. `make help` lists them.
PYTHON ?= python3
UV_VERSION := 0.13.9
UV := .uv/bin/uv
RUN := .venv/bin/python
SET_UP := .venv/.set-up
DATA_DIR ?= .data
PORT ?= 8000
WORKERS ?= auto

.PHONY: help setup demo test bench check format
.DEFAULT_GOAL := help

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1|/p' Makefile | while IFS='|' read -r name text; do printf 'make %-8s %s\n' "$$name" "$$text"; done

setup: $(SET_UP) ## build .venv, with everything the other targets need

$(SET_UP): pyproject.toml uv.lock $(UV)
	@UV_NO_PROGRESS=1 $(UV) sync --frozen --quiet --no-python-downloads --python "$$(command -v $(PYTHON))"
	@touch $@

$(UV): .ci/bootstrap_uv
	@sh .ci/bootstrap_uv $(PYTHON) $(UV_VERSION)

demo: setup ## run the whole product with demo data, until Ctrl-C (PORT, DATA_DIR)
	@exec $(RUN) manage.py demo --port $(PORT) --data-dir $(DATA_DIR) $(DEMO)

test: setup ## the whole test suite on real PostgreSQL, real Valkey and a real browser
	@sh .ci/need_chromium
	$(RUN) -m pytest -n $(WORKERS) --dist loadgroup $(TESTS)

bench: setup ## the benchmarks: one JSON line each
	@$(RUN) -m tests.bench

check: setup ## format, lint, types, import contracts, migrations, deployment
	@sh .ci/check

format: setup ## put code and templates into form
	$(RUN) -m ruff check --fix-only --quiet .
	$(RUN) -m ruff format .
