"""ProToM: a facilitator that infers goals and speaks only when it helps."""
