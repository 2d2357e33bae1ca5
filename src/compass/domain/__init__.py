"""The nouns of Compass: plain data, no numerics, no input or output."""
