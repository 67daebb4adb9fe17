"""The artifact store: files by their SHA-256, written once."""

import contextlib
import uuid
from pathlib import Path
from typing import Self

import fsspec

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import UserError
from evalbook.store.git import Repository


class ArtifactStore:
    """A folder of files named by their digest, local or anywhere fsspec reaches."""

    def __init__(self, url: str) -> None:
        self.url = url
        """Where the store is: a path or an fsspec URL."""
        self._files, self._root = fsspec.core.url_to_fs(url)

    @classmethod
    def of(cls, repository: Repository) -> Self:
        """Return the store of a repository: ``evalbook.store`` of its git configuration, else local."""
        top = repository.work_tree or repository.git_dir
        return cls(repository.setting("evalbook.store") or str(top / ".evalbook" / "store"))

    def _place(self, sha256: str) -> str:
        return f"{self._root}/{sha256[:2]}/{sha256}"

    def has(self, sha256: str) -> bool:
        """Whether the file is there."""
        return bool(self._files.exists(self._place(sha256)))

    def put(self, content: bytes) -> str:
        """Store ``content`` unless it is there already, and return its SHA-256."""
        sha256 = sha256_hex(content)
        if not self.has(sha256):
            place = self._place(sha256)
            beside = f"{place}.{uuid.uuid4().hex}~"
            self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
            try:
                self._files.pipe_file(beside, content)
                self._files.mv(beside, place)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._files.rm_file(beside)
                raise
        return sha256

    def put_file(self, path: Path) -> str:
        """Store the content of a file and return its SHA-256."""
        return self.put(path.read_bytes())

    def read(self, sha256: str) -> bytes:
        """Return the content of one artifact, its hash checked.

        Raises:
            UserError: when it is not there, or is not what its name says.
        """
        try:
            content: bytes = self._files.cat_file(self._place(sha256))
        except FileNotFoundError:
            raise UserError(
                f"artifact {sha256[:12]} is not in the store {self.url}",
                hint="copy the store's folder from the machine that made the run",
            ) from None
        if sha256_hex(content) != sha256:
            raise UserError(
                f"artifact {sha256[:12]} in the store {self.url} is damaged: its hash differs"
            )
        return content
