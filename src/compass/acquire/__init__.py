"""What to measure next: the runs that would improve a decision or the models most."""
