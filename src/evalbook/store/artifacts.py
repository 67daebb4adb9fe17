"""The artifact store: files by their SHA-256, written once."""

import contextlib
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Self

import fsspec
from fsspec.implementations.local import LocalFileSystem

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import sync_folder, write_whole
from evalbook.base.problems import UserError
from evalbook.store.git import Repository

_CHUNK = 1 << 20


class ArtifactStore:
    """A folder of files named by their digest, local or anywhere fsspec reaches."""

    def __init__(self, url: str) -> None:
        self.url = url
        """Where the store is: a path or an fsspec URL."""
        self._files, self._root = fsspec.core.url_to_fs(url)
        local = isinstance(self._files, LocalFileSystem)
        self._folder = Path(self._root) if local else None
        """None where it is not on this machine."""

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
            if self._folder is not None:
                write_whole(Path(self._place(sha256)), content, durable=True)
            else:
                self._upload(sha256, lambda beside: self._files.pipe_file(beside, content))
        return sha256

    def put_file(self, path: Path) -> str:
        """Store the content of a file, however large, and return its SHA-256."""
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if not self.has(sha256):
            if self._folder is not None:
                self._copy(path, sha256)
            else:
                self._upload(sha256, lambda beside: self._files.put_file(str(path), beside))
        return sha256

    def _copy(self, path: Path, sha256: str) -> None:
        """Copy a file to its place in a local store, durably, in one step."""
        place = Path(self._place(sha256))
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f".~{uuid.uuid4().hex}")
        try:
            with path.open("rb") as source, beside.open("xb") as target:
                shutil.copyfileobj(source, target, _CHUNK)
                target.flush()
                os.fsync(target.fileno())
            beside.replace(place)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        sync_folder(place.parent)

    def _upload(self, sha256: str, send: Callable[[str], object]) -> None:
        """Send a file beside its place, then give it its name: a reader never sees half of it."""
        place = self._place(sha256)
        beside = f"{place}.{uuid.uuid4().hex}~"
        self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
        try:
            send(beside)
            self._files.mv(beside, place)
        except BaseException:
            with contextlib.suppress(OSError):
                self._files.rm_file(beside)
            raise

    def unchecked(self, sha256: str) -> bytes | None:
        """Return whatever lies under that name, or None: for who compares the hash and says who is wrong."""
        try:
            content: bytes = self._files.cat_file(self._place(sha256))
        except FileNotFoundError:
            return None
        return content

    def read(self, sha256: str) -> bytes:
        """Return the content of one artifact, its hash checked.

        Raises:
            UserError: when it is not there, or is not what its name says.
        """
        content = self.unchecked(sha256)
        if content is None:
            raise UserError(
                f"artifact {sha256[:12]} is not in the store {self.url}",
                hint="copy the store's folder from the machine that made the run",
            )
        if sha256_hex(content) != sha256:
            raise UserError(
                f"artifact {sha256[:12]} in the store {self.url} is damaged: its hash differs"
            )
        return content
