"""Where agents act: pure rules, levels, pictures."""
