"""The experiment loop replayed on tables that hold every configuration: `make loop`."""
