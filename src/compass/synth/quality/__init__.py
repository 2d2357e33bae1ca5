"""How like the measured rows synthetic ones are: measures, each beside what real rows reach."""
