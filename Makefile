# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
AUTOML := .venv-automl
LOOP := .venv-loop
SCHEDULE := .venv-schedule
WORKFLOW := .venv-workflow
BOFIRE := .venv-bofire
GREAT := .venv-great
BASE := $(VENV)/.base
STAMP := $(VENV)/.installed
# Empty without a Node.js that can build the page.
IF_NODE := $(shell command -v npm >/dev/null && node -e \
	'const [a, b] = process.versions.node.split(".").map(Number); \
	process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null && echo yes)
CHROMIUM := $(or $(COMPASS_CHROMIUM),/usr/bin/chromium)
MODULES := web/node_modules/.installed
DOCUMENT := web/openapi.json
CLIENT := web/src/api/schema.ts
PAGE := src/compass/server/page/index.html
NATIVE := src/compass/native/kernels.so
# Tests start many processes: what these import is compiled once, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=
# One more than cores of a small machine: tests of servers and clusters wait now and then. Each
# uses one thread: those of numeric libraries would only wait for each other.
WORKERS ?= 3

.PHONY: faults study study-peers studies docs release-check licences sbom news loop loop-peers loop-real run page wheel demo test soak test-package test-page page-shots no-node system browser systemd check native compiler slurm postgres bench fuzz fuzz-files fuzz-api laws peers speed growth exact regret runnable models automl trust synth word scale billion quality load page-bench corpus answers clean platforms fronts workflows

run: $(STAMP)  ## serve the embedded data and the page on localhost, until Ctrl-C
	@$(if $(IF_NODE),$(MAKE) --no-print-directory page,\
		echo "no Node.js 20.19 or later: the server starts without its page, the rest works")
	@$(BIN)/compass serve

page: $(PAGE)  ## build the page into the package

wheel: $(PAGE)  ## a wheel with the page in it, in dist/
	$(BIN)/python -m hatchling build --target wheel

$(MODULES): web/package-lock.json
	# Not `npm ci`: it insists on the binaries of every platform, which not every registry has.
	cd web && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# Any part of the package may have a say in it; it is only newer where it says something else.
$(DOCUMENT): $(STAMP) $(shell find src/compass -name '*.py')
	$(BIN)/python -m compass.server.document > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(CLIENT): $(DOCUMENT) $(MODULES)
	cd web && npm run --silent client
	@touch $@

$(PAGE): $(CLIENT) $(shell find web/src web/index.html web/vite.config.ts web/tsconfig.json -type f)
	cd web && npm run --silent build
	@touch $@

demo: $(STAMP)  ## answer one question of each kind on the embedded data, and exit
	@$(BIN)/compass demo

test:  ## everything that must hold
	@$(MAKE) --no-print-directory -j 3 --output-sync=target $(BASE) $(IF_NODE:%=$(MODULES)) system \
		$(STAMP) native $(IF_NODE:%=page)
	@$(MAKE) --no-print-directory -j 3 test-package $(or $(IF_NODE:%=test-page),no-node) check

test-package: $(STAMP)  ## the Python package
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile

test-page: $(PAGE)  ## the page: style, pure parts, and journeys in a real browser; building it checks types
	cd web && npm run --silent style && npm run --silent test
	@if [ -x "$(CHROMIUM)" ]; then cd web && npm run --silent e2e; \
	else echo "no Chromium: the tests of the page in a browser are skipped"; [ -z "$$CI" ]; fi

page-shots: $(PAGE)  ## pictures of every state of the page, in out/page
	cd web && COMPASS_SHOTS=$(CURDIR)/out/page npm run --silent e2e

no-node:
	@echo "no Node.js 20.19 or later: the tests of the page are skipped"; [ -z "$$CI" ]

soak: $(STAMP)  ## tests that take long: peak memory, rounds of measuring, properties on many examples
	COMPASS_EXAMPLES=10 $(BIN)/pytest -m "soak or hypothesis" -n $(WORKERS) --dist loadfile

docs: $(STAMP)  ## the documentation site in out/site; a broken link or reference is an error
	$(BIN)/python -m docs.site.build

faults: $(STAMP)  ## ten minutes of mixed use of a server and an experiment with kills: nothing lost, nothing left
	$(BIN)/python -m benchmarks.faults

study: $(STAMP)  ## make one published table or figure again (NAME=laws), in docs/results; without a name: the list
	$(BIN)/python -m benchmarks.studies $(or $(NAME),list)

study-peers: $(PEERS)/.installed $(BOFIRE)/.installed $(GREAT)/.installed  ## environments of the tools beside Compass

studies: $(STAMP)  ## make all of them again; this takes hours
	$(BIN)/python -m benchmarks.studies all

release-check: $(PAGE)  ## wheel, source archive and oldest dependencies, installed in clean environments and used
	$(BIN)/python -m release.check

licences: $(STAMP)  ## licences of all that is brought along; a copyleft or source-available one is an error
	$(BIN)/python -m release.licences

sbom: $(STAMP)  ## what Compass is made of, as CycloneDX, in out/sbom.json
	@mkdir -p out
	$(BIN)/python -m release.sbom > out/sbom.json

news: $(STAMP)  ## put the fragments of changes/ into CHANGELOG.md, for a release
	$(BIN)/towncrier build --yes --version "$$($(BIN)/python -c 'from compass import release; print(release.version())')"

check: $(STAMP)  ## style, types, import direction
	$(BIN)/ruff check src tests benchmarks examples docs/site release hatch_build.py
	$(BIN)/ruff format --check src tests benchmarks examples docs/site release hatch_build.py
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## real tables: stage times, latency, violations, penalised MAPE
	$(BIN)/python -m benchmarks.tables

fuzz: $(STAMP)  ## random tables, rules and questions for ten minutes
	$(BIN)/python -m benchmarks.fuzz

fuzz-files: $(STAMP)  ## altered model files and saved engines for ten minutes: refused or answered, no crash
	$(BIN)/python -m benchmarks.fuzz_files

fuzz-api: $(STAMP)  ## many random requests to every route of the server, against its own document
	COMPASS_API_EXAMPLES=300 $(BIN)/pytest tests/server/test_server_schema.py

laws: $(STAMP)  ## the ten analytical laws, judged by the law
	$(BIN)/python -m benchmarks.laws

peers: $(STAMP) $(PEERS)/.installed  ## beside DiCE, treecf and Optuna, in an environment of their own
	$(BIN)/python -m benchmarks.peers --python $(PEERS)/bin/python

exact: $(STAMP)  ## the search alone against the proven optimum, and the time of the proof
	$(BIN)/python -m benchmarks.exact

ablation: $(STAMP)  ## terms of the C3G loss switched on and off, beside the default generator
	$(BIN)/python -m benchmarks.ablation --full

growth: $(STAMP)  ## latency against rows, trees, parameters and rules: a table and docs/images/growth.svg
	$(BIN)/python -m benchmarks.growth

models: $(STAMP)  ## auto beside every single family, and the time of compass fit
	$(BIN)/python -m benchmarks.automl families
	$(BIN)/python -m benchmarks.automl time

automl: $(STAMP) $(AUTOML)/.installed  ## selection and tuning beside FLAML, 60 s each per table
	$(BIN)/python -m benchmarks.automl flaml --python $(AUTOML)/bin/python

speed: $(STAMP)  ## the figures that matter in three minutes, beside those of the last change
	$(BIN)/python -m benchmarks.speed

regret: $(STAMP)  ## one shot at the minimum of tables that hold every configuration
	$(BIN)/python -m benchmarks.oneshot

fronts: $(STAMP)  ## fronts: one shot, replays beside Optuna and BoTorch, rows, embeddings, speed: the kept values
	@$(BIN)/python -m benchmarks.pareto

runnable: $(STAMP)  ## suggestions that can run, from samples of exhaustive tables without any rule
	$(BIN)/python -m benchmarks.runnable

scale: $(STAMP)  ## compass reduce beside dask.dataframe, 20 M rows; then its memory on 100 M rows
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.scale --memory 100000000

billion: $(STAMP)  ## a billion rows (files visited ten times): reduce, fit, twenty suggestions
	$(BIN)/python -m benchmarks.scale.billion

quality: $(STAMP)  ## what is learnt from guided and from uniform samples, on rows put aside
	$(BIN)/python -m benchmarks.scale.quality

loop: $(STAMP)  ## the choice of runs on exhaustive spaces, beside Optuna, Kernel Tuner and SMAC3: the kept values
	@$(BIN)/python -m benchmarks.loop

loop-peers: $(STAMP) $(LOOP)/.installed  ## replay everybody again; this takes hours
	$(BIN)/python -m benchmarks.loop run $$($(BIN)/python -m benchmarks.loop names) \
		--python $(LOOP)/bin/python

schedule: $(STAMP)  ## what advice does to simulated queues (the kept values), and how fast they are simulated
	@$(BIN)/python -m benchmarks.schedule
	$(BIN)/python -m benchmarks.schedule.speed

schedule-peers: $(STAMP) $(SCHEDULE)/.installed  ## the same speed beside AccaSim; a trace on a real Slurm
	$(BIN)/python -m benchmarks.schedule.speed --python $(SCHEDULE)/bin/python
	$(BIN)/python -m benchmarks.schedule.replay

workflows: $(STAMP) $(WORKFLOW)/.installed  ## advice for Snakemake and Nextflow, read by Snakemake itself and by Groovy
	@command -v groovy >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends groovy default-jre-headless >/dev/null; } \
		|| echo "no Groovy: its test will skip"
	$(BIN)/python -m pytest -q -rs tests/schedule/test_schedule_workflow.py

