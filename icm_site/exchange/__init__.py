"""Export and import of everything that is stored."""
