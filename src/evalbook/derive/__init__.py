"""Pure functions of records: the folded book and the figures read from it."""
