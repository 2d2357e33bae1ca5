"""Synthetic rows beside published numbers: quality, prediction, speed, and what measures tell."""
