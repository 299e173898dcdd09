"""Language models: one seam, whoever answers behind it."""
