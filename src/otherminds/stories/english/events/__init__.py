"""The events and states that clauses of each kind describe."""
