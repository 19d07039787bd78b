"""The warm process of a database and its thin clients; nothing is imported here."""
