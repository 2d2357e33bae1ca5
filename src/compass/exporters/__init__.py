"""Forms of an answer: tables, job scripts, files to fill in, and the Python that repeats it."""
