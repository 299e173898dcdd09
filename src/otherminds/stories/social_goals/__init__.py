"""Social goals in household stories: inverse planning over belief, goal and stance."""
