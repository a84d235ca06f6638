"""What a platform does with the client, against a running service.

e2e/clients_test.go starts it, and checks what it prints and what the service has recorded.
"""

import base64
import json
import os
import re
import time
from typing import Any

from causeway import Causeway, CausewayError, WebhookVerificationError, WebhookVerifier

given = json.loads(os.environ["GIVEN"])
causeway = Causeway(given["baseUrl"], client_id=given["clientId"], client_secret=given["clientSecret"])

# Three customers, listed on two pages.
for name in ("Ada Lovelace", "Mia Lind", "Ana Lima"):
    causeway.create_customer(
        {
            "customerType": "INDIVIDUAL",
            "platformCustomerId": f"story-{name}",
            "fullName": name,
            "birthDate": "1990-12-10",
            "nationality": "US",
            "address": {"line1": "12 Analytical Way", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"},
        }
    )
ids = [customer["platformCustomerId"] for customer in causeway.list_customers_iter(limit=2)]
customers = [one.removeprefix("story-") for one in ids if one.startswith("story-")]

# A payment.
quote = causeway.create_quote(
    {
        "source": {"sourceType": "ACCOUNT", "accountId": given["source"]},
        "destination": {"destinationType": "ACCOUNT", "accountId": given["wallet"]},
        "lockedCurrencySide": "SENDING",
        "lockedCurrencyAmount": 2500,
    }
)
causeway.execute_quote(quote["id"])

# A transfer whose first response is lost.
breaking = Causeway(given["breakingUrl"], client_id=given["clientId"], client_secret=given["clientSecret"])
transfer = breaking.create_transfer_out(
    {"source": {"accountId": given["source"]}, "destination": {"accountId": given["bank"]}, "amount": 1000}
)

# A request that is refused.
wrong: Any = {"customerId": given["customer"], "currency": "USD"}
try:
    causeway.create_customer_external_account(wrong)
    raise SystemExit("the request was not refused")
except CausewayError as error:
    refused = error
assert not refused.retryable, refused

# A webhook that was received before, with all signatures.
headers: dict[str, str] = given["webhook"]["headers"]
body = base64.b64decode(given["webhook"]["body"])
secret = given["webhook"]["secret"]
other_secret = "whsec_" + base64.b64encode(bytes(32)).decode()
keys = causeway.list_webhook_keys


def later() -> float:
    return time.time() + 301


event = WebhookVerifier(secrets=[other_secret, secret]).verify(body, headers)
service = {name: value for name, value in headers.items() if name != "webhook-signature"}
ed25519 = {**headers, "webhook-signature": re.sub(r"v1,\S+", "", headers["webhook-signature"])}
for genuine in (headers, ed25519, service, {name.title(): value for name, value in headers.items()}):
    WebhookVerifier(keys=keys).verify(body, genuine)

changed = body[:-2] + bytes([body[-2] ^ 1]) + body[-1:]
other = {**headers, "webhook-id": "Webhook:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"}
wrong_webhooks: list[tuple[WebhookVerifier, bytes, dict[str, str]]] = [
    (WebhookVerifier(secrets=[secret]), changed, headers),
    (WebhookVerifier(secrets=[secret]), body, other),
    (WebhookVerifier(secrets=[secret]), body, ed25519),
    (WebhookVerifier(secrets=[secret]), body, service),
    (WebhookVerifier(secrets=[secret], now=later), body, headers),
    (WebhookVerifier(secrets=[other_secret]), body, headers),
    (WebhookVerifier(keys=keys), changed, headers),
    (WebhookVerifier(keys=keys), changed, service),
    (WebhookVerifier(keys=keys), body, other),
    (WebhookVerifier(keys=keys, now=later), body, headers),
    (WebhookVerifier(keys=keys), body, {**service, "service-webhook-signature": '{"v":"2","s":"AAAA"}'}),
    (WebhookVerifier(keys=keys), body, {}),
]
for number, (verifier, received, sent) in enumerate(wrong_webhooks):
    try:
        verifier.verify(received, sent)
        raise SystemExit(f"webhook {number} was not refused")
    except WebhookVerificationError:
        pass

print(
    json.dumps(
        {
            "customers": customers,
            "quoteId": quote["id"],
            "rate": str(quote["exchangeRate"]),
            "transactionId": quote["transactionId"],
            "transferId": transfer["id"],
            "error": {
                "status": refused.status,
                "code": refused.code,
                "fields": [one["field"] for one in refused.fields],
                "requestId": refused.request_id,
            },
            "webhookId": event["webhookId"],
        }
    )
)
