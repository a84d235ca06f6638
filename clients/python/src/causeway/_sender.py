"""Sends the requests of the operations."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NoReturn
from urllib.parse import quote as quote_text
from urllib.parse import urlencode, urlsplit

import urllib3

from ._errors import CausewayError, ConnectionFailed, backoff
from .types import RATES

#: The content of a file, or its name and its content.
File = bytes | tuple[str, bytes]


class Sender:
    """Sends requests with credentials and keys, and sends them again where that is safe."""

    def __init__(
        self,
        base_url: str,
        *,
        client_id: str | None = None,
        client_secret: str | None = None,
        access_token: str | None = None,
        max_retries: int = 3,
        timeout: float = 30.0,
        deadline: float = 60.0,
        pool: urllib3.PoolManager | None = None,
    ) -> None:
        """base_url is the URL of the API with its version, such as https://pay.example.com/2025-10-13.

        client_id and client_secret are those of a token of a platform; access_token is that of an agent, in their place. One
        attempt may take timeout seconds, a call with all its attempts deadline seconds. pool sends the requests, in place
        of a new urllib3.PoolManager.
        """
        if (access_token is None) == (client_id is None or client_secret is None):
            raise ValueError("set client_id and client_secret, or access_token")
        if access_token is not None:
            self._authorization = {"Authorization": f"Bearer {access_token}"}
        else:
            encoded = urllib3.util.make_headers(basic_auth=f"{client_id}:{client_secret}")
            self._authorization = {"Authorization": encoded["authorization"]}
        self._base_url = base_url.rstrip("/")
        self._max_retries = max_retries
        self._timeout = timeout
        self._deadline = deadline
        self._pool = pool or urllib3.PoolManager(maxsize=10)

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        header: Mapping[str, Any] | None = None,
        body: Any = None,
        fields: Mapping[str, str | File] | None = None,
        content_type: str = "application/json",
        keyed: bool = True,
    ) -> Any:
        """Sends a request until it has a response that is final, and returns its body: JSON decoded, others as bytes."""
        pairs = [(name, text(value)) for name, value in (query or {}).items() if value is not None]
        url = self._base_url + path + ("?" + urlencode(pairs) if pairs else "")
        headers = {**self._authorization, **{name: str(value) for name, value in (header or {}).items() if value is not None}}
        if method == "POST" and keyed:
            headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        data: bytes | None = None
        if fields is not None:
            form = {name: value if not isinstance(value, bytes) else (name, value) for name, value in fields.items()}
            data, headers["Content-Type"] = urllib3.encode_multipart_formdata(form)
        elif body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers["Content-Type"] = content_type
        return self._send(method, url, headers, data)

    def _send(self, method: str, url: str, headers: dict[str, str], data: bytes | None) -> Any:
        key = headers.get("Idempotency-Key")
        name = f"{method} {urlsplit(url).path}"
        end = time.monotonic() + self._deadline
        retry = 0
        while True:
            failure: CausewayError | ConnectionFailed
            try:
                status, received, content = self._attempt(method, url, headers, data, min(self._timeout, end - time.monotonic()))
            except (urllib3.exceptions.HTTPError, OSError) as error:
                failure = ConnectionFailed(name, key, str(error) or type(error).__name__)
                failure.__cause__ = error
                again, delay = method == "GET" or key is not None, backoff(retry)
            else:
                if 200 <= status <= 299:
                    is_json = received.get("Content-Type", "").startswith("application/json")
                    return parse(content) if is_json and content else content or None
                failure = CausewayError(name, key, status, received, content)
                again, delay = failure.retryable, max(backoff(retry), failure.retry_after)
            if not again or retry >= self._max_retries or time.monotonic() + delay >= end:
                raise failure
            time.sleep(delay)
            retry += 1

    def _attempt(
        self, method: str, url: str, headers: Mapping[str, str], data: bytes | None, timeout: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Sends a request once. It raises an error of urllib3 if it has not the whole response in time."""
        end = time.monotonic() + timeout
        response: Any = self._pool.request(
            method, url, headers=headers, body=data, retries=False, redirect=False, preload_content=False,
            timeout=urllib3.Timeout(total=max(timeout, 0.001)),
        )  # fmt: skip
        try:
            chunks = []
            while chunk := response.read(1 << 16):
                chunks.append(chunk)
                is_file = response.status == 200 and not response.headers.get("Content-Type", "").startswith("application/json")
                if time.monotonic() > end and not is_file:  # a file may take longer to read
                    raise urllib3.exceptions.TimeoutError("no response in time")
            length = response.headers.get("Content-Length")
            if length is not None and not response.headers.get("Content-Encoding") and sum(map(len, chunks)) != int(length):
                raise urllib3.exceptions.ProtocolError("the response ended early")
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return response.status, response.headers, b"".join(chunks)

    def _iterate(self, page: Callable[[str | None], Any]) -> Iterator[Any]:
        cursor: str | None = None
        while True:
            got = page(cursor)
            yield from got["data"]
            following = got.get("nextCursor")
            if following is None or following == cursor:
                return
            cursor = following


def parse(content: bytes) -> Any:
    """Parses JSON without losing a digit: rates are Decimals, as is any other number with a fraction."""
    return json.loads(content, parse_float=Decimal, parse_constant=refuse, object_hook=with_rates)


def refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def with_rates(fields: dict[str, Any]) -> dict[str, Any]:
    for name in RATES & fields.keys():
        if isinstance(fields[name], int):
            fields[name] = Decimal(fields[name])
    return fields


def text(value: Any) -> str:
    """Returns a parameter of a query as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(text, value)) if isinstance(value, list) else str(value)


def quote(value: str | int) -> str:
    """Returns a parameter of a path as text."""
    return quote_text(str(value), safe="")
