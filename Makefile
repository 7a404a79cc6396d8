# Needed beforehand: make and Python 3.11 or newer. Everything else is installed into .venv, from the lock files.
.DEFAULT_GOAL := run
.PHONY: run test setup setup-dev lint bench demo lock

UV_VERSION := 0.13.9
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
# What lint writes stays out of the operator's own data.
LINT_ENV := COMPANION_DATA="$(CURDIR)/.cache/lint"

## Start everything and print a sign-in link. More arguments: make run ARGS="--port 9000"
run: setup
	@$(MANAGE) up $(ARGS)

## Every test. Some of them: make test ARGS="sessions/core -k forge"
test: setup-dev
	@chromium="$$(sh .ci/browser)" || [ "$$CI" != true ] || exit 1; \
	CHROMIUM="$$chromium" $(BIN)/pytest $(ARGS)

setup: .venv/bin/uv
	@$(BIN)/python -c "" 2>/dev/null || { echo "The Python of .venv is gone: remove .venv and call make again." >&2; exit 1; }
	@$(call install,requirements.txt)

setup-dev: setup
	@$(call install,requirements-dev.txt)

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(LINT_ENV) $(BIN)/mypy companion sessions memory
	$(BIN)/lint-imports
	$(LINT_ENV) $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(LINT_ENV) $(MANAGE) check_translations

bench: setup-dev
	@$(BIN)/python -m bench $(ARGS)

demo: setup
	@$(MANAGE) demo load

lock: setup
	$(BIN)/uv pip compile $(LOCK_OPTIONS) requirements.in -o requirements.txt
	$(BIN)/uv pip compile $(LOCK_OPTIONS) requirements-dev.in -o requirements-dev.txt

LOCK_OPTIONS := --quiet --no-header --universal --python-version 3.11 --generate-hashes

# The stamp holds the checksum of the lock file, so a second call installs nothing.
define install
wanted="$$(cksum < $(1))"; stamp=".venv/$(1).installed"; \
if [ "$$(cat "$$stamp" 2>/dev/null)" != "$$wanted" ]; then \
	echo "Installing $(1) …" >&2; \
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $(1) && echo "$$wanted" > "$$stamp"; \
fi
endef

# A candidate counts only if it runs (a shim may be there and fail), is new enough, and can make environments.
.venv/bin/uv:
	@for candidate in "$$PYTHON" python3.14 python3.13 python3.12 python3.11 python3; do \
		[ -n "$$candidate" ] || continue; \
		"$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		found="$$candidate"; break; \
	done; \
	if [ -z "$$found" ]; then \
		echo "No Python 3.11 or newer with venv was found: install one (Debian: python3 and python3-venv), or set PYTHON=/path/to/python3." >&2; \
		exit 1; \
	fi; \
	echo "Making .venv with $$("$$found" --version) …" >&2; \
	rm -rf .venv && "$$found" -m venv .venv && $(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
