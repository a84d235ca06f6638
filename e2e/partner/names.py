#!/usr/bin/env python3
"""A provider of name checks (docs/name-checks.md) with a simulated bank, beside sidecar.py, whose signatures it uses.

It needs Python 3 and nothing else. To connect a real provider, replace the method owner.
"""
import argparse, json

from sidecar import MAX_BODY, Handler, main

TESTS = {"Test Partial": ("PARTIAL_MATCH", "Test Partially"), "Test Other": ("NO_MATCH", ""), "Test Missing": ("NO_ACCOUNT", ""),
         "Test Unsupported": ("NOT_SUPPORTED", "")}


class Names(Handler):
    def owner(self, account, name):
        """Returns the result and the name of the owner; None if the bank does not answer."""
        return None if name == "Test Unavailable" else TESTS.get(name, ("MATCH", ""))

    def do_GET(self):
        if not self.server.signer.accepts(self.headers, f"GET {self.path}".encode()):
            return self.answer(401, {"message": "The signature is not valid."})
        if self.path != "/health":
            return self.answer(404, {"message": "There is no such path."})
        self.answer(200, {"name": "Simulated names", "version": "1"})

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            return self.answer(413, {"message": "The body is too large."})
        content = self.rfile.read(int(length))
        if not self.server.signer.accepts(self.headers, content):
            return self.answer(401, {"message": "The signature is not valid."})
        if self.path != "/name-checks":
            return self.answer(404, {"message": "There is no such path."})
        try:
            question = json.loads(content)
            name = question["account"]["holder"]["name"]
            if not isinstance(name, str) or not name or not isinstance(question["id"], str):
                raise ValueError("name")
        except (KeyError, ValueError, TypeError):
            return self.answer(400, {"message": "The body is not a question about a name."})
        found = self.owner(question["account"], name)
        if found is None:
            return self.answer(503, {"message": "The bank does not answer."})
        result, owner = found
        self.answer(200, {"id": question["id"], "result": result, **({"name": owner} if owner else {})})


if __name__ == "__main__":
    main(argparse.ArgumentParser(description=__doc__), handler=Names)
