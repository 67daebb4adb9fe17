import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.base.canonical import NamedDigest, canonical_json, manifest_digest, sha256_hex, slug

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)  # fmt: skip


@given(json_values)
def test_canonical_json_says_the_same_and_is_its_own_canonical_form(value: object) -> None:
    once = canonical_json(value)
    assert json.loads(once) == value
    assert canonical_json(json.loads(once)) == once


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")], "\ud800"])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        canonical_json(value)


def test_key_order_does_not_change_the_bytes() -> None:
    assert canonical_json({"b": 1, "a": "研发"}) == '{"a":"研发","b":1}'.encode()


@given(
    st.lists(
        st.builds(NamedDigest, st.text("abc/", min_size=1), st.just(sha256_hex(b""))), unique=True
    )
)
def test_a_manifest_digest_does_not_depend_on_order(files: list[NamedDigest]) -> None:
    assert manifest_digest(files) == manifest_digest(reversed(files))


def test_a_renamed_file_changes_the_manifest_digest() -> None:
    digest = sha256_hex(b"x")
    assert manifest_digest([NamedDigest("a", digest)]) != manifest_digest(
        [NamedDigest("b", digest)]
    )


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(names, names)
def test_two_texts_never_share_a_slug(one: str, other: str) -> None:
    assert (slug(one) == slug(other)) == (one == other)


@given(names | st.sampled_from(["con", "CON.txt", "nul", "com1.a", "Task 1", "~41", "0~~a", "."]))
def test_a_slug_is_a_safe_file_name(text: str) -> None:
    made = slug(text)
    assert re.fullmatch(r"[a-z0-9][a-z0-9._~-]*", made)
    assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", made)


def test_what_is_a_slug_already_stays_as_it_is() -> None:
    assert slug("swe-bench-astropy-1") == "swe-bench-astropy-1"


def test_the_empty_text_has_no_slug() -> None:
    with pytest.raises(ValueError, match="empty"):
        slug("")
