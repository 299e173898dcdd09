"""Goals, social goals and beliefs of people in a household, inferred from what they do and say."""
