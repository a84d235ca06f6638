"""Verifies webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from . import types
from ._sender import parse

#: Keys are read again for a signature that fits none, but at most once in these seconds: others can send those at will.
KEYS_MAX_AGE = 60.0


class WebhookVerificationError(Exception):
    """A webhook that is not to be trusted: answer with 401."""


class WebhookVerifier:
    """Verifies webhooks. Make one, and use it for all; threads may share it."""

    def __init__(
        self,
        *,
        secrets: Iterable[str] = (),
        keys: Callable[[], types.WebhookKeyListResponse] | None = None,
        tolerance: float = 300.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        """secrets are from create_webhook_secret: one, or two during a rotation. They verify the signatures v1.

        keys reads the public keys of the service in their place: causeway.list_webhook_keys. It needs the package cryptography.
        They verify the signatures v1a, or else that in Service-Webhook-Signature. The latter does not cover the timestamp,
        so that only webhookId shows a copy.

        tolerance is how many seconds webhook-timestamp may be from now. An older webhook may be a copy that somebody else sends.
        """
        self._secrets = [decode(secret.removeprefix("whsec_")) for secret in secrets]
        if not all(self._secrets):
            raise ValueError("a webhook secret must be whsec_ and base64")
        if bool(self._secrets) == (keys is not None):
            raise ValueError("set secrets, or keys")
        self._read = keys
        self._keys: _Keys | None = None
        self._read_at = 0.0
        self._lock = threading.Lock()
        self._tolerance = tolerance
        self._now = now

    def verify(self, body: bytes, headers: Mapping[str, str]) -> types.WebhookEvent:
        """Returns the event of a webhook, and raises WebhookVerificationError unless it is genuine.

        body is exactly what was received: parsing and writing it again changes it. The same event can arrive more than once;
        ignore a webhookId that you have processed.
        """
        received = {name.lower(): value for name, value in headers.items()}
        webhook_id, timestamp = received.get("webhook-id", ""), received.get("webhook-timestamp", "")
        signed = f"{webhook_id}.{timestamp}.".encode() + body
        signatures = [one.partition(",")[::2] for one in received.get("webhook-signature", "").split()]
        v1 = [decode(signature) for version, signature in signatures if version == "v1"]
        v1a = [decode(signature) for version, signature in signatures if version == "v1a"]
        if self._read is None:
            macs = [hmac.digest(secret, signed, "sha256") for secret in self._secrets]
            if not any([hmac.compare_digest(mac, signature) for mac in macs for signature in v1]):
                raise WebhookVerificationError("no signature v1 in webhook-signature is by one of your secrets")
        elif not any(self._by_key(again, body, signed, v1a, received) for again in (False, True)):
            raise WebhookVerificationError("no signature is by one of the published keys")
        event = cast(types.WebhookEvent, parse(body))
        if self._read is not None and not v1a:  # the signature is over the body alone
            return event
        if not timestamp.isdecimal() or abs(self._now() - int(timestamp)) > self._tolerance:
            raise WebhookVerificationError(f"webhook-timestamp {timestamp[:40]!r} is not the current time")
        if event["webhookId"] != webhook_id:
            raise WebhookVerificationError("webhook-id is not the webhookId of the body")
        return event

    def _by_key(self, again: bool, body: bytes, signed: bytes, v1a: list[bytes], headers: Mapping[str, str]) -> bool:
        keys = self._read_keys(again)
        if v1a:
            return any(keys.is_ed25519(signature, signed) for signature in v1a)
        return keys.is_ecdsa(service_signature(headers.get("service-webhook-signature", "")), body)

    def _read_keys(self, again: bool) -> _Keys:
        assert self._read is not None
        with self._lock:
            if self._keys is None or (again and self._now() - self._read_at >= KEYS_MAX_AGE):
                self._keys = _Keys(self._read()["data"])
                self._read_at = self._now()
            return self._keys


class _Keys:
    """The public keys of the service."""

    def __init__(self, published: Iterable[types.WebhookKey]) -> None:
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        keys: list[tuple[str, Any]] = [(key["algorithm"], load_pem_public_key(key["publicKey"].encode())) for key in published]
        self._ed25519 = [key for algorithm, key in keys if algorithm == "ED25519"]
        self._ecdsa = [key for algorithm, key in keys if algorithm == "ECDSA_P256_SHA256"]

    def is_ed25519(self, signature: bytes, data: bytes) -> bool:
        return any(succeeds(key.verify, signature, data) for key in self._ed25519)

    def is_ecdsa(self, signature: bytes, data: bytes) -> bool:
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
        from cryptography.hazmat.primitives.hashes import SHA256

        digest = hashlib.sha256(data).digest()
        return any(succeeds(key.verify, signature, digest, ECDSA(Prehashed(SHA256()))) for key in self._ecdsa)


def succeeds(verify: Callable[..., None], *arguments: Any) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        verify(*arguments)
    except InvalidSignature:
        return False
    return True


def service_signature(header: str) -> bytes:
    """Returns the signature of a header {"v":"1","s":"<base64>"}, or nothing."""
    try:
        fields = json.loads(header)
        return decode(fields["s"]) if fields["v"] == "1" else b""
    except (ValueError, TypeError, KeyError):
        return b""


def decode(text: str) -> bytes:
    """Decodes base64, to nothing if it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
