"""Matched pairs of comparable runs, and what they say about the effect of a parameter."""
