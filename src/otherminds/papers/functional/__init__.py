"""Functional Theory of Mind: language models and other players in repeated games."""
