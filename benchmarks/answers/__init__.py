"""Answers recorded before a change of the code that must not change them, and compared after it."""
