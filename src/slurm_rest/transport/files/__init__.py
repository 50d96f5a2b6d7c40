"""Reading and removing files of the cluster: through a directory that both sides see, over SFTP, or not at all."""

from .base import Entry, FileHandle, Files, FileStat, Store, Tail
from .choice import choose_files
from .stored import StoredFiles

__all__ = ["Entry", "FileHandle", "FileStat", "Files", "Store", "StoredFiles", "Tail", "choose_files"]
