"""Hypothetical Minds: an agent that generates, tests and refines hypotheses about its partners."""
