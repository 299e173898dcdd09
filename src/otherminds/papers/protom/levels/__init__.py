"""Certified levels and kitchens: what help is worth in each."""
