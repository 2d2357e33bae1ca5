"""Data of any size: speed, memory and what a sample is worth."""
