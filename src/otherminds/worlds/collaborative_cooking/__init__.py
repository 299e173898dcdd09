"""Collaborative cooking: rules, map files, bots, drawing."""
