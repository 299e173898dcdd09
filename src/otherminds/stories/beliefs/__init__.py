"""Beliefs in stories: who witnesses what, nested beliefs, and benchmark files about them."""
