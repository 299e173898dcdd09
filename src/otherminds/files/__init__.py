"""Reading and writing what outlasts the process: text, TOML, strict JSON, durable databases."""
