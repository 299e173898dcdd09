"""Repeated matrix games: rules, payoff files, machines, partners."""
