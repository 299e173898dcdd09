"""Stories as storyboards and short films."""
