"""Synthetic rows: learnt from measured ones, drawn on conditions, judged before they are used."""
