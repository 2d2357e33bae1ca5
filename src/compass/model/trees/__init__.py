"""Ensembles of trees as flat arrays: walked, cut down to a question, joined and bounded."""
