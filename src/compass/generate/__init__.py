"""C3G: legal configurations that reach a goal with the smallest change."""
