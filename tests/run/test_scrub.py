"""No credential survives in anything that is kept, and nothing else is changed."""

import base64
import io
import json
import pickle
import sqlite3
import time
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.run.scrub import Scrubber, secrets_in

SECRET = 'hunter2-"quoted"/+ü&=%'
SCRUBBER = Scrubber({"SERVICE_TOKEN": SECRET, "LONGER": SECRET + "-and-more"})


@pytest.mark.parametrize(
    "written",
    [
        f"token={SECRET}.",
        json.dumps({"t": f"x {SECRET} y"}),
        json.dumps({"t": SECRET}, ensure_ascii=False),
        "https://example.org/?t=" + urllib.parse.quote(SECRET, safe=""),
        "t=" + urllib.parse.quote_plus(SECRET),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        SECRET.encode("utf-16-le").decode("latin-1"),
    ],
)
def test_a_known_secret_is_found_in_every_way_it_may_be_written(written: str) -> None:
    content = written.encode("latin-1" if "\0" in written else "utf-8")

    clean = SCRUBBER.data(content)

    assert clean != content
    assert b"hunter2" not in clean.replace(b"\0", b"")
    assert b"[scrubbed:SERVICE_TOKEN]" in clean


@given(before=st.binary(max_size=7), after=st.binary(max_size=7))
def test_base64_of_something_around_a_secret_keeps_no_more_than_its_edges(
    before: bytes, after: bytes
) -> None:
    clean = SCRUBBER.data(base64.b64encode(before + SECRET.encode() + after))

    edges = clean.split(b"[scrubbed:SERVICE_TOKEN]")
    assert len(edges) == 2
    assert len(b"".join(edges)) <= len(base64.b64encode(before + after)) + 8


def test_a_secret_that_holds_another_is_replaced_whole() -> None:
    assert SCRUBBER.text(f"<{SECRET}-and-more>") == "<[scrubbed:LONGER]>"


PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("key sk-proj-abcDEF1234567890abcd end", "key [scrubbed:api-key] end"),
        ("sk_live_abcdefghij0123456789", "[scrubbed:api-key]"),
        ("ghp_" + "a1B2" * 9, "[scrubbed:github-token]"),
        ("github_pat_" + "a1_B2" * 6, "[scrubbed:github-token]"),
        ("glpat-abcdefghij0123456789", "[scrubbed:gitlab-token]"),
        ("id=AKIAIOSFODNN7EXAMPLE", "id=[scrubbed:aws-key]"),
        ("xoxb-123456789012-abcdef", "[scrubbed:slack-token]"),
        ("hf_" + "aB3" * 11, "[scrubbed:hugging-face-token]"),
        ("AIza" + "x" * 35, "[scrubbed:google-key]"),
        ("Authorization: Bearer abc.def-0123456789==", "Authorization: [scrubbed:bearer-token]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: [scrubbed:basic-credentials]"),
        (f"a\n{PEM}\nb", "a\n[scrubbed:private-key]\nb"),
        (PEM[:50], "[scrubbed:private-key]"),
        (f"token {JWT},", "token [scrubbed:jwt],"),
        ("git clone https://me:s3cr3t@host.org/x", "git clone https://[scrubbed:url-password]@host.org/x"),
        ("postgres://:pw@db/x", "postgres://[scrubbed:url-password]@db/x"),
    ],
)  # fmt: skip
def test_what_looks_like_a_credential_is_replaced(text: str, clean: str) -> None:
    assert Scrubber({}).text(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "task-runner-with-a-very-long-name-2",
        "risk-assessment-of-2026-q4-report",
        "sk-learn-like-names-without-digits",
        "the bearer of good news",
        "https://example.org:8080/path?x=a@b",
        "mail me@example.org",
        "eyJ is how JSON begins",
        "AKIAISSHORT",
        "研发 2, 销售 1",
        "sha256 " + "ab12" * 16,
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert SCRUBBER.text(text) == text


@given(st.binary(max_size=300))
def test_content_without_credentials_keeps_its_bytes(content: bytes) -> None:
    if b"://" not in content:
        assert SCRUBBER.data(content) == content


@given(st.text(max_size=300))
def test_scrubbing_again_changes_nothing(text: str) -> None:
    once = SCRUBBER.text(text + SECRET)

    assert SCRUBBER.text(once) == once


def test_a_database_still_opens_after_scrubbing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (x)")
        connection.execute("insert into t values (?)", (f"a{SECRET}b",))
    connection.close()

    path.write_bytes(SCRUBBER.data(path.read_bytes()))

    connection = sqlite3.connect(path)
    ((value,),) = connection.execute("select x from t").fetchall()
    connection.close()
    assert "hunter2" not in value
    assert value.startswith("a[scrubbed:SERVICE_TOK")
    assert value.endswith("b")


@pytest.mark.parametrize(
    "hostile",
    [
        b"eyJ" * 200_000,
        b"sk-" * 200_000,
        b"sk-" + b"a" * 600_000,
        b"-----BEGIN PRIVATE KEY-----" * 20_000,
        b"://" * 200_000,
        b"://" + b"a:" * 300_000,
        b"Bearer " * 80_000,
        b"eyJaaaaaaaa." * 50_000,
        b"ghp_" * 150_000,
    ],
)
def test_no_text_makes_the_search_slow(hostile: bytes) -> None:
    begun = time.process_time()

    SCRUBBER.data(hostile)

    assert time.process_time() - begun < 5


def test_variables_are_secret_by_their_name_or_because_the_config_says_so() -> None:
    environment = {
        "OPENAI_API_KEY": "abcdefgh1",
        "DB_PASSWORD": "abcdefgh2",
        "MAX_TOKENS": "10000000",
        "USE_TOKENS": "false",
        "PLAIN": "abcdefgh3",
        "HANDED_ON": "abcdefgh4",
    }

    assert secrets_in(environment, ("HANDED_ON",)) == {
        "OPENAI_API_KEY": "abcdefgh1",
        "DB_PASSWORD": "abcdefgh2",
        "HANDED_ON": "abcdefgh4",
    }


def test_short_values_do_not_blot_out_words() -> None:
    assert Scrubber({"A_KEY": "the"}).text("the end") == "the end"


def test_a_scrubber_can_travel() -> None:
    copy = pickle.load(io.BytesIO(pickle.dumps(SCRUBBER)))

    assert copy.text(SECRET) == "[scrubbed:SERVICE_TOKEN]"
