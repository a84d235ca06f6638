// The life of a wallet on a production platform, with the client in clients/typescript/src/wallet.ts: node wallet-story.mjs.
// In the environment: BASE_URL, CLIENT_ID and CLIENT_SECRET of the platform, SECOND_ID and SECOND_SECRET of a token of a person, MAIL_FOLDER, and ISSUER (issuer.mjs).
// It ends at the first thing that is not as described.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { p256 } from "@noble/curves/nist.js";
import { base64 } from "@scure/base";
import { generateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import emulator from "nid-webauthn-emulator";
import {
  checkChallenge, newClientKey, newSessionKey, nonceFor, openExport, openSession, readTarget, sealCode, readPayment, readRequest, sessionKey, sign, stamp, verifyPayment, walletKey,
} from "../../clients/typescript/dist/wallet.js";

const { BASE_URL, CLIENT_ID, CLIENT_SECRET, SECOND_ID, SECOND_SECRET, MAIL_FOLDER, ISSUER } = process.env;

// request is what the servers of the platform do: they call the service with their token.
async function request(method, path, body, headers = {}) {
  const authorization = "Basic " + btoa(`${CLIENT_ID}:${CLIENT_SECRET}`);
  const response = await fetch(BASE_URL + path, {
    method,
    headers: { authorization, ...(body && { "content-type": "application/json" }), ...headers },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text && JSON.parse(text), line: `${method} ${path}: ${response.status} ${text}` };
}

// call makes a request that must have a status, and returns the body of the response.
async function call(status, method, path, body, headers) {
  const response = await request(method, path, body, headers);
  assert.equal(response.status, status, response.line);
  return response.body;
}

// refused makes a request that must be refused with 401 and a reason.
async function refused(reason, method, path, body, headers) {
  const error = await call(401, method, path, body, headers);
  assert.deepEqual([error.code, error.reason], ["UNAUTHORIZED", reason], `${method} ${path}`);
}

// prove returns the headers of a second request.
const prove = (first, signature) => ({ "request-id": first.requestId, "service-wallet-signature": signature });

// agree is what the client does: it signs a payload if that is about the request that it knows.
function agree(session, payload, operation, method, path, body) {
  const known = { accountId: wallet.id, operation, method, path: new URL(BASE_URL).pathname + path, body: body ? JSON.stringify(body) : "" };
  readRequest(payload, known);
  return sign(session, payload);
}

// highS returns the other signature that is valid, which some libraries make.
function highS(signature) {
  const { r, s } = p256.Signature.fromBytes(base64.decode(signature), "der");
  return base64.encode(new p256.Signature(r, p256.Point.Fn.ORDER - s).toBytes("der"));
}

// signed makes a request, lets the client sign it, and makes it again.
async function signed(status, session, operation, method, path, body) {
  const first = await call(202, method, path, body);
  return call(status, method, path, body, prove(first, agree(session, first.payloadToSign, operation, method, path, body)));
}

async function eventually(what, look) {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await new Promise((wake) => setTimeout(wake, 20))) {
    const found = await look();
    if (found) return found;
  }
  assert.fail("not seen: " + what);
}

const mail = (pattern) => eventually(`a mail with ${pattern}`, () => {
  const texts = readdirSync(MAIL_FOLDER).filter((name) => name.endsWith(".eml")).map((name) => readFileSync(join(MAIL_FOLDER, name), "utf8"));
  return texts.map((text) => text.match(pattern)).find(Boolean);
});

const random = () => randomBytes(32).toString("base64url");

// A platform has a customer, who gets a wallet.
const currency = (currencyCode) => ({ currencyCode, minAmount: 1, maxAmount: 1e12, requiredCounterpartyFields: [], enabledTransactionTypes: ["OUTGOING", "INCOMING"] });
const origin = "https://app.acme.example";
await call(200, "PATCH", "/config", {
  supportedCurrencies: [currency("USD"), currency("USDB")],
  embeddedWalletConfig: { appName: "Acme", passkeyRpId: "acme.example", passkeyOrigins: [origin], oauthClientIds: ["acme-app"] },
});
const customer = await call(201, "POST", "/customers", { customerType: "INDIVIDUAL", fullName: "Ana Silva", email: "ana@acme.example" });
const accountIn = async (code) => (await call(200, "GET", `/customers/internal-accounts?customerId=${customer.id}&currency=${code}`)).data[0];
const wallet = await accountIn("USDB");
assert.equal(wallet.type, "EMBEDDED_WALLET");

// A code from a mail opens the first session.
const [email] = (await call(200, "GET", `/auth/credentials?accountId=${wallet.id}`)).data;
assert.deepEqual([email.type, email.nickname], ["EMAIL_OTP", "ana@acme.example"]);
const verifyEmail = `/auth/credentials/${email.id}/verify`;
await call(200, "POST", `/auth/credentials/${email.id}/challenge`);
const [, otp] = await mail(/^Subject: (\d{6}) /m);
const emailKey = await newClientKey();
const code = { type: "EMAIL_OTP", otp, clientPublicKey: emailKey.publicKey };
await refused("Invalid OTP code", "POST", verifyEmail, { ...code, otp: otp === "111111" ? "222222" : "111111" });
const emailSession = await call(200, "POST", verifyEmail, code);
const emailSigner = await openSession(emailKey, emailSession.encryptedSessionSigningKey);
await refused("Invalid OTP code", "POST", verifyEmail, code);

// A code that the client encrypts opens a session with the client's own key.
const challenged = await call(200, "POST", `/auth/credentials/${email.id}/challenge`);
const [, secondOtp] = await mail(new RegExp(`^Subject: (?!${otp})(\\d{6}) `, "m"));
const ownKey = newSessionKey();
const sealedCode = { type: "EMAIL_OTP", encryptedOtpBundle: await sealCode(readTarget(challenged.otpEncryptionTargetBundle), secondOtp, ownKey) };
const opened = await signed(200, ownKey, "VERIFY_CREDENTIAL", "POST", verifyEmail, sealedCode);
assert.equal(opened.encryptedSessionSigningKey, undefined);
await refused("Invalid OTP code", "POST", verifyEmail, sealedCode);
await signed(204, ownKey, "REVOKE_SESSION", "DELETE", `/auth/sessions/${opened.id}`);

// That session signs the addition of a passkey.
const device = new emulator.default();
const challenge = random();
const { rawId, response } = device.createJSON(origin, {
  challenge,
  rp: { id: "acme.example", name: "Acme" },
  user: { id: random(), name: email.nickname, displayName: "Ana Silva" },
  pubKeyCredParams: [{ type: "public-key", alg: -7 }],
});
const { clientDataJSON: clientDataJson, attestationObject, transports } = response;
const newPasskey = { type: "PASSKEY", accountId: wallet.id, nickname: "Ana's phone", challenge, attestation: { credentialId: rawId, clientDataJson, attestationObject, transports } };
const add = await call(202, "POST", "/auth/credentials", newPasskey);
agree(emailSigner, add.payloadToSign, "ADD_CREDENTIAL", "POST", "/auth/credentials", newPasskey);
const proof = stamp(emailSigner, add.payloadToSign);
await refused("Invalid Service-Wallet-Signature", "POST", "/auth/credentials", newPasskey, prove(add, sign(sessionKey(randomBytes(32)), add.payloadToSign)));
await refused("Invalid Service-Wallet-Signature", "POST", "/auth/credentials", newPasskey, prove(add, sign(emailSigner, add.payloadToSign + "\n")));
await refused("Request does not match Request-Id", "POST", "/auth/credentials", { ...newPasskey, nickname: "Another" }, prove(add, proof));
await refused("Missing Request-Id", "POST", "/auth/credentials", newPasskey, { "service-wallet-signature": proof });
await refused("Missing Service-Wallet-Signature", "POST", "/auth/credentials", newPasskey, { "request-id": add.requestId });
const passkey = await call(201, "POST", "/auth/credentials", newPasskey, prove(add, proof));
assert.equal(passkey.credentialId, rawId);
await refused("Request-Id already used", "POST", "/auth/credentials", newPasskey, prove(add, proof));

// The passkey opens a session, once, and for its own challenge only.
const verifyPasskey = `/auth/credentials/${passkey.id}/verify`;
const passkeyKey = await newClientKey();
const ask = await call(200, "POST", `/auth/credentials/${passkey.id}/challenge`, { clientPublicKey: passkeyKey.publicKey });
checkChallenge(ask.challenge, passkeyKey.publicKey);
assert.throws(() => checkChallenge(ask.challenge, emailKey.publicKey), /another key/);
const answer = (challenge) => {
  const { rawId, response } = device.getJSON(origin, { challenge, rpId: "acme.example", allowCredentials: [{ type: "public-key", id: ask.credentialId }] });
  const { clientDataJSON: clientDataJson, authenticatorData, signature, userHandle } = response;
  return { type: "PASSKEY", assertion: { credentialId: rawId, clientDataJson, authenticatorData, signature, userHandle } };
};
await refused("Invalid passkey signature", "POST", verifyPasskey, answer(random()), { "request-id": ask.requestId });
await refused("Missing Request-Id", "POST", verifyPasskey, answer(ask.challenge));
const answered = answer(ask.challenge);
const passkeySession = await call(200, "POST", verifyPasskey, answered, { "request-id": ask.requestId });
const passkeySigner = await openSession(passkeyKey, passkeySession.encryptedSessionSigningKey);
await refused("Request-Id already used", "POST", verifyPasskey, answered, { "request-id": ask.requestId });

// So does an ID token for the key of the client.
const token = async (claims) => (await fetch(ISSUER + "/token", { method: "POST", body: JSON.stringify({ aud: "acme-app", sub: "ana", ...claims }) })).json();
const identity = await signed(201, passkeySigner, "ADD_CREDENTIAL", "POST", "/auth/credentials",
  { type: "OAUTH", accountId: wallet.id, oidcToken: await token({ email: "ana@mail.example" }) });
assert.equal(identity.nickname, "ana@mail.example");
const verifyIdentity = `/auth/credentials/${identity.id}/verify`;
const identityKey = await newClientKey();
const nonce = nonceFor(identityKey.publicKey);
const shown = async (claims) => ({ type: "OAUTH", oidcToken: await token(claims), clientPublicKey: identityKey.publicKey });
await refused("Invalid OIDC token", "POST", verifyIdentity, await shown({ nonce: nonceFor(passkeyKey.publicKey) }));
await refused("Invalid OIDC token", "POST", verifyIdentity, await shown({ nonce, sub: "ben" }));
const identitySession = await call(200, "POST", verifyIdentity, await shown({ nonce }));
await openSession(identityKey, identitySession.encryptedSessionSigningKey);

// A session is refreshed. Any session can end another one, and itself; a credential takes its sessions along.
const freshKey = await newClientKey();
const refreshPath = `/auth/sessions/${passkeySession.id}/refresh`;
const freshBody = { clientPublicKey: freshKey.publicKey };
const refresh = await call(202, "POST", refreshPath, freshBody);
await refused("Invalid Service-Wallet-Signature", "POST", refreshPath, freshBody, prove(refresh, sign(emailSigner, refresh.payloadToSign)));
const freshSession = await call(201, "POST", refreshPath, freshBody, prove(refresh, highS(agree(passkeySigner, refresh.payloadToSign, "REFRESH_SESSION", "POST", refreshPath, freshBody))));
const signer = await openSession(freshKey, freshSession.encryptedSessionSigningKey);
await signed(204, emailSigner, "REVOKE_SESSION", "DELETE", `/auth/sessions/${emailSession.id}`);
await signed(204, signer, "REVOKE_CREDENTIAL", "DELETE", `/auth/credentials/${identity.id}`);
const active = (await call(200, "GET", `/auth/sessions?accountId=${wallet.id}`)).data.map(({ id }) => id);
assert.deepEqual(active, [passkeySession.id, freshSession.id]);

// The session signs other changes too: of the privacy of the wallet, and of the customer's address.
assert.equal((await signed(200, signer, "UPDATE_INTERNAL_ACCOUNT", "PATCH", `/internal-accounts/${wallet.id}`, { privateEnabled: true })).privateEnabled, true);
assert.equal((await signed(200, signer, "UPDATE_CUSTOMER_EMAIL", "PATCH", `/customers/${customer.id}`, { customerType: "INDIVIDUAL", email: "silva@acme.example" })).email, "silva@acme.example");

// The wallet has coins, which a second person approves, and pays with a signature for exactly this payment.
const proposal = await call(202, "POST", "/ledger/adjustments", {
  note: "Coins for a test.", ownedAccounts: true,
  entries: [{ debit: "chains/LAYER2", credit: `wallets/${wallet.id}`, currency: "USDB", amount: 5_000_000 }],
});
await call(200, "POST", `/ledger/proposals/${proposal.id}/approve`, undefined, { authorization: "Basic " + btoa(`${SECOND_ID}:${SECOND_SECRET}`) });
const dollars = await accountIn("USD");
const newQuote = () => call(201, "POST", "/quotes", {
  source: { sourceType: "ACCOUNT", accountId: wallet.id },
  destination: { destinationType: "ACCOUNT", accountId: dollars.id },
  lockedCurrencySide: "SENDING", lockedCurrencyAmount: 2_000_000,
});
const payloadOf = (quote) => quote.paymentInstructions[0].accountOrWalletInfo.payloadToSign;
const quote = await newQuote();
const said = readPayment(payloadOf(quote), {
  quoteId: quote.id, transactionId: quote.transactionId, platformId: JSON.parse(add.payloadToSign).platformId, accountId: wallet.id,
  totalSendingAmount: 2_000_000, sendingCurrency: "USDB", feesIncluded: quote.feesIncluded,
  totalReceivingAmount: quote.totalReceivingAmount, receivingCurrency: "USD", exchangeRate: String(quote.exchangeRate),
  destination: { accountId: dollars.id },
});
assert.equal(new Date(said.expiresAt).getTime(), new Date(quote.expiresAt).getTime());
assert.equal(quote.totalReceivingAmount, Math.floor((2_000_000 - quote.feesIncluded) * quote.exchangeRate));
const execute = `/quotes/${quote.id}/execute`;
const withSignature = (signature) => ({ "service-wallet-signature": signature });
await refused("Missing Service-Wallet-Signature", "POST", execute);
await refused("Invalid Service-Wallet-Signature", "POST", execute, undefined, withSignature(sign(sessionKey(randomBytes(32)), payloadOf(quote))));
await refused("Invalid Service-Wallet-Signature", "POST", execute, undefined, withSignature(sign(signer, payloadOf(await newQuote()))));
await refused("Invalid Service-Wallet-Signature", "POST", execute, undefined, withSignature(sign(emailSigner, payloadOf(quote)))); // of the revoked session
await call(200, "POST", execute, undefined, withSignature(sign(signer, payloadOf(quote))));
const completed = ({ transactionId }) => eventually("the payment is completed", async () => (await call(200, "GET", "/transactions/" + transactionId)).status === "COMPLETED");
await completed(quote);
assert.equal((await call(409, "POST", execute, undefined, withSignature(sign(signer, payloadOf(quote))))).code, "QUOTE_ALREADY_EXECUTED");
assert.equal((await accountIn("USDB")).balance.amount, 3_000_000);
assert.equal((await accountIn("USD")).balance.amount, quote.totalReceivingAmount);
const stamped = await newQuote();
await call(200, "POST", `/quotes/${stamped.id}/execute`, undefined, withSignature(stamp(signer, payloadOf(stamped))));
await completed(stamped);

// The words in an export lead to the key of the wallet. The customer gets a notice.
const exportPath = `/internal-accounts/${wallet.id}/export`;
const exportKey = await newClientKey();
const exportBody = { clientPublicKey: exportKey.publicKey };
const ended = await call(202, "POST", exportPath, exportBody);
await refused("Invalid Service-Wallet-Signature", "POST", exportPath, exportBody, prove(ended, sign(emailSigner, ended.payloadToSign)));
const exported = await signed(200, signer, "EXPORT_WALLET", "POST", exportPath, exportBody);
const restored = await openExport(exportKey, exported.encryptedWalletCredentials);
assert.equal(restored.words.split(" ").length, 24);
assert.equal(readTarget(challenged.otpEncryptionTargetBundle, restored.publicKey), readTarget(challenged.otpEncryptionTargetBundle));
assert.throws(() => readTarget(challenged.otpEncryptionTargetBundle, walletKey(generateMnemonic(wordlist, 256)).publicKey), /did not sign the target/);
await mail(/^Subject: Your wallet was exported/m);

// With nothing but the key that follows from the words, anybody sees that the customer signed the payment.
const timelineOf = async ({ transactionId }) => (await call(200, "GET", `/transactions/${transactionId}/timeline`)).data;
const authorized = (timeline) => timeline.find(({ type }) => type === "AUTHORIZED");
const timeline = await timelineOf(quote);
const evidence = authorized(timeline);
assert.deepEqual(verifyPayment(evidence, restored.publicKey), said);
assert.equal(verifyPayment(authorized(await timelineOf(stamped)), restored.publicKey).quoteId, stamped.id);
const entries = timeline.filter(({ type }) => type === "POSTED").flatMap(({ posting }) => posting.entries);
assert.deepEqual(entries.filter(({ debit }) => debit === `wallets/${wallet.id}`).map(({ amount }) => amount), [2_000_000]);
const altered = (change) => {
  const copy = structuredClone(evidence);
  change(copy, copy.authorization, copy.authorization.sessionCertificate);
  return () => verifyPayment(copy, restored.publicKey);
};
assert.throws(altered((_, a) => { a.payload = a.payload.replace("2000000", "2000001"); }), /session did not sign/);
assert.throws(altered((_, a, c) => { c.statement = c.statement.replace(signer.publicKey, emailSigner.publicKey); }), /wallet did not sign/);
assert.throws(altered((_, a) => { a.accountId = dollars.id; }), /another wallet/);
assert.throws(altered((event) => { event.at = freshSession.expiresAt; }), /not active/);
assert.throws(() => verifyPayment(evidence, walletKey(generateMnemonic(wordlist, 256)).publicKey), /wallet did not sign/);

// A client does not sign what is not the request that it knows, such as an export for the key of somebody else.
const thief = await newClientKey();
const stolen = await call(202, "POST", exportPath, { clientPublicKey: thief.publicKey });
assert.throws(() => agree(signer, stolen.payloadToSign, "EXPORT_WALLET", "POST", exportPath, exportBody), /bodySha256/);

// The test compares this with what an operator sees.
console.log(JSON.stringify({ wallet: wallet.id, publicKey: restored.publicKey, exportedBy: freshSession.id }));
