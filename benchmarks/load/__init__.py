"""Many people asking a server at once."""
