"""Compass: what to run, the smallest change, and what happens if."""
