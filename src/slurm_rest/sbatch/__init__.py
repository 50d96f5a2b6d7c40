"""sbatch's own language: what its options mean and what they become in a REST body. Pure code."""

from .body import submit_body
from .script import Script, check_script, read_script
from .spec import JobSpec

__all__ = ["JobSpec", "Script", "check_script", "read_script", "submit_body"]
