"""Tests of what is written by hand, and that all generated types exist: python3 -m unittest discover tests."""

import json
import threading
import time
import typing
import unittest
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from causeway import Causeway, CausewayError, ConnectionFailed, types
from causeway._errors import backoff, is_retryable
from causeway._sender import parse

Answer = tuple[int, bytes, dict[str, str]]
LOST: Answer = (0, b"", {})  # closes the connection without a response
SILENT: Answer = (-1, b"", {})  # never responds in time
SHORT: Answer = (200, b"{}", {"Content-Length": "9"})  # closes the connection within the response


class Server(ThreadingHTTPServer):
    """Gives these answers, the last one again and again, and records the requests."""

    daemon_threads = True

    def __init__(self, *answers: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def client(self, **options: Any) -> Causeway:
        return Causeway(f"http://127.0.0.1:{self.server_port}/2025-10-13", client_id="id", client_secret="secret", **options)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path, dict(self.headers.items()), body))
        status, text, headers = self.server.answers[min(len(self.server.requests), len(self.server.answers)) - 1]
        self.close_connection = True
        if status == -1:
            time.sleep(0.3)
        if status <= 0:
            return
        self.send_response(status)
        always = {"Content-Type": "application/json", "Content-Length": str(len(text)), "Request-Id": "request-1"}
        for name, value in {**always, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, format: str, *args: Any) -> None:
        pass


class ClientTest(unittest.TestCase):
    def serve(self, *answers: Answer) -> Server:
        server = Server(*answers)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def test_lost_post_is_sent_again_with_its_key(self) -> None:
        """A POST whose response is lost, late or short is sent again with the same key and body."""
        server = self.serve(LOST, SILENT, SHORT, (201, b'{"id":"Quote:1"}', {}))
        quote = server.client(timeout=0.1).create_quote(typing.cast(Any, {"lockedCurrencyAmount": 7}))
        self.assertEqual(quote["id"], "Quote:1")
        keys = {headers["Idempotency-Key"] for _, _, headers, _ in server.requests}
        self.assertEqual((len(server.requests), len(keys), len(keys.pop())), (4, 1, 36))
        self.assertEqual({body for _, _, _, body in server.requests}, {b'{"lockedCurrencyAmount": 7}'})
        self.assertEqual(server.requests[0][2]["Authorization"], "Basic aWQ6c2VjcmV0")

    def test_given_key_is_used(self) -> None:
        """Your own key is used, and parameters of the path are encoded."""
        server = self.serve((200, b"{}", {}))
        server.client().execute_quote("Quote:1/2", idempotency_key="mine")
        _, path, headers, _ = server.requests[0]
        self.assertEqual((path, headers["Idempotency-Key"]), ("/2025-10-13/quotes/Quote%3A1%2F2/execute", "mine"))

    def test_unkeyed_is_not_repeated(self) -> None:
        """What the service does not know as a repetition is not sent again when the response is lost."""
        server = self.serve(LOST)
        self.assertRaises(ConnectionFailed, server.client().redeem_agent_device_code, "AGENT-1")
        self.assertRaises(ConnectionFailed, server.client().delete_token_by_id, "Token:1")
        self.assertEqual([method for method, _, _, _ in server.requests], ["POST", "DELETE"])
        self.assertFalse(any("Idempotency-Key" in headers for _, _, headers, _ in server.requests))

    def test_refusal_has_everything(self) -> None:
        """A refusal has everything that the service says, and is not sent again. A proxy's page is an error with its status."""
        details = {"errors": [{"field": "limit", "message": "is required"}]}
        text = json.dumps({"status": 400, "code": "INVALID_INPUT", "message": "One field.", "details": details}).encode()
        server = self.serve((400, text, {"x-should-retry": "false"}), (404, b"<html>", {}))
        with self.assertRaises(CausewayError) as caught:
            server.client().get_platform_config()
        error = caught.exception
        self.assertEqual((error.status, error.code, error.request_id, error.retryable), (400, "INVALID_INPUT", "request-1", False))
        self.assertEqual(error.fields, details["errors"])
        self.assertEqual(str(error), "GET /2025-10-13/config: 400 INVALID_INPUT: One field.")
        with self.assertRaises(CausewayError) as caught:
            server.client().get_platform_config()
        self.assertEqual((caught.exception.code, len(server.requests)), ("UNKNOWN", 2))

    def test_retries_end(self) -> None:
        """Retries end by their number, and when Retry-After is beyond the deadline."""
        server = self.serve((503, b'{"code":"SERVICE_UNAVAILABLE"}', {"x-should-retry": "true"}))
        self.assertRaises(CausewayError, server.client(max_retries=1).update_platform_config, {})
        self.assertEqual(len(server.requests), 2)
        server = self.serve((429, b'{"code":"RATE_LIMITED"}', {"Retry-After": "61"}))
        self.assertRaises(CausewayError, server.client().get_platform_config)
        self.assertEqual(len(server.requests), 1)

    def test_list_is_read_page_by_page(self) -> None:
        """Pages are read one by one, with the same filters, and no further than the caller goes."""
        server = self.serve(
            (200, b'{"data":[{"id":"1"},{"id":"2"}],"hasMore":true,"nextCursor":"c&2"}', {}),
            (200, b'{"data":[{"id":"3"}],"hasMore":false}', {}),
        )
        items = server.client().list_customers_iter(limit=2, is_including_deleted=True)
        self.assertEqual(next(items)["id"], "1")
        self.assertEqual(len(server.requests), 1)
        self.assertEqual([one["id"] for one in items], ["2", "3"])
        self.assertEqual(server.requests[1][1], "/2025-10-13/customers?limit=2&cursor=c%262&isIncludingDeleted=true")

    def test_files(self) -> None:
        """A file is sent in a form, and a report is read as CSV."""
        server = self.serve((201, b"{}", {}), (200, b"account,debit\n", {"Content-Type": "text/csv"}))
        server.client().upload_document({"documentType": "UTILITY_BILL", "file": ("bill.png", b"png")})
        self.assertIn(b'name="file"; filename="bill.png"', server.requests[0][3])
        self.assertEqual(server.client().get_trial_balance_csv(from_="2026-10-01T00:00:00Z"), b"account,debit\n")
        self.assertEqual(server.requests[1][1], "/2025-10-13/ledger/trial-balance?from=2026-10-01T00%3A00%3A00Z&format=csv")

    def test_credentials(self) -> None:
        """A client has a token or an access token."""
        both = {"client_id": "id", "client_secret": "secret", "access_token": "token"}
        wrong: list[dict[str, str]] = [{}, {"client_id": "id"}, both]
        for options in wrong:
            with self.assertRaises(ValueError):
                Causeway("http://127.0.0.1", **typing.cast(Any, options))


