# One command runs it, one tests it: `make demo`, `make test`. All they need is python3 (3.11 or later, with
# its venv module), make and the package registry; what they install goes into .venv and nowhere else.

PYTHON ?= python3
# Tests that run at once: much of them is waiting, for speech in real time and for other programs.
JOBS ?= 3
BIN := .venv/bin
RUN := $(BIN)/python -m

.PHONY: demo test soak agents check format fixtures clean
.DEFAULT_GOAL := help

.PHONY: help
help:
	@echo "make demo    a conversation with a scripted agent: real speech, real Whisper, recorded replies"
	@echo "make test    every check: format, lint, types, tests"
	@echo "make soak    every fault in every state with real processes and devices; hundreds of turns, 200 starts of Voice"
	@echo "make agents  the agents of other makers that the tests talk with (make test does it)"
	@echo "make format  rewrite the code as the checks want it"
	@echo "make fixtures  make the recordings in audio_fixtures/ anew"
	@echo "make clean   remove .venv"

demo: .venv/demo.ready
	@$(BIN)/voice demo

# What fails is tried once more, and named as a rerun: many tests play through real devices, terminals and other
# makers' programs, which a busy machine can hold up for longer than anybody waits. A fault fails twice.
test: .venv/test.ready agents
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(RUN) mypy
	$(RUN) pytest --numprocesses=$(JOBS) --dist=loadfile --reruns=1 -r aR $(PYTEST)

# Under an hour on a quiet machine. It is nice: what else runs comes first.
soak: .venv/test.ready agents
	@status=0; \
	VOICE_SOAK=1 nice $(RUN) pytest --durations=0 tests/voice/faults/test_real_*.py $(PYTEST) || status=1; \
	nice $(BIN)/python benchmarks/soak.py $(SOAK) || status=1; \
	exit $$status

# What cannot be installed, as where the npm registry is out of reach, is said in one line, and its tests are skipped.
# Without npm, the one that comes with a Node from PyPI is used. Pi is first: an ACP agent runs it.
agents: .venv/bin/python
	@for agent in pi acp; do tests/voice/hosts/$$agent/install.sh .venv/agents $(BIN)/python || exit 1; done

format: .venv/test.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fixtures: .venv/fixtures.ready
	$(BIN)/python audio_fixtures/make_fixtures.py

clean:
	rm -rf .venv

# Each set of packages is installed once, to the exact versions in constraints.txt.
.venv/demo.ready: EXTRAS = offline
.venv/test.ready: EXTRAS = offline,test
.venv/fixtures.ready: EXTRAS = offline,test,fixtures
.venv/%.ready: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing what $* needs into .venv (once) …"
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
		$(RUN) pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	@touch $@

.venv/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python is missing: sudo apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$$($(PYTHON) --version) is too old, 3.11 or later is needed: sudo apt install python3.11 python3.11-venv, then make PYTHON=python3.11"; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing: sudo apt install python3-venv"; exit 1; }
	@$(PYTHON) -m venv .venv
