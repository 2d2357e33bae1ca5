"""A state that several servers share: what is known in PostgreSQL, large files in the folder."""
