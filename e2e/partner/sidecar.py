#!/usr/bin/env python3
"""A sidecar of the partner contract (docs/partner-contract.md), with a simulated bank behind it.

It needs Python 3 and nothing else. All state is in one SQLite file, which is written before anything is answered, so the
sidecar can be killed at any time. To connect a real provider, replace the class Bank.
"""
import argparse, base64, hmac, json, secrets, sqlite3, threading, time, urllib.error, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KINDS = {"/payouts": "PAYOUT", "/collections": "COLLECTION", "/refunds": "REFUND"}
MAX_BODY = 64 << 10
WINDOW = 300  # seconds for which a signature is accepted
HOLD = 300  # seconds for which an answer is held back at most


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Signer:
    """Signs and verifies messages as Standard Webhooks describes it."""

    def __init__(self, text):
        self.keys = [base64.b64decode(s.removeprefix("whsec_")) for s in text.replace(",", " ").split()]

    def _signatures(self, message_id, timestamp, content):
        signed = f"{message_id}.{timestamp}.".encode() + content
        return ["v1," + base64.b64encode(hmac.digest(k, signed, "sha256")).decode() for k in self.keys]

    def headers(self, content):
        message_id, timestamp = "msg_" + secrets.token_hex(12), str(int(time.time()))
        return {"webhook-id": message_id, "webhook-timestamp": timestamp, "webhook-signature": " ".join(self._signatures(message_id, timestamp, content))}

    def accepts(self, headers, content):
        message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        if not message_id or not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > WINDOW:
            return False
        given = headers.get("webhook-signature", "").split()
        return any(hmac.compare_digest(g, want) for want in self._signatures(message_id, timestamp, content) for g in given)


