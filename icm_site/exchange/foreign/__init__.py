"""What other programs remember, read as rows of an export."""
