"""Searches for configurations that obey the rules and reach a goal with a small change."""
