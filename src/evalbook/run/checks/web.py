"""The check that asks an HTTP service."""

import queue
import threading
import time
from typing import NamedTuple

from evalbook.records.checks import HttpEquals
from evalbook.run.checks.answers import Answer, BrokenCheckError, UnreadableError, quoted
from evalbook.run.checks.documents import first_difference, parse_json

_LARGEST_BODY = 8 << 20


class _Response(NamedTuple):
    status: int
    body: bytes


def http_equals(check: HttpEquals) -> Answer:
    """Hold when one GET, without following redirects, gives this status and this body.

    The agent's own processes are gone by now, so the service belongs to the evaluation's surroundings:
    where it can't be reached at all (refused, unknown host, no connection in time, no trusted
    certificate) nothing is known about the agent and the check breaks down. Once a connection
    stands, a wrong answer, a garbled one or none within the time limit is a failure. Proxies of the
    environment are not used.
    """
    response = _in_time(check)
    expected = f"status {check.status} from {check.url}"
    if response.status != check.status:
        return Answer("failed", expected, f"status {response.status}", check.url)
    if check.body is not None:
        body = response.body.decode("utf-8", "backslashreplace")
        if body != check.body:
            return Answer("failed", f"the body {quoted(check.body)}", quoted(body), check.url)
    if check.value is not None:
        return _json_answer(check, response.body)
    return Answer("held", expected, f"status {response.status}", check.url)


def _json_answer(check: HttpEquals, body: bytes) -> Answer:
    document = parse_json(body.decode("utf-8", "replace"), check.url)
    different = first_difference(check.value, document, "")
    if different is None:
        return Answer("held", "this JSON value", "equal", check.url)
    return Answer(
        "failed", different.expected, different.actual, f"{check.url} {different.pointer}".rstrip()
    )


def _in_time(check: HttpEquals) -> _Response:
    """Return the response; the whole of it must have come within the time limit.

    httpx limits each read, not their sum, so a service that sends a byte now and then would hold us:
    the request has a thread of its own, which is left behind then.
    """
    results: queue.SimpleQueue[_Response | Exception] = queue.SimpleQueue()
    limit_s = float(check.time_limit_s)
    thread = threading.Thread(target=_ask, args=(check.url, limit_s, results), daemon=True)
    thread.start()
    try:
        result = results.get(timeout=limit_s + 1)
    except queue.Empty:
        raise UnreadableError(f"no whole answer within {check.time_limit_s} s", check.url) from None
    if isinstance(result, Exception):
        raise result
    return result


def _ask(url: str, limit_s: float, results: "queue.SimpleQueue[_Response | Exception]") -> None:
    import httpx  # noqa: PLC0415 - takes longer to import than most checks take

    deadline = time.monotonic() + limit_s
    try:
        with (
            httpx.Client(timeout=limit_s, trust_env=False, follow_redirects=False) as client,
            client.stream("GET", url) as response,
        ):
            body = b""
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > _LARGEST_BODY:
                    message = f"an answer larger than {_LARGEST_BODY >> 20} MiB"
                    raise UnreadableError(message, url)  # noqa: TRY301 - the queue carries it
                if time.monotonic() > deadline:
                    break
            results.put(_Response(response.status_code, body))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL) as error:
        results.put(BrokenCheckError(f"{url} can't be reached: {error}"))
    except httpx.TimeoutException:
        results.put(UnreadableError(f"no answer within {limit_s:g} s", url))
    except httpx.HTTPError as error:
        results.put(UnreadableError(f"no proper answer: {error}", url))
    except Exception as error:  # noqa: BLE001 - must reach the thread that waits
        results.put(error)
