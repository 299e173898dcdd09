"""A household where agents search for items, talk, help and hinder."""
