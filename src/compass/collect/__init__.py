"""Measures small parallel kernels on this machine, to make a table of runs Compass can learn from.

Start with :func:`compass.collect.sweep.collect`.

Decision 0009 (docs/decisions).
"""
