"""Slurm: advice for people who submit, and simulated queues."""
