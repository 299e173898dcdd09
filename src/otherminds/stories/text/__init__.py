"""The front end that reads English: stories into episodes, questions into claims, with a lexicon and a grammar."""
