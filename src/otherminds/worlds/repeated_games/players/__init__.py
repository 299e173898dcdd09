"""Players of repeated games, one file each."""
