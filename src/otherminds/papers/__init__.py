"""One folder a paper: its system, experiment and report."""
