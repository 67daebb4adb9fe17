"""Grading what an agent left behind: state, not talk."""
