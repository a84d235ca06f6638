// What a platform does with the client, against a running service. e2e/clients_test.go starts it, and checks what it
// prints and what the service has recorded.
import assert from "node:assert/strict";
import { Causeway, CausewayError, WebhookVerificationError, WebhookVerifier } from "@causeway/client";

const given = JSON.parse(process.env.GIVEN!);
const credentials = { clientId: given.clientId, clientSecret: given.clientSecret };
const causeway = new Causeway({ baseUrl: given.baseUrl, ...credentials });

// Three customers, listed on two pages.
for (const fullName of ["Ada Lovelace", "Mia Lind", "Ana Lima"]) {
  const address = { line1: "12 Analytical Way", city: "Austin", state: "TX", postalCode: "78701", country: "US" };
  const person = { fullName, birthDate: "1990-12-10", nationality: "US", address };
  await causeway.post("/customers", { body: { customerType: "INDIVIDUAL", platformCustomerId: `story-${fullName}`, ...person } });
}
const customers: string[] = [];
for await (const customer of causeway.list("/customers", { params: { query: { limit: 2 } } }))
  if (customer.platformCustomerId?.startsWith("story-")) customers.push(customer.platformCustomerId.slice(6));

// A payment.
const quote = await causeway.post("/quotes", {
  body: {
    source: { sourceType: "ACCOUNT", accountId: given.source },
    destination: { destinationType: "ACCOUNT", accountId: given.wallet },
    lockedCurrencySide: "SENDING",
    lockedCurrencyAmount: 2500,
  },
});
await causeway.post("/quotes/{quoteId}/execute", { params: { path: { quoteId: quote.id } } });

// A transfer whose first response is lost.
const breaking = new Causeway({ baseUrl: given.breakingUrl, ...credentials });
const transfer = await breaking.post("/transfer-out", {
  body: { source: { accountId: given.source }, destination: { accountId: given.bank }, amount: 1000 },
});

// A request that is refused.
const refused = await causeway
  .post("/customers/external-accounts", { body: { customerId: given.customer, currency: "USD" } as any })
  .catch((error) => error);
assert(refused instanceof CausewayError && !refused.retryable, String(refused));

// A webhook that was received before, with all signatures.
const { headers } = given.webhook;
const body = Buffer.from(given.webhook.body, "base64");
const later = () => Date.now() + 301_000;
const keys = () => causeway.list("/webhook-keys");
const otherSecret = "whsec_" + Buffer.alloc(32).toString("base64");
const event = await new WebhookVerifier({ secrets: [otherSecret, given.webhook.secret] }).verify(body, headers);
const { "webhook-signature": standard, ...service } = headers;
const ed25519 = { ...headers, "webhook-signature": standard.replace(/v1,\S+/, "") };
for (const genuine of [headers, ed25519, service, new Headers(service)])
  await new WebhookVerifier({ keys }).verify(new Uint8Array(body), genuine);

const changed = Buffer.from(body);
changed[changed.length - 2]! ^= 1;
const other = { ...headers, "webhook-id": "Webhook:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b" };
for (const [verifier, received, with_] of [
  [{ secrets: [given.webhook.secret] }, changed, headers],
  [{ secrets: [given.webhook.secret] }, body, other],
  [{ secrets: [given.webhook.secret] }, body, ed25519],
  [{ secrets: [given.webhook.secret] }, body, service],
  [{ secrets: [given.webhook.secret], now: later }, body, headers],
  [{ secrets: [otherSecret] }, body, headers],
  [{ keys }, changed, headers],
  [{ keys }, changed, service],
  [{ keys }, body, other],
  [{ keys, now: later }, body, headers],
  [{ keys }, body, { ...service, "service-webhook-signature": '{"v":"2","s":"AAAA"}' }],
  [{ keys }, body, {}],
] as const)
  await assert.rejects(async () => new WebhookVerifier(verifier as any).verify(received, with_), WebhookVerificationError);

console.log(
  JSON.stringify({
    customers,
    quoteId: quote.id,
    rate: quote.exchangeRate,
    transactionId: quote.transactionId,
    transferId: transfer.id,
    error: { status: refused.status, code: refused.code, fields: refused.fields.map(({ field }) => field), requestId: refused.requestId },
    webhookId: event.webhookId,
  }),
);
