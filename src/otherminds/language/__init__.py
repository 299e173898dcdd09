"""Language models: one interface, several providers, a ledger of all calls, and structured replies."""
