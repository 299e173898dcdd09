"""Games of clues, Wavelength and tiny Hanabi, and players for them."""
