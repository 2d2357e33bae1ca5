"""Runtime ratios across machines, on public tables: see `python -m benchmarks.platforms --help`."""
