"""One paper, one readable file."""