platforms: $(STAMP)  ## runtime ratios across machines, applications left out; the models of the papers
	$(BIN)/python -m benchmarks.platforms --first --tuned rodinia raja multicore gavel gemm convolution
	$(BIN)/python -m benchmarks.platforms.unseen
	$(BIN)/python -m benchmarks.platforms.papers

load: $(STAMP)  ## 50 people asking a server at once for a minute, without proofs and with the default
	$(BIN)/python -m benchmarks.load
	$(BIN)/python -m benchmarks.load --prove 1

page-bench: $(PAGE)  ## the page in a real browser: bytes, frames and keys on 100,000 runs and 1,000 suggestions
	cd web && node benchmarks/page.mjs

corpus: $(STAMP)  ## how well plain English, and the columns of tables, are understood, by the corpora
	$(BIN)/python -m tests.chat.corpus_case develop
	$(BIN)/python -m tests.chat.corpus_case score
	$(BIN)/python -m tests.chat.plain_case develop
	$(BIN)/python -m tests.prepare.columns_case develop
	$(BIN)/python -m tests.prepare.columns_case score
	$(BIN)/python -m tests.prepare.columns_case score2

answers: $(STAMP)  ## record 460 answers in out/answers.json, to be compared after a change that must not change them
	@mkdir -p out
	$(BIN)/python -m benchmarks.answers record out/answers.json

