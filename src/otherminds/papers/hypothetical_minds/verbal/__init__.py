"""Hypothetical Minds with a language model: hypotheses in sentences, plans of subgoals, and baselines."""
