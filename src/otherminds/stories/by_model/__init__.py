"""Stories that a language model reads: everything it writes is checked, and it never answers."""

from otherminds.stories.by_model.reading import answer_with

__all__ = ["answer_with"]
