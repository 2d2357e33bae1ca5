"""Advice at submit time: a table looked up by a small script inside sbatch, salloc and srun."""
