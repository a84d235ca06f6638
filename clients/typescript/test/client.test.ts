import assert from "node:assert/strict";
import test from "node:test";
import { Causeway, CausewayError, ConnectionError } from "@causeway/client";
import { parseJSON } from "../dist/json.js";
import { isRetryable, retryDelay } from "../dist/retry.js";

/** Returns a client that gets these responses, one for each attempt, and the requests that it has sent. */
function clientOf(...responses: (Response | Error | "nothing")[]) {
  const requests: Request[] = [];
  const causeway = new Causeway({
    baseUrl: "https://pay.example.com/2025-10-13",
    clientId: "id",
    clientSecret: "sécret",
    timeoutMs: 50,
    fetch: async (request, { signal }) => {
      requests.push(request);
      const response = responses[Math.min(requests.length, responses.length) - 1]!;
      if (response instanceof Error) throw response;
      if (response === "nothing")
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return response.clone();
    },
  });
  return { causeway, requests };
}

const json = (status: number, body: string, headers = {}) =>
  new Response(body, { status, headers: { "Content-Type": "application/json", "Request-Id": "request-1", ...headers } });
const refusal = (status: number, code: string, headers = {}) => json(status, JSON.stringify({ status, code, message: "No." }), headers);

test("numbers keep all their digits", () => {
  const rates = '"exchangeRate":0.1234567890123456789012345678901234,"rate":1';
  const integers = '"amount":9000000000000000,"balance":-123456789012345678901,"n":[0.5,7]';
  assert.deepEqual(parseJSON(`{${rates},${integers}}`), {
    exchangeRate: "0.1234567890123456789012345678901234",
    rate: "1",
    amount: 9_000_000_000_000_000,
    balance: -123456789012345678901n,
    n: ["0.5", 7],
  });
});

test("the service decides what is sent again, and the status where a proxy answers", () => {
  const is = (status: number, code: string, said?: string) =>
    isRetryable({ status, code, headers: new Headers(said ? { "x-should-retry": said } : {}) });
  assert(is(409, "IDEMPOTENCY_KEY_IN_USE") && is(429, "RATE_LIMITED") && is(500, "INTERNAL_ERROR") && is(502, "UNKNOWN"));
  assert(!is(409, "CONFLICT") && !is(400, "INVALID_INPUT") && !is(501, "NOT_IMPLEMENTED") && !is(422, "IDEMPOTENCY_KEY_REUSED"));
  assert(is(409, "CONFLICT", "true") && !is(503, "SERVICE_UNAVAILABLE", "false"));
});

test("the delay doubles up to eight seconds, and is never shorter than Retry-After", () => {
  assert.deepEqual([0, 1, 2, 9].map((retry) => retryDelay(retry, undefined, 0)), [500, 1000, 2000, 8000]);
  assert.equal(retryDelay(0, undefined, 1), 250);
  assert.equal(retryDelay(0, new Headers({ "Retry-After": "3" })), 3000);
});

test("a POST whose response is lost is sent again with its key, and the same body", async () => {
  const { causeway, requests } = clientOf(new TypeError("connection reset"), "nothing", json(201, '{"id":"Customer:1"}'));
  const customer = await causeway.post("/customers", { body: { customerType: "INDIVIDUAL", fullName: "Ada" } });
  assert.equal(customer.id, "Customer:1");
  const keys = new Set(requests.map((request) => request.headers.get("Idempotency-Key")));
  assert.equal(requests.length, 3);
  assert.match([...keys].join(), /^[0-9a-f-]{36}$/);
  for (const request of requests) assert.equal(await request.text(), '{"customerType":"INDIVIDUAL","fullName":"Ada"}');
  assert.equal(requests[0]!.headers.get("Authorization"), "Basic " + Buffer.from("id:sécret").toString("base64"));
});

