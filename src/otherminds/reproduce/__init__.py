"""Running all experiments, resuming them, and one combined report."""
