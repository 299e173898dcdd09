"""What agents want, believe and do next."""
