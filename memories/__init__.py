"""Memories: episodic notes that are stored, recalled, decayed and never lost."""
