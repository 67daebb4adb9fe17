"""Turning an evaluation into rows: workspaces, agents, checks and importers."""
