"""Proofs about answers: optimal, infeasible, or how far from the best an answer can be."""

from compass.prove.proof import Proof, prove

__all__ = ["Proof", "prove"]
