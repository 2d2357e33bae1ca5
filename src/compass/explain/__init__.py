"""Why a model predicts what it predicts: contributions, importance, dependence."""
