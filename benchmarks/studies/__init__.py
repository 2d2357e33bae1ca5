"""One study for each published table or figure: ours, the peers' and the published values."""
