# Every target installs what it needs first; `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CONSOLE := console/dist/index.html
CONSOLE_SOURCES := $(shell find console -type f -not -path '*/node_modules/*' -not -path '*/dist/*')
ARGS   ?=
WORKERS ?= 3
# Compiled modules are kept: without them, each start of a program and each process of tests compiles all of them again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST  = $(BIN)/python -m pytest -p no:xdist $(if $(filter-out 0,$(WORKERS)),--forks $(WORKERS))

.DEFAULT_GOAL := help
.PHONY: help install console deploy-tools peers chart docs sbom demo up test test-long check map tables reference schema statements format bench budget chaos mutants release-check lock clean

help:            ## show this list
	@sed -nE 's/^([a-z-]+): .*## (.*)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 18

install: $(STAMP) ## make .venv with the program and its development tools

$(STAMP): requirements/develop.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/develop.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q -j 2 core engine storage api vivero benchmarks
	touch $@

console: install ## build the console with Node.js, which is installed if the machine has none
	$(BIN)/python console/build.py

# The server works without its console, so what starts the server goes on when the build fails.
$(CONSOLE): $(CONSOLE_SOURCES) | $(STAMP)
	-@$(BIN)/python console/build.py

deploy-tools: $(VENV)/deploy/.installed ## install what checks the Dockerfile, compose.yaml and the manifests, and what lists the parts

$(VENV)/deploy/.installed: requirements/deploy.txt | $(STAMP)
	$(BIN)/python -m venv $(VENV)/deploy
	$(VENV)/deploy/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/deploy.txt
	touch $@

chart: install   ## check the Helm chart and write what it gives to tests/operations/chart; Go builds Helm, in minutes
	test -x $(VENV)/helm/helm || GOBIN=$(abspath $(VENV)/helm) go install helm.sh/helm/v3/cmd/helm@v3.22.0
	$(BIN)/python -m tests.operations.charts $(VENV)/helm/helm

docs: $(VENV)/docs/.installed ## write the documentation as a site, which needs no network, to dist/docs; a link that leads nowhere fails
	$(VENV)/docs/bin/sphinx-build --quiet --fail-on-warning --keep-going --jobs auto -b html -c docs/site docs dist/docs

$(VENV)/docs/.installed: requirements/docs.txt | $(STAMP)
	$(BIN)/python -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	touch $@

sbom: deploy-tools ## list all parts of the program and of its console, with versions and licences, in dist/*.cdx.json (CycloneDX)
	$(BIN)/python -m venv --clear dist/parts
	dist/parts/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/program.txt
	dist/parts/bin/python -m pip uninstall --quiet --yes pip setuptools
	$(VENV)/deploy/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o dist/vivero.cdx.json dist/parts/bin/python
	cd console && PATH="$$PATH:$(abspath $(BIN))" npm sbom --omit=dev --package-lock-only --sbom-format=cyclonedx > ../dist/console.cdx.json
	rm -r dist/parts

peers: $(VENV)/peers/.installed ## install the libraries that `make bench ARGS=decisions` compares with

$(VENV)/peers/.installed: pyproject.toml | $(STAMP)
	$(BIN)/python -m venv --without-pip $(VENV)/peers
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["peers"])' \
		| xargs $(BIN)/python -m pip --python $(VENV)/peers/bin/python install --quiet --disable-pip-version-check
	touch $@

demo: install $(CONSOLE) ## deploy an order process, work it to its end, stay up on port 8080 (ARGS=--exit ends after the show)
	$(BIN)/vivero demo $(ARGS)

up: install $(CONSOLE) ## start the server on port 8080 with an embedded PostgreSQL
	$(BIN)/vivero up $(ARGS)

test: install    ## run the tests, six minutes on two cores (WORKERS=0: in one process, which shows what tests print)
	$(PYTEST) $(ARGS)

test-long: install ## run the long and random tests, half an hour on two cores
	$(PYTEST) -m long $(ARGS)

check: install   ## formatting, lint and types, of the console too if it is installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python console/build.py --check

map: install     ## write the table of folders in ARCHITECTURE.md from the docstrings of the packages
	$(BIN)/python -m tests.doors

statements: install ## write the columns of rows in storage/state/save.sql and load.sql, and the searches of vivero/client
	$(BIN)/python -m tests.statements
	$(BIN)/python -m tests.client_code

tables: install  ## write docs/reference/settings.md and bpmn.md, and the values in docs/limits.md, from the code
	$(BIN)/python -m tests.tables
	$(BIN)/python -m tests.core.bpmn.specification

reference: install ## write docs/reference, the pages of the public Python modules, from the code
	$(BIN)/python -m tests.reference

schema: install  ## write storage/schema/schema.sql, the schema as one text, from the migrations
	$(BIN)/python -m tests.storage.schemas.schema_file

format: install  ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python console/build.py --format

bench: install   ## run the usual benchmarks (under three minutes; ARGS=timers, messages: more; ARGS="--url http://…": a server that runs)
	@$(BIN)/python -m benchmarks $(ARGS)

budget: install  ## count what an instance costs and what the program imports and installs; fail beyond the record (ARGS=--record: accept)
	@$(BIN)/python -m benchmarks.budget $(ARGS)
	@$(BIN)/python -m benchmarks.size $(filter --record,$(ARGS))

chaos: install   ## inject faults into clusters under load for an hour, and print figures (ARGS="kills --rounds 20": less)
	@$(BIN)/python -m tests.chaos $(ARGS)

mutants: install ## prove that the tests see: each seeded mutant must be caught by its named test
	$(BIN)/python -m tests.mutants.run $(ARGS)

release-check: console ## install wheel and source distribution on each Python of ARGS; run the demo and tests of the core there
	$(BIN)/python -m tests.operations.release $(ARGS)

lock: install    ## pin every dependency anew, with hashes and without addresses
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header pyproject.toml -o requirements/program.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --extra embedded --group dev pyproject.toml -c requirements/program.txt -o requirements/develop.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --group console -o requirements/node.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --group deploy -o requirements/deploy.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --group docs -o requirements/docs.txt

clean:           ## remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis console/node_modules console/dist
