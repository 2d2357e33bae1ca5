"""Random tables, rules and questions, held against enumeration by plain Python of its own."""
