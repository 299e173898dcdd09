"""Players of repeated games, one file each; `by_name` lists them."""
