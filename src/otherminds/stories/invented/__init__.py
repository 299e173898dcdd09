"""Invented stories: minds run forward in a household, told in English, and as a video model would report them."""
