"""Predicted queue waits, judged on jobs that come after those they were learnt from."""
