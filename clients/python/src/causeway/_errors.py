"""What went wrong with a request, and whether to send it again."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any


class RequestFailed(Exception):
    """A request without a result: see CausewayError and ConnectionFailed."""

    def __init__(self, request: str, idempotency_key: str | None, message: str) -> None:
        super().__init__(f"{request}: {message}")
        #: POST /2025-10-13/quotes, for example.
        self.request = request
        #: The key of a POST. Send the same request with it again to find out what became of it.
        self.idempotency_key = idempotency_key


class ConnectionFailed(RequestFailed):
    """No response arrived, or not all of it. The request may have been carried out."""


class CausewayError(RequestFailed):
    """The service refused a request."""

    def __init__(self, request: str, idempotency_key: str | None, status: int, headers: Mapping[str, str], text: bytes) -> None:
        try:
            body: dict[str, Any] = dict(json.loads(text))
        except (ValueError, TypeError):  # a proxy in front of the service answers in other formats
            body = {}
        #: HTTP status.
        self.status = status
        #: For programs. UNKNOWN if a proxy answered in place of the service.
        self.code: str = body.get("code", "UNKNOWN")
        self.message: str = body.get("message", text[:500].decode(errors="replace"))
        #: Which check failed, if the code covers several.
        self.reason: str | None = body.get("reason")
        #: Further details, which depend on the code.
        self.details: dict[str, Any] = body.get("details") or {}
        #: All fields of the request that are not valid, each with field, message and perhaps constraint.
        self.fields: list[dict[str, Any]] = self.details.get("errors") or []
        #: Find the request in the logs of the service by this id.
        self.request_id: str | None = headers.get("Request-Id")
        #: Whether the same request may succeed later.
        self.retryable = is_retryable(status, self.code, headers.get("x-should-retry"))
        #: Seconds to wait before it, 0 if the service does not say.
        self.retry_after = float(seconds) if (seconds := headers.get("Retry-After", "")).isdecimal() else 0.0
        super().__init__(request, idempotency_key, f"{status} {self.code}: {self.message}")


def is_retryable(status: int, code: str, said: str | None) -> bool:
    """Reports whether the same request may succeed later. The service says so in x-should-retry; a proxy does not."""
    if said in ("true", "false"):
        return said == "true"
    return status == 429 or (status == 409 and code == "IDEMPOTENCY_KEY_IN_USE") or (status >= 500 and status != 501)


def backoff(retry: int, share: float | None = None) -> float:
    """Returns the seconds to wait before a retry, the first of which is 0.

    They double from a half up to eight, less up to a half of them at random, so that clients do not come back at the same time.
    """
    longest: float = min(0.5 * 2**retry, 8.0)
    return longest * (1 - (random.random() if share is None else share) / 2)
