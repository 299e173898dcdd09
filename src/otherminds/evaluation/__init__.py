"""Literal and functional scores, statistics, figures and reports, from rows alone."""
