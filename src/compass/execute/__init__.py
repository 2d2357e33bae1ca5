"""Where work runs: in this process, in a pool, on a Dask cluster, under MPI or in Slurm jobs."""
