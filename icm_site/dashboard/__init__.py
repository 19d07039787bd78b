"""The terminal dashboard, `icm dashboard`."""
