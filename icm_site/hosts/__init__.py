"""The AI tools that ICM can be set up in: what they read, and how it is edited."""
