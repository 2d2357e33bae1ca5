"""Compass beside other tools: the same table, forest, rules, questions and judge."""