class NumbersTest(unittest.TestCase):
    def test_numbers_keep_their_digits(self) -> None:
        """Rates are Decimals, also those that look like integers; integers are ints of any size."""
        text = b'{"exchangeRate":0.1234567890123456789012345678901234,"rate":1,"amount":9000000000000000,"balance":-123456789012345678901}'
        got = parse(text)
        self.assertEqual(got["exchangeRate"], Decimal("0.1234567890123456789012345678901234"))
        self.assertIsInstance(got["rate"], Decimal)
        self.assertEqual((got["amount"], got["balance"]), (9_000_000_000_000_000, -123456789012345678901))
        self.assertRaises(ValueError, parse, b'{"rate":NaN}')


class RetryTest(unittest.TestCase):
    def test_service_decides(self) -> None:
        """The service decides what is sent again, and the status where a proxy answers."""
        for status, code, said, want in [
            (409, "IDEMPOTENCY_KEY_IN_USE", None, True), (429, "RATE_LIMITED", None, True), (502, "UNKNOWN", None, True),
            (409, "CONFLICT", None, False), (400, "INVALID_INPUT", None, False), (501, "NOT_IMPLEMENTED", None, False),
            (409, "CONFLICT", "true", True), (503, "SERVICE_UNAVAILABLE", "false", False),
        ]:  # fmt: skip
            self.assertEqual(is_retryable(status, code, said), want, (status, code, said))

    def test_delay_doubles(self) -> None:
        """The delay doubles up to eight seconds, less up to a half."""
        self.assertEqual([backoff(retry, 0) for retry in (0, 1, 4, 90)], [0.5, 1, 8, 8])
        self.assertEqual(backoff(0, 1), 0.25)


class TypesTest(unittest.TestCase):
    def test_all_types_exist(self) -> None:
        """Each field of each type, and each argument of each method, has a type that exists."""
        count = 0
        for one in [*vars(types).values(), *vars(Causeway.__mro__[1]).values()]:
            if isinstance(one, type) and one is not Decimal or callable(one) and hasattr(one, "__annotations__"):
                count += len(typing.get_type_hints(one))
        self.assertGreater(count, 3000)


if __name__ == "__main__":
    unittest.main()
