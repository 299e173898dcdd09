"""Hypothetical Minds with a language model: guesses in sentences, plans of subgoals, and agents without any theory."""
