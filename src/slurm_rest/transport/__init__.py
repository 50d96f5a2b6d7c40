"""Ways to Slurm: each moves the requests that pure code builds, and none knows the others."""
