"""Search, costs-to-go and joint plans; planners know no particular world."""
