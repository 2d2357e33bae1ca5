"""Advice for people who submit, judged on jobs that come after those it learnt from."""
