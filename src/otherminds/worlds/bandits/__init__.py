"""Bandits: trials without a partner, in which each arm pays what nobody chose."""
