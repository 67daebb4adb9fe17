"""Every key is found on its line, whatever stands around it."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from evalbook.run.toml_lines import key_lines

DOCUMENT = '''# a comment = with an equals sign
title = "x = 1" # another
a.b."c d" = """
k = 1
"""
list = [
  1, # [
  { q = "]" }, [[2], [3]]
]
[exclusion]
allowed = ["x"]

[[check]]
name = 'a'
[[check.sub]]
z = 1.5
[[check]]
name = "b"
[check.deep]
t = """a""""
u = 2026-01-01T00:00:00.5Z
'''


def test_keys_are_found_on_their_lines() -> None:
    tomllib.loads(DOCUMENT)

    assert key_lines(DOCUMENT) == {
        ("title",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c d"): 3,
        ("list",): 6,
        ("exclusion",): 10,
        ("exclusion", "allowed"): 11,
        ("check", 0): 13,
        ("check", 0, "name"): 14,
        ("check", 0, "sub", 0): 15,
        ("check", 0, "sub", 0, "z"): 16,
        ("check", 1): 17,
        ("check", 1, "name"): 18,
        ("check", 1, "deep"): 19,
        ("check", 1, "deep", "t"): 20,
        ("check", 1, "deep", "u"): 21,
    }


_VALUES = st.sampled_from(
    ["1", "-2.5e3", "true", '"a # b"', "'c = [d'", '"""\nx = 1\n"""', "'''\n[y]\n'''",
     "[\n1,\n# ]\n2]", "{ a = 1, b = [2] }", "1979-05-27T07:32:00Z", r'"\"\\"', '""""q"""']
)  # fmt: skip


@given(st.lists(st.tuples(_VALUES, st.booleans()), max_size=8))
def test_a_key_stands_where_its_text_stands(values: list[tuple[str, bool]]) -> None:
    text = ""
    expected: dict[tuple[str | int, ...], int] = {}
    for number, (value, in_table) in enumerate(values):
        table: tuple[str | int, ...] = ()
        if in_table or number:
            text += f"[t{number}] # = \n"
            table = (f"t{number}",)
            expected[table] = text.count("\n")
        expected[(*table, "key")] = text.count("\n") + 1
        text += f"key = {value}\n\n"
    tomllib.loads(text)

    assert key_lines(text) == expected
