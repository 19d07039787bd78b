"""Memoirs: permanent knowledge graphs of named concepts and typed links."""
