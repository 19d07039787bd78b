"""What a project's folder says about it, read from its files and nothing else."""
