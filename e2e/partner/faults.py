#!/usr/bin/env python3
"""The sidecar of sidecar.py with one fault, which `causeway rails conform` has to name."""
import argparse, sys

import sidecar


class NoSignatures(sidecar.Handler):
    """Answers everybody."""

    def setup(self):
        super().setup()
        self.server.signer.accepts = lambda headers, content: True


class OnlyBodies(sidecar.Handler):
    """Does not compare what was signed with the target of a GET."""

    def do_GET(self):
        signed, self.path = self.path, self.path.replace("?changed=1", "")
        super().do_GET() if signed == self.path else self.answer(200, self.server.bank.balances())


class NoBalances(sidecar.Handler):
    def do_GET(self):
        self.answer(404, {}) if self.path == "/balances" else super().do_GET()


class HTML(sidecar.Handler):
    def send_header(self, name, value):
        super().send_header(name, "text/html" if name == "Content-Type" else value)


class Redirects(sidecar.Handler):
    def do_POST(self):
        self.send_response(307)
        self.send_header("Location", "/v2" + self.path)
        self.send_header("Content-Length", "0")
        self.close_connection = True
        self.end_headers()


class PaysAgain(sidecar.Bank):
    """Moves the money with each request."""

    def submit(self, p):
        status, answer = super().submit(p)
        if status == 200:
            with self.transaction():
                self.add(p["amount"], -1)
        return status, answer


class TakesAnyAmount(sidecar.Bank):
    """Answers a request with another amount as if it were the same."""

    def submit(self, p):
        status, answer = super().submit(p)
        return (200, {**self.find(p["kind"], p["id"])[1], "amount": p["amount"]}) if status == 409 else (status, answer)


class KnowsIDsOnly(sidecar.Bank):
    """Takes the refund of a payout for the payout."""

    def submit(self, p):
        used = self.read("SELECT kind FROM payments WHERE id = ?", p["id"])
        return (409, {"message": "The id was used before."}) if used and used[0][0] != p["kind"] else super().submit(p)


class Floats(sidecar.Bank):
    def submit(self, p):
        p["amount"]["minor"] = str(int(float(p["amount"]["minor"])))
        return super().submit(p)


class NoCodes(sidecar.Bank):
    def submit(self, p):
        status, answer = super().submit(p)
        answer.pop("code", None)
        return status, answer


class FailsWhenBusy(sidecar.Bank):
    """Says 500 where it should say when to come again."""

    def submit(self, p):
        status, answer = super().submit(p)
        return (500 if status == 503 else status), answer


class AnswersFirst(sidecar.Bank):
    """Stores a payment only after it has answered."""

    def submit(self, p):
        status, answer = super().submit(p)
        if status == 0:
            with self.transaction():
                self.db.execute("DELETE FROM payments WHERE id = ?", (p["id"],))
        return status, answer


class NoReferences(sidecar.Bank):
    def receive(self, rail, amount, reference, partner_id):
        super().receive(rail, amount, "", partner_id)


class RejectsWithoutEvent(sidecar.Bank):
    def report(self, p, state):
        if state["status"] != "REJECTED":
            super().report(p, state)


class SameEventID(sidecar.Bank):
    def events(self, after, limit):
        page = super().events(after, limit)
        return {**page, "events": [{**e, "id": "evt_" + e["type"]} for e in page["events"]]}


class LosesEvents(sidecar.Bank):
    """Goes on after the last event when there are more than a page has."""

    def events(self, after, limit):
        page = super().events(after, limit)
        return {**page, "cursor": str(int(page["cursor"]) + 1)} if page["more"] else page


class SettlesWithoutTime(sidecar.Bank):
    def proceed(self, p, state, end):
        due = super().proceed(p, state, end)
        state.pop("settledAt", None)
        return due


FAULTS = {f.__name__: f for f in sidecar.Handler.__subclasses__() + sidecar.Bank.__subclasses__()}

if __name__ == "__main__":
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--fault", choices=sorted(FAULTS), required=True)
    known, sys.argv[1:] = flags.parse_known_args()
    fault = FAULTS[known.fault]
    sidecar.main(**{"bank" if issubclass(fault, sidecar.Bank) else "handler": fault})
