"""What past runs and models say of a configuration: predictions, trust, matched pairs."""
