"""sbatch's own language: scripts, options and grammars, and what they become in a REST body. Pure code."""

from .body import Setting, submit_body
from .environment import Submitter
from .reader import ReadJob, read_job
from .script import Script, read_script
from .spec import JobSpec

__all__ = ["JobSpec", "ReadJob", "Script", "Setting", "Submitter", "read_job", "read_script", "submit_body"]
