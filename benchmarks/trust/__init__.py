"""Whether labels, intervals and promises hold, measured on public tables."""
