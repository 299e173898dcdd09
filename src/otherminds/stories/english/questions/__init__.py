"""Reading questions and their answer options."""
