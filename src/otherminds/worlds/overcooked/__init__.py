"""Overcooked with rooms: rules, level files, planner, agent, its beliefs, advice, drawing."""
