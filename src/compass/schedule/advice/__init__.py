"""Advice for people who submit: what the next job should ask for, learnt from accounting."""
