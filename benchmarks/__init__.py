"""Benchmarks: laws whose truth is a formula, and public tables whose truth was measured."""
