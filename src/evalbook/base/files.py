"""Files written whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class KeptFile(NamedTuple):
    """A file that an attempt left and that is to be kept."""

    sha256: str
    """Of its bytes, after scrubbing."""
    path: Path
    """Where the bytes lie until they are stored."""


def write_whole(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Put ``content`` at ``path`` in one step, replacing what was there.

    A reader sees the old bytes or the new ones. With ``durable`` both the bytes and the name
    have reached the disk when this returns.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".~")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        beside.chmod(0o644)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable, where the system can do that for folders."""
    with suppress(OSError):  # Windows can't open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def replace_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make ``folder`` hold exactly ``files`` (relative path to content), built beside it first.

    Whatever goes wrong while writing, the folder keeps what it had.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}~"))
    try:
        for name, content in files.items():
            target = beside / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        beside.chmod(0o755)
        old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}~"))
        try:
            if folder.exists():
                folder.replace(old / "old")
            try:
                beside.replace(folder)
            except OSError:
                if (old / "old").exists():
                    (old / "old").replace(folder)
                raise
        finally:
            shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def files_below(folder: Path) -> Iterator[Path]:
    """Yield every regular file and symbolic link below ``folder``, sorted by its POSIX path."""
    found = [
        Path(root) / name
        for root, folders, names in os.walk(folder)
        for name in [*names, *(f for f in folders if (Path(root) / f).is_symlink())]
    ]
    yield from sorted(found, key=lambda path: path.relative_to(folder).as_posix())
