#!/usr/bin/env python3
"""A provider of name checks (docs/name-checks.md) with a simulated bank, beside provider.py and sidecar.py.

It needs Python 3 and nothing else. To connect a real provider, replace the method owner.
"""
import argparse

from provider import Provider
from sidecar import main

TESTS = {"Test Partial": ("PARTIAL_MATCH", "Test Partially"), "Test Other": ("NO_MATCH", ""), "Test Missing": ("NO_ACCOUNT", ""),
         "Test Unsupported": ("NOT_SUPPORTED", "")}


class Names(Provider):
    endpoint, name = "/name-checks", "Simulated names"

    def owner(self, account, name):
        """Returns the result and the name of the owner; None if the bank does not answer."""
        return None if name == "Test Unavailable" else TESTS.get(name, ("MATCH", ""))

    def respond(self, question):
        name = question["account"]["holder"]["name"]
        if not isinstance(name, str) or not name or not isinstance(question["id"], str):
            raise ValueError("name")
        found = self.owner(question["account"], name)
        if found is None:
            return 503, {"message": "The bank does not answer."}
        result, owner = found
        return 200, {"id": question["id"], "result": result, **({"name": owner} if owner else {})}


if __name__ == "__main__":
    main(argparse.ArgumentParser(description=__doc__), handler=Names)
