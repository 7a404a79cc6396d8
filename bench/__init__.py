"""Measurements: ratios taken in one run against a named peer. `python -m bench NAME`; see docs/benchmarks.md."""
