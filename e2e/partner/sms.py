#!/usr/bin/env python3
"""A provider of text messages (docs/sms.md) with a simulated network, beside provider.py and sidecar.py.

It needs Python 3 and nothing else. To connect a real provider, replace the method send.
"""
import argparse, re, threading
from datetime import datetime, timezone

from provider import Provider
from sidecar import main

lock, answered = threading.Lock(), {}  # by id; a real program keeps them in a database until they expire


class SMS(Provider):
    endpoint, name = "/sms", "Simulated text messages"

    def send(self, message):
        """Sends a text message. Returns why it never can be sent, or an empty text; None if it cannot be sent now."""
        return {"+12025550101": "INVALID_NUMBER", "+12025550102": None}.get(message["to"], "")

    def respond(self, message):
        if not re.fullmatch(r"\+[1-9]\d{1,14}", message["to"]) or not message["text"] or not isinstance(message["id"], str):
            raise ValueError("to")
        with lock:
            if known := answered.get(message["id"]):
                return (200, known[1]) if known[0] == message else (409, {"message": "The id was used for another text message."})
            expired = datetime.fromisoformat(message["expiresAt"].replace("Z", "+00:00")) <= datetime.now(timezone.utc)
            refused = "EXPIRED" if expired else self.send(message)
            if refused is None:
                return 503, {"message": "The network is busy."}
            answer = {"id": message["id"], **({"result": "REFUSED", "code": refused} if refused else {"result": "ACCEPTED"})}
            answered[message["id"]] = message, answer
            return 200, answer


if __name__ == "__main__":
    main(argparse.ArgumentParser(description=__doc__), handler=SMS)
