"""Benchmarks: each module prints a table and returns 1 when a promise is broken. Run by scripts/bench."""
