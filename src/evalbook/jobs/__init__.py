"""One function a command: read, derive, present, write."""
