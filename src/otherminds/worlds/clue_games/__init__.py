"""Clue games, Wavelength and tiny Hanabi: their rules, their players, and their use as tasks of Theory of Mind."""
