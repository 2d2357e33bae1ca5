"""Talking to a Compass server."""
