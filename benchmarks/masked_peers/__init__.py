"""Masked questions put to Compass and to other tools: penalised MAPE, violations, time, truth."""
