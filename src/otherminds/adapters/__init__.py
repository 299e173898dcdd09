"""Bridges to other people's engines, and recordings of what these show."""
