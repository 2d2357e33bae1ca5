"""Everything that knows Slurm: its fields, units, accounting, commands and job scripts."""
