"""Clue games, from tiny Hanabi to Codenames: their rules, their players, and their use as tasks of Theory of Mind."""
