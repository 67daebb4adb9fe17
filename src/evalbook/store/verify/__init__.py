"""Whether anybody changed the past of the book: seven rules, each finding with its place."""
