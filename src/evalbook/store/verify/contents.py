"""The bytes of many blobs, with those that are missing told apart."""

from collections.abc import Collection, Iterator, Sequence

from evalbook.store.git import Repository

_AT_ONCE = 2_000
"""Blobs held in memory together: small artifacts are at most 32 KiB each, so some 64 MiB."""


def contents(
    repository: Repository, blobs: Sequence[str], *, missing: Collection[str] = ()
) -> Iterator[bytes | None]:
    """Yield the content of each blob in the order given; None where the repository lacks it.

    Those in ``missing`` are not asked for: git would fetch them one by one.
    """
    for start in range(0, len(blobs), _AT_ONCE):
        chunk = blobs[start : start + _AT_ONCE]
        known = _batch(repository, [blob for blob in chunk if blob not in missing])
        for blob in chunk:
            yield None if blob in missing else next(known)


def _batch(repository: Repository, blobs: Sequence[str]) -> Iterator[bytes | None]:
    if not blobs:
        return
    wanted = "".join(f"{blob}\n" for blob in blobs).encode()
    out = repository.run("cat-file", "--batch", "--buffer", stdin=wanted).out
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        header = out[at:end]
        if header.endswith(b" missing"):
            yield None
            at = end + 1
        else:
            size = int(header.rpartition(b" ")[2])
            yield out[end + 1 : end + 1 + size]
            at = end + 1 + size + 1


def missing_blobs(repository: Repository, head: str) -> frozenset[str]:
    """Return the objects that a partial clone did not bring along; none for any other repository."""
    promised = repository.run("config", "--get-regexp", r"^remote\..*\.promisor$", ok=(0, 1))
    if promised.code:
        return frozenset()
    listed = repository.run("rev-list", "--objects", "--missing=print", head, "--").out.decode(
        errors="surrogateescape"
    )
    return frozenset(line[1:] for line in listed.splitlines() if line.startswith("?"))
