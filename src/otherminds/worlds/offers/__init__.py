"""Offers: ultimatum, trust and dictator games, in which one person divides what two may get."""
