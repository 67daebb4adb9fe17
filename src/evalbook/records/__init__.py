"""What the book holds: frozen models, a docstring per field, one byte string per value."""
