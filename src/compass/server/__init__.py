"""Compass over HTTP."""
