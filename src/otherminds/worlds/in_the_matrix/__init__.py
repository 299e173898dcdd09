"""Matrix games played by gathering resources: rules, map files, bots, strategies, scenarios, drawing."""
