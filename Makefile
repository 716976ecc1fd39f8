# Commands of development; everything that must hold before a change lands is in .ci/run.
PYTHON = .venv/bin/python

.PHONY: app screenshots bench-app test check

app:
	$(PYTHON) -m energy.ui run app.py

# pictures of every page at 1280 and 390 px, light and dark, on the example ledger
screenshots:
	$(PYTHON) scripts/screenshots.py

bench-app:
	$(PYTHON) benchmarks/bench_app.py

test:
	.venv/bin/pytest

check:
	./.ci/run
