import pytest

from evalbook.run.checks.globs import matches


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("a.csv", "a.csv"),
        ("*.csv", "a.csv"),
        ("*", ".hidden"),
        ("out/*.csv", "out/a.csv"),
        ("?.txt", "é.txt"),
        ("**", "a/b/c"),
        ("**/a", "a"),
        ("**/a", "x/y/a"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("docs/**", "docs/a/b"),
        ("docs/**", "docs"),
        ("docs/", "docs/a/b"),
        ("tests", "tests/a/test_b.py"),
        ("./a//b", "a/b"),
        ("*.txt", "two\nlines.txt"),
        ("[x].txt", "[x].txt"),
        ("a+(b).txt", "a+(b).txt"),
    ],
)
def test_a_glob_matches(glob: str, path: str) -> None:
    assert matches(path, (glob,))


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.csv", "out/a.csv"),
        ("*", "a/b"),
        ("out/*", "out/a/b"),
        ("a?c", "a/c"),
        ("a", "ab"),
        ("a", "b/a"),
        ("docs/**", "docs2/a"),
        ("[x].txt", "x.txt"),
        ("A.csv", "a.csv"),
        ("**/a", "xa"),
    ],
)
def test_a_glob_does_not_match(glob: str, path: str) -> None:
    assert not matches(path, (glob,))


def test_no_globs_match_nothing_and_one_of_several_is_enough() -> None:
    assert not matches("a", ())
    assert matches("b", ("a", "b"))


def test_many_stars_against_a_long_name_end_soon() -> None:
    assert not matches("a" * 5_000, ("**a**a**a/**/**/**/x*",))
