"""Measurements of the product by its own code paths."""
