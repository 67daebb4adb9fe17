"""Shallow and partial clones, replace refs, grafts, commit-graphs: nothing is hidden by them."""

from pathlib import Path

import pytest
from tests.builders import exclusion_of
from tests.store.verify.builder import Entry, Past, Story, clone, edited, of_rule, page, story

from evalbook.store.git import Repository
from evalbook.store.verify.verify import verify


def _edit(book: Story) -> tuple[str, str]:
    """Edit the first page and write; return the commit before, and the one that did it."""
    commit = book.past.change({book.first.path: edited(book.first)})
    book.past.commit(page(exclusion_of(book.rows[4], number=7)))
    book.past.write()
    return book.past.id(commit - 1), book.past.id(commit)


@pytest.mark.parametrize("depth", [1, 3])
def test_a_shallow_clone_is_never_called_verified(
    repository: Repository, tmp_path: Path, depth: int
) -> None:
    story(repository).past.write()
    with clone(repository, tmp_path / "clone", f"--depth={depth}") as copy:
        seen = verify(copy)
    (finding,) = seen.findings
    assert (seen.outcome, seen.commits, finding.severity) == ("unproven", depth, "weakness")
    assert finding.rule == "whole-history"
    assert finding.commit is not None
    assert "shallow" in finding.message


def test_in_a_shallow_clone_broken_pages_are_found_all_the_same(
    repository: Repository, tmp_path: Path
) -> None:
    book = story(repository)
    _, guilty = _edit(book)
    with clone(repository, tmp_path / "clone", "--depth=1") as copy:
        seen = verify(copy)
    assert seen.outcome == "violated"
    assert guilty not in {finding.commit for finding in seen.findings}
    assert [f.path for f in of_rule(seen, "well-formed")] == [book.first.path]


def test_a_deep_clone_of_an_honest_book_is_verified(repository: Repository, tmp_path: Path) -> None:
    story(repository).past.write()
    with clone(repository, tmp_path / "clone") as copy:
        assert verify(copy).outcome == "verified"


def test_a_replace_ref_hides_no_edit_and_is_named(repository: Repository) -> None:
    book = story(repository)
    before, guilty = _edit(book)
    repository.run("replace", guilty, before)
    seen = verify(repository)
    assert seen.outcome == "violated"
    assert [(f.commit, f.path, f.line) for f in of_rule(seen, "added-only")] == [
        (guilty, book.first.path, 2)
    ]
    (replaced,) = of_rule(seen, "no-substitutes")
    assert (replaced.severity, replaced.commit) == ("weakness", guilty)


def test_a_replace_ref_on_a_page_is_named_with_its_path(repository: Repository) -> None:
    book = story(repository)
    book.past.write()
    blob = repository.run("rev-parse", f"HEAD:{book.first.path}").out.decode().strip()
    other = repository.run("hash-object", "-w", "--stdin", stdin=b"{}\n").out.decode().strip()
    repository.run("replace", blob, other)
    seen = verify(repository)
    (finding,) = seen.findings
    assert (seen.outcome, finding.rule, finding.path) == (
        "verified", "no-substitutes", book.first.path,
    )  # fmt: skip


def test_a_graft_hides_no_edit_and_is_named(repository: Repository) -> None:
    book = story(repository)
    before, guilty = _edit(book)
    after = repository.resolve("HEAD")
    grafts = repository.common_dir / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{after} {before}\n")
    seen = verify(repository)
    assert [f.commit for f in of_rule(seen, "added-only")] == [guilty]
    (graft,) = of_rule(seen, "no-substitutes")
    assert "info/grafts" in graft.message


def test_a_partial_clone_is_unproven_and_fetches_nothing(
    repository: Repository, tmp_path: Path
) -> None:
    book = story(repository)
    book.past.write()
    repository.run("config", "uploadpack.allowFilter", "true")
    with clone(repository, tmp_path / "clone", "--filter=blob:none", "--no-checkout") as copy:
        seen = verify(copy)
        counted = copy.run("rev-list", "--objects", "--missing=print", "HEAD").out
    assert seen.outcome == "unproven"
    lacking = [finding for finding in seen.findings if finding.rule == "whole-history"]
    assert {finding.path for finding in lacking} == set(book.past.files())
    assert counted.count(b"\n?") == len(book.past.files())


def test_in_a_partial_clone_a_deleted_page_is_found_all_the_same(
    repository: Repository, tmp_path: Path
) -> None:
    book = story(repository)
    commit = book.past.change({book.first.path: None})
    book.past.write()
    repository.run("config", "uploadpack.allowFilter", "true")
    with clone(repository, tmp_path / "clone", "--filter=blob:none", "--no-checkout") as copy:
        seen = verify(copy)
    (finding,) = of_rule(seen, "added-only")
    assert (seen.outcome, finding.commit) == ("violated", book.past.id(commit))


def test_a_page_whose_object_is_gone_leaves_the_book_unproven(repository: Repository) -> None:
    book = story(repository)
    book.past.write()
    _unpack(repository)
    blob = repository.run("rev-parse", f"HEAD:{book.planned.path}").out.decode().strip()
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    seen = verify(repository)
    assert seen.outcome == "unproven"
    assert ("whole-history", book.past.id(2), book.planned.path) in {
        (finding.rule, finding.commit, finding.path) for finding in seen.findings
    }
    assert {finding.severity for finding in seen.findings} == {"weakness"}


def test_a_commit_graph_that_skips_a_commit_hides_no_edit(
    repository: Repository, tmp_path: Path
) -> None:
    """The graph is written while a replaced parent is in force, so it names another parent."""
    book = story(repository)
    before, guilty = _edit(book)
    honest = Repository.create(tmp_path / "other")
    with honest:
        past = Past(honest)
        past.change({"x": Entry(b"1")})
        past.write()
    repository.run("commit-graph", "write", "--reachable")
    graph = repository.git_dir / "objects" / "info" / "commit-graph"
    content = graph.read_bytes()
    graph.chmod(0o644)
    graph.write_bytes(content.replace(bytes.fromhex(guilty), bytes.fromhex(before)))
    assert [f.commit for f in of_rule(verify(repository), "added-only")] == [guilty]


def _unpack(repository: Repository) -> None:
    """Turn every pack into loose objects, so that one can be taken away."""
    for pack in sorted((repository.git_dir / "objects" / "pack").glob("*.pack")):
        moved = repository.git_dir / pack.name
        pack.rename(moved)
        for beside in pack.parent.glob(f"{pack.stem}.*"):
            beside.unlink()
        with moved.open("rb") as stream:
            repository.run("unpack-objects", "-q", stdin=stream)
