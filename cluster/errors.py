"""What stops a cluster, said in one line."""

from __future__ import annotations


class ClusterError(Exception):
    """Something is missing or does not answer; the text says what it is and what to do about it."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what = " ".join(what.split())
        self.remedy = " ".join(remedy.split())
        super().__init__(f"{self.what}; {self.remedy}")


class DiskFullError(ClusterError):
    """There was no space left for something."""

    def __init__(self, what: str, need: str = "some space") -> None:
        super().__init__(f"the disk became full while {what}", f"free {need} or set SLURM_REST_CACHE to another folder")
