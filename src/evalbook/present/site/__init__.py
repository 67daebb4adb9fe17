"""The static site: one module a page, each a function of the book."""
