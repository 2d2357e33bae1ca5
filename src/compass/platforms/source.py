"""Runs on machines from wherever they are: tables, or profiles with a row per region."""

from compass.readers import read
from compass.readers.profiles.by_region import are_profiles, read_regions
from compass.readers.table import Table


def read_source(source: str) -> Table:
    """A table of runs; of profiles (Caliper and others) every region is a run of its own.

    So a benchmark suite enters as it was profiled: its kernels are the regions.
    """
    return read_regions(source) if are_profiles(source) else read(source)
