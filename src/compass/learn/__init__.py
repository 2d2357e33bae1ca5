"""From prepared rows to models with their errors: selection, tuning, calibration, updates."""
