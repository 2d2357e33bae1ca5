"""Learned representations of configurations, shared by everything that learns from them."""
