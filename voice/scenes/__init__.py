"""Scenes: a whole session on one clock, from a file, in virtual time."""