class Bank:
    """A bank that settles after a moment, and decides by the last two digits of the amount."""

    SETTLE_SECONDS = 0.2

    def __init__(self, path):
        self.lock = threading.RLock()
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.db.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS payments (kind TEXT, id TEXT, payment TEXT NOT NULL, state TEXT NOT NULL, due REAL, PRIMARY KEY (kind, id));
            CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, sent INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE IF NOT EXISTS balances (currency TEXT PRIMARY KEY, decimals INTEGER NOT NULL, minor TEXT NOT NULL);
            CREATE TABLE IF NOT EXISTS refused (kind TEXT, id TEXT, PRIMARY KEY (kind, id));""")

    def transaction(self):
        return Transaction(self)

    def submit(self, p):
        """Takes a payment once, and returns the status of the answer and its body."""
        with self.transaction():
            if found := self.find(p["kind"], p["id"]):
                known, state = found
                if known["amount"] != p["amount"]:
                    return 409, {"message": "The id was used for another amount."}
                return 200, state
            end = int(p["amount"]["minor"]) % 100
            if end == 94 and self.db.execute("INSERT OR IGNORE INTO refused VALUES (?, ?)", (p["kind"], p["id"])).rowcount:
                return 503, {"message": "The bank is closed. Try again."}
            state = {"id": p["id"], "status": "ACCEPTED", "amount": p["amount"], "partnerId": p["kind"][:3] + "-" + p["endToEndId"], "acceptedAt": now()}
            due = time.time() + self.SETTLE_SECONDS
            if end == 91:
                state.update(status="REJECTED", code="AC04", text="The account is closed.")
                due = None
            elif end == 93:
                state.update(status="PENDING", code="CLOSED", text="The bank is closed.")
                del state["acceptedAt"]
                due += 1
            self.db.execute("INSERT INTO payments VALUES (?, ?, ?, ?, ?)", (p["kind"], p["id"], json.dumps(p), json.dumps(state), due))
            return (0 if end == 95 else 201), state

    def find(self, kind, payment_id):
        """Returns a payment and its state, or None. The refund of a payout has the id of the payout."""
        found = self.read("SELECT payment, state FROM payments WHERE kind = ? AND id = ?", kind, payment_id)
        return [json.loads(text) for text in found[0]] if found else None

    def read(self, query, *values):
        """Reads what is committed: a change has the lock until then."""
        with self.lock:
            return self.db.execute(query, values).fetchall()

    def work(self):
        """Goes on with the payments that are due, each in one transaction with its events."""
        for kind, payment_id in self.read("SELECT kind, id FROM payments WHERE due <= ?", time.time()):
            with self.transaction():
                p, state = self.find(kind, payment_id)
                self.save(p, state, self.proceed(p, state, int(p["amount"]["minor"]) % 100))

    def proceed(self, p, state, end):
        """Changes the state of a payment, and returns when it changes next."""
        due = None
        if state["status"] == "PENDING":
            state.update(status="ACCEPTED", acceptedAt=now())
            del state["code"], state["text"]
            due = time.time() + self.SETTLE_SECONDS
        elif state["status"] == "SETTLED":
            self.give_back(p, state)
        elif end == 92:
            state.update(status="REJECTED", code="AC04", text="The account is closed.")
            self.report(p, state)
        else:
            state.update(status="SETTLED", settledAt=now())
            self.add(p["amount"], 1 if p["kind"] == "COLLECTION" else -1)
            self.report(p, state)
            due = time.time() + 1 if end == 96 else None
            if end in (97, 98):
                self.receive(p["rail"], p["amount"], p.get("reference", ""), "IN-" + state["partnerId"])
            if end == 98:
                self.event("REVERSAL", reversal={"receiptId": "IN-" + state["partnerId"], "partnerId": "REV-" + state["partnerId"], "rail": p["rail"], "code": "AC01"})
                self.add(p["amount"], -1)
            if end == 99:
                self.event("FEE", fee={"partnerId": "FEE-" + state["partnerId"], "rail": p["rail"], "amount": {**p["amount"], "minor": "25"}, "memo": "one payment"})
                self.add({**p["amount"], "minor": "25"}, -1)
        return due

    def give_back(self, p, state):
        state.update(status="RETURNED", returnedAt=now(), code="AC03", text="No such account.")
        self.add(p["amount"], -1 if p["kind"] == "COLLECTION" else 1)
        self.report(p, state)

    def receive(self, rail, amount, reference, partner_id):
        self.add(amount, 1)
        self.event("RECEIPT", receipt={"partnerId": partner_id, "rail": rail, "amount": amount, "reference": reference})

    def save(self, p, state, due):
        self.db.execute("UPDATE payments SET state = ?, due = ? WHERE kind = ? AND id = ?", (json.dumps(state), due, p["kind"], p["id"]))

    def add(self, amount, sign):
        # Added up here, and stored as text: SQLite would turn a sum of more than 64 bits into a floating-point number.
        found = self.read("SELECT minor FROM balances WHERE currency = ?", amount["currency"])
        minor = int(found[0][0] if found else 0) + sign * int(amount["minor"])
        self.db.execute("INSERT OR REPLACE INTO balances VALUES (?, ?, ?)", (amount["currency"], amount["decimals"], str(minor)))

    def report(self, p, state):
        self.event("PAYMENT", payment={"kind": p["kind"], "id": p["id"], "platformId": p["platformId"], "status": state["status"]})

    def event(self, kind, **of):
        self.db.execute("INSERT INTO events (event) VALUES (?)", (json.dumps({"id": "evt_" + secrets.token_hex(12), "type": kind, "at": now(), **of}),))

    def events(self, after, limit):
        rows = self.read("SELECT number, event FROM events WHERE number > ? ORDER BY number LIMIT ?", after, limit + 1)
        more, rows = len(rows) > limit, rows[:limit]
        return {"events": [json.loads(r[1]) for r in rows], "cursor": str(rows[-1][0] if rows else after), "more": more}

    def balances(self):
        rows = self.read("SELECT currency, decimals, minor FROM balances ORDER BY currency")
        return {"balances": [{"amount": {"minor": m, "currency": c, "decimals": d}, "at": now()} for c, d, m in rows]}


class Transaction:
    """One change of the file: all of it, or nothing."""

    def __init__(self, bank):
        self.bank = bank

    def __enter__(self):
        self.bank.lock.acquire()
        self.bank.db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind, *_):
        try:
            self.bank.db.execute("COMMIT" if kind is None else "ROLLBACK")
        finally:
            self.bank.lock.release()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # of a client that sends nothing

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if status == 503:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if not self.server.signer.accepts(self.headers, f"GET {self.path}".encode()):
            return self.answer(401, {"message": "The signature is not valid."})
        path, _, query = self.path.partition("?")
        bank = self.server.bank
        if path == "/health":
            return self.answer(200, {"name": "Simulated Bank", "version": "1"})
        if path == "/balances":
            return self.answer(200, bank.balances())
        if path == "/events":
            given = dict(part.partition("=")[::2] for part in query.split("&"))
            after, limit = given.get("after") or "0", given.get("limit") or "100"
            if not (after + limit).isdecimal():
                return self.answer(400, {"message": "after or limit is not valid."})
            return self.answer(200, bank.events(int(after), max(1, min(int(limit), 100))))
        folder, _, payment_id = path.rpartition("/")
        found = bank.find(KINDS[folder], payment_id) if folder in KINDS else None
        self.answer(200, found[1]) if found else self.answer(404, {"message": "There is no such payment."})

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            return self.answer(413, {"message": "The body is too large."})
        content = self.rfile.read(int(length))
        if not self.server.signer.accepts(self.headers, content):
            return self.answer(401, {"message": "The signature is not valid."})
        try:
            body = json.loads(content)
            if self.path == "/simulate" and self.server.simulates:
                return self.answer(200, self.simulate(body))
            if body["kind"] != KINDS[self.path]:
                raise ValueError("kind")
            status, answer = self.server.bank.submit(body)
        except (KeyError, ValueError, TypeError):
            return self.answer(400, {"message": "The body is not a payment of this path."})
        self.server.holds.wait(HOLD)
        if status == 0:  # the answer is lost
            self.close_connection = True
            return
        self.answer(status, answer)

    def simulate(self, body):
        """Lets the bank receive money, return a payment, hold its answers or report its balances."""
        bank = self.server.bank
        with bank.transaction():
            if "returns" in body:
                p, state = bank.find(body["kind"], body["returns"])
                bank.give_back(p, state)
                bank.save(p, state, None)
            elif "holdsAnswers" in body:
                self.server.holds.clear() if body["holdsAnswers"] else self.server.holds.set()
            elif "reportsBalances" in body:
                for balance in bank.balances()["balances"]:
                    bank.event("BALANCE", balance=balance["amount"])
            else:
                bank.receive(body["rail"], body["amount"], body["reference"], "IN-" + secrets.token_hex(8))
        return {}

    def log_message(self, *_):
        pass


def run_bank(bank, signer, callback):
    """Lets the bank work, and sends its events until they are answered with a status that ends it."""
    wait = {}
    while True:
        time.sleep(0.05)
        bank.work()
        if not callback:
            continue
        for number, event in bank.read("SELECT number, event FROM events WHERE NOT sent ORDER BY number LIMIT 100"):
            if wait.get(number, 0) > time.time():
                continue
            content = event.encode()
            request = urllib.request.Request(callback, content, {"Content-Type": "application/json", **signer.headers(content)})
            try:
                with urllib.request.urlopen(request, timeout=10) as response:
                    status = response.status
            except urllib.error.HTTPError as e:
                status = e.code
            except OSError:
                status = 0
            if status in (204, 400, 404, 409, 413):
                with bank.lock:
                    bank.db.execute("UPDATE events SET sent = 1 WHERE number = ?", (number,))
                wait.pop(number, None)
            else:
                wait[number] = time.time() + 0.5


def main(flags=None, bank=Bank, handler=Handler):
    flags = flags or argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--listen", default="127.0.0.1:9000")
    flags.add_argument("--state", default="sidecar.db", help="file with all state")
    flags.add_argument("--secret-file", required=True)
    flags.add_argument("--callback", help="https://…/rails/partner/{connection}/events of the service; without it events are only listed")
    flags.add_argument("--simulate", action="store_true", help="let POST /simulate move money at the bank")
    a = flags.parse_args()
    with open(a.secret_file) as f:
        signer = Signer(f.read())
    host, _, port = a.listen.rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), handler)
    server.bank, server.signer, server.simulates, server.holds = bank(a.state), signer, a.simulate, threading.Event()
    server.holds.set()
    threading.Thread(target=run_bank, args=(server.bank, signer, a.callback), daemon=True).start()
    print(f"listening on {server.server_address[0]}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
