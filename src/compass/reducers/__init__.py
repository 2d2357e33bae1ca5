"""Ways to learn from fewer rows without learning something else."""