word: $(STAMP) $(PEERS)/.installed  ## do answers keep their word: goals, labels and first suggestions against the truth
	$(BIN)/python -m benchmarks.word --python $(PEERS)/bin/python

synth: $(STAMP)  ## synthetic rows beside published numbers: quality, prediction, speed, augmentation
	$(BIN)/python -m benchmarks.synth

trust: $(STAMP)  ## labels, intervals and promises against runs that no engine has seen
	$(BIN)/python -m benchmarks.trust

loop-real: $(STAMP)  ## programs of this machine tuned for real: predicted against measured, runs until near the best
	@$(BIN)/python -m benchmarks.loop.real measure --keep $(or $(KEEP),.loop-real.json)
	@$(BIN)/python -m benchmarks.loop.real --keep $(or $(KEEP),.loop-real.json)

native: $(NATIVE)  ## compile the C sources; the installation does it the first time

# Not again because the environment is newer: installing has just compiled them.
$(NATIVE): $(wildcard src/compass/native/*.[ch]) src/compass/native/build.py | $(BASE)
	@[ -n "$$CC" ] || command -v cc >/dev/null || command -v gcc >/dev/null \
		|| command -v clang >/dev/null \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang
	$(BIN)/python src/compass/native/build.py
	@touch $@

compiler:  # the kernel sweep is tested for real where there is, or may be installed, a C compiler
	@command -v cc >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && apt-get install -y -qq gcc libc6-dev; } \
		|| echo "no C compiler: the tests of the sweep will skip"

system: slurm postgres browser systemd

browser: postgres  # after the databases: one apt at a time
	@[ -x "$(CHROMIUM)" ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends chromium fonts-dejavu-core >/dev/null; } \
		|| echo "no Chromium: the tests of the page in a browser will be skipped"

systemd: browser  # the units are tested in a real systemd where it can be booted in a container
	@command -v systemd-nspawn >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends systemd-container curl >/dev/null; } \
		|| echo "no systemd-nspawn: the tests of the units will skip"

slurm: compiler  # accounting and job submission are tested on a real Slurm where it is, or may be installed
	@(for one in slurmctld slurmdbd slurmd munged mariadbd; do \
		command -v $$one >/dev/null || exit 1; done) || { [ "$$(id -u)" = 0 ] \
		&& command -v apt-get >/dev/null && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			slurm-wlm slurmdbd munge mariadb-server slurm-wlm-torque >/dev/null \
		&& update-alternatives --remove mpirun /usr/bin/mpiexec.slurm; } \
		|| echo "no Slurm: its tests will skip"

postgres: slurm  # stores of experiments are tested on a real PostgreSQL where it is, or may be installed
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] \
		&& command -v apt-get >/dev/null && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			postgresql >/dev/null; } \
		|| echo "no PostgreSQL: its tests will skip"

# What Compass itself needs comes first: the page can be built while the rest is installed.
$(BASE): pyproject.toml hatch_build.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable .
	@touch $@

$(STAMP): $(BASE) $(NATIVE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch $@

$(PEERS)/.installed: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(BOFIRE)/.installed: benchmarks/masked_peers/requirements-bofire.txt
	$(PYTHON) -m venv $(BOFIRE)
	$(BOFIRE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(GREAT)/.installed: benchmarks/masked_peers/requirements-great.txt
	$(PYTHON) -m venv $(GREAT)
	$(GREAT)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(AUTOML)/.installed: benchmarks/automl/requirements.txt
	$(PYTHON) -m venv $(AUTOML)
	$(AUTOML)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(LOOP)/.installed: benchmarks/loop/requirements.txt
	$(PYTHON) -m venv $(LOOP)
	$(LOOP)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(SCHEDULE)/.installed: benchmarks/schedule/requirements.txt
	$(PYTHON) -m venv $(SCHEDULE)
	$(SCHEDULE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(WORKFLOW)/.installed:
	$(PYTHON) -m venv $(WORKFLOW)
	$(WORKFLOW)/bin/python -m pip install --quiet --disable-pip-version-check snakemake==9.27.1
	@touch $@

clean:
	rm -rf $(VENV) $(PEERS) $(AUTOML) $(LOOP) $(SCHEDULE) $(BOFIRE) $(GREAT) $(WORKFLOW) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
