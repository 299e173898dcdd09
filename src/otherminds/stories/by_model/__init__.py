"""Front ends in which a language or vision model does the reading, and its word is checked."""
