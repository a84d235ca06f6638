"""What the providers of names.py and sms.py share: signed requests to one path, beside sidecar.py, whose signatures it uses."""
import json

from sidecar import MAX_BODY, Handler


class Provider(Handler):
    endpoint = name = ""

    def respond(self, body):
        """Returns the status of the answer to a request and its body; raises KeyError, TypeError or ValueError for a wrong request."""
        raise NotImplementedError

    def do_GET(self):
        if not self.server.signer.accepts(self.headers, f"GET {self.path}".encode()):
            return self.answer(401, {"message": "The signature is not valid."})
        if self.path != "/health":
            return self.answer(404, {"message": "There is no such path."})
        self.answer(200, {"name": self.name, "version": "1"})

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            return self.answer(413, {"message": "The body is too large."})
        content = self.rfile.read(int(length))
        if not self.server.signer.accepts(self.headers, content):
            return self.answer(401, {"message": "The signature is not valid."})
        if self.path != self.endpoint:
            return self.answer(404, {"message": "There is no such path."})
        try:
            status, answer = self.respond(json.loads(content))
        except (KeyError, ValueError, TypeError):
            return self.answer(400, {"message": "The body is not as the contract has it."})
        self.answer(status, answer)
