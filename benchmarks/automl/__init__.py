"""Model selection on public tables: beside single families and beside FLAML."""
