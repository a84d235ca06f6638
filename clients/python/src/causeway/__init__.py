"""The client of the Causeway API: typed calls of every operation, safe retries, pages and webhooks."""

from . import types
from ._errors import CausewayError, ConnectionFailed, RequestFailed
from ._sender import File
from ._webhooks import WebhookVerificationError, WebhookVerifier
from .operations import Operations

__all__ = [
    "Causeway",
    "CausewayError",
    "ConnectionFailed",
    "File",
    "RequestFailed",
    "WebhookVerificationError",
    "WebhookVerifier",
    "types",
]


class Causeway(Operations):
    """Calls the API. Threads may share one.

    Every POST has an idempotency key of its own, unless you pass one. A request whose response was lost is sent again if that
    is safe: a GET, and a POST with the same key. All requests are sent again if the service asks for it.

    A method raises CausewayError if the service refuses the request, and ConnectionFailed if no response arrived.
    """
