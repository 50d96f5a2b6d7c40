"""A real Slurm on this machine: built once from Debian's packages, started in seconds, gone without a trace."""
