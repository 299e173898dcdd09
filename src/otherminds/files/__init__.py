"""Reading and writing files: text, TOML, strict JSON, durable databases."""
