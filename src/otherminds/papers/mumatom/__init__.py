"""MuMA-ToM: questions about social interactions, answered by LIMP and by exact inference."""
