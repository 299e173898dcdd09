"""Reading English: sentences, phrases, clauses, events and questions."""
