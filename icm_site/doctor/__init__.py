"""`icm doctor`: what is not as it should be, and the command that mends it."""
