"""The git repository: appending to the book, reading it, verifying it."""
