"""The papers' experiments, level design, and the results contract."""
