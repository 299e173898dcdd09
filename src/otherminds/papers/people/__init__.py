"""People: minds fitted to what people did, and people on the scale of literal and functional Theory of Mind."""
