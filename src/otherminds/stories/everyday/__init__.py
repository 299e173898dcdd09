"""Stories about anything: English with free nouns, read into who saw what."""