test("your own key is used", async () => {
  const { causeway, requests } = clientOf(json(200, "{}"));
  await causeway.post("/quotes/{quoteId}/execute", { params: { path: { quoteId: "Quote:1" }, header: { "Idempotency-Key": "mine" } } });
  assert.equal(requests[0]!.headers.get("Idempotency-Key"), "mine");
});

test("what the service does not know as a repetition is not sent again when the response is lost", async () => {
  for (const call of [
    (causeway: Causeway) => causeway.post("/agents/device-codes/{code}/redeem", { params: { path: { code: "AGENT-1" } } }),
    (causeway: Causeway) => causeway.delete("/tokens/{tokenId}", { params: { path: { tokenId: "Token:1" } } }),
  ]) {
    const { causeway, requests } = clientOf(new TypeError("connection reset"));
    await assert.rejects(call(causeway), ConnectionError);
    assert.equal(requests.length, 1);
    assert.equal(requests[0]!.headers.get("Idempotency-Key"), null);
  }
});

test("a refusal has everything that the service says, and is not sent again", async () => {
  const details = { errors: [{ field: "limit", message: "is required" }] };
  const body = JSON.stringify({ status: 400, code: "INVALID_INPUT", message: "One field.", details });
  const { causeway, requests } = clientOf(json(400, body, { "x-should-retry": "false" }));
  const error = await causeway.get("/config").catch((error) => error);
  assert(error instanceof CausewayError);
  assert.deepEqual([error.status, error.code, error.requestId, error.fields, error.retryable, requests.length],
    [400, "INVALID_INPUT", "request-1", [{ field: "limit", message: "is required" }], false, 1]);
  assert.equal(error.message, "GET /2025-10-13/config: 400 INVALID_INPUT: One field.");
});

test("retries end: by their number, by the deadline, and with your signal", async () => {
  const busy = clientOf(refusal(503, "SERVICE_UNAVAILABLE", { "x-should-retry": "true" }));
  await assert.rejects(busy.causeway.patch("/config", { body: {} }), { code: "SERVICE_UNAVAILABLE", retryable: true });
  assert.equal(busy.requests.length, 4);

  const limited = clientOf(refusal(429, "RATE_LIMITED", { "Retry-After": "61" }));
  await assert.rejects(limited.causeway.get("/config"), { code: "RATE_LIMITED" });
  assert.equal(limited.requests.length, 1);

  const stopped = clientOf("nothing");
  await assert.rejects(stopped.causeway.get("/config", { signal: AbortSignal.timeout(10) }), { name: "TimeoutError" });
  assert.equal(stopped.requests.length, 1);
});

test("a proxy's page is an error with its status", async () => {
  const { causeway } = clientOf(new Response("<html>Not here", { status: 404 }));
  await assert.rejects(causeway.get("/config"), { status: 404, code: "UNKNOWN", retryable: false });
});

test("a list is read page by page", async () => {
  const { causeway, requests } = clientOf(
    json(200, '{"data":[{"id":"1"},{"id":"2"}],"hasMore":true,"nextCursor":"c&2"}'), json(200, '{"data":[{"id":"3"}],"hasMore":false}'));
  const ids = [];
  for await (const { id } of causeway.list("/customers", { params: { query: { limit: 2 } } })) ids.push(id);
  assert.deepEqual(ids, ["1", "2", "3"]);
  assert.deepEqual(requests.map(({ url }) => new URL(url).search), ["?limit=2", "?limit=2&cursor=c%262"]);
});

test("a body with a file is a form, and a file alone has its own type", async () => {
  const { causeway, requests } = clientOf(json(201, "{}"));
  const file = new Blob(["png"]);
  await causeway.post("/documents", { body: { documentHolder: "Customer:1", documentType: "UTILITY_BILL", country: "US", file } });
  await causeway.post("/customers/bulk/csv", { body: new Blob(["a,b"], { type: "text/csv" }) });
  assert.match(requests[0]!.headers.get("Content-Type")!, /^multipart\/form-data; boundary=/);
  assert.equal(requests[1]!.headers.get("Content-Type"), "text/csv");
});
