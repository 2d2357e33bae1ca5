"""A conversation in plain words that ends in a confirmed query."""
