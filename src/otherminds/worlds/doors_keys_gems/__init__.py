"""Doors-Keys-Gems: rules, level files, planner, agent, advice, drawing."""
