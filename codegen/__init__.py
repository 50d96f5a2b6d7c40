"""The generator behind ``scripts/codegen``: documents of slurmrestd in, ``src/slurm_rest/api`` out. Not shipped."""
