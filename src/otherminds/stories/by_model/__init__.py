"""Front ends in which a language model reads, and everything it writes is checked."""
