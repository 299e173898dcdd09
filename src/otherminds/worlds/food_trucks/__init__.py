"""Food trucks: an agent looks for lunch, and an observer infers from its path what it likes and what it expected."""
