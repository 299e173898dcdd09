"""Front ends in which a language or vision model reads, and everything it writes is checked."""
