"""Benchmarks by purpose: how fast it is, what breaks it, and what its claims rest on; run as modules from here."""
