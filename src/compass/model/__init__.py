"""Surrogates: models that predict an outcome from a configuration.

`base` says what a model family and a trained model are, `recipe` how a model is made, `error` how
wrong it is; `trees/` are ensembles as flat arrays, `files/` are models that people bring.
"""
