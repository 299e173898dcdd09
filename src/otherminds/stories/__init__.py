"""Stories: what people do and say, the questions asked about it, and the answers, each with its probability."""
