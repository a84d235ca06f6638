// Makes a payment of a platform and one of an agent with the generated types:
// node pay.js <url> <clientId> <clientSecret> <source> <destination> <bank account> <access token>.
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const [url, clientId, clientSecret, source, destination, bank, accessToken] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl: url,
  headers: { Authorization: "Basic " + Buffer.from(`${clientId}:${clientSecret}`).toString("base64") },
});

function got<T>(what: string, { data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(`${what}: ${JSON.stringify(error)}`);
  return data;
}

const agent = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${accessToken}` } });
const action = got("transfer", await agent.POST("/agents/me/transfer-out", {
  body: { source: { accountId: source }, destination: { accountId: bank }, amount: 1000 },
}));
console.log(action.id, action.status);

const body: components["schemas"]["QuoteRequest"] = {
  source: { sourceType: "ACCOUNT", accountId: source },
  destination: { destinationType: "ACCOUNT", accountId: destination },
  lockedCurrencySide: "SENDING",
  lockedCurrencyAmount: 2500,
};
const key = { "Idempotency-Key": randomUUID() };
const quote = got("quote", await client.POST("/quotes", { params: { header: key }, body }));
if (quote.destination.destinationType !== "ACCOUNT" || quote.destination.accountId !== destination) {
  throw new Error(`quote to ${JSON.stringify(quote.destination)}`);
}
got("execute", await client.POST("/quotes/{quoteId}/execute", { params: { path: { quoteId: quote.id } } }));
for (;;) {
  const { data, error } = await client.GET("/transactions/{transactionId}", {
    params: { path: { transactionId: quote.transactionId } },
  });
  const transaction = got("transaction", { data, error });
  if (transaction.status === "COMPLETED" || transaction.status === "FAILED") {
    console.log(transaction.id, transaction.status);
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
