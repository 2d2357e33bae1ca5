"""Where runs are made: the machine at hand, Slurm, or what a package brings."""
