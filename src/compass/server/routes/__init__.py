"""One file for each noun."""
