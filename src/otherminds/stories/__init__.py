"""Stories: what people do and say, questions about it, and answers with their probabilities."""
