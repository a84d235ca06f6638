// The life of a wallet on a production platform, with the client in wallet.mjs: node wallet-story.mjs.
// In the environment: BASE_URL, CLIENT_ID and CLIENT_SECRET of the platform, MAIL_FOLDER, and ISSUER (issuer.mjs).
// It ends at the first thing that is not as described.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import emulator from "nid-webauthn-emulator";
import { newClientKey, openExport, openSession, readRequest, sessionKey, sign, stamp } from "./wallet.mjs";

const { BASE_URL, CLIENT_ID, CLIENT_SECRET, MAIL_FOLDER, ISSUER } = process.env;

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
  const known = { accountId: wallet.id, operation, method, path: new URL(BASE_URL).pathname + path, body: body && JSON.stringify(body) };
  readRequest(payload, known);
  return sign(session, payload);
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
  const texts = readdirSync(MAIL_FOLDER).map((name) => readFileSync(join(MAIL_FOLDER, name), "utf8"));
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
const nonce = hex.encode(sha256(new TextEncoder().encode(identityKey.publicKey)));
const shown = async (claims) => ({ type: "OAUTH", oidcToken: await token(claims), clientPublicKey: identityKey.publicKey });
await refused("Invalid OIDC token", "POST", verifyIdentity, await shown({ nonce: hex.encode(randomBytes(32)) }));
await refused("Invalid OIDC token", "POST", verifyIdentity, await shown({ nonce, sub: "ben" }));
const identitySession = await call(200, "POST", verifyIdentity, await shown({ nonce }));
await openSession(identityKey, identitySession.encryptedSessionSigningKey);

// A session is refreshed. Any session can end another one, and itself; a credential takes its sessions along.
const freshKey = await newClientKey();
const freshSession = await signed(201, passkeySigner, "REFRESH_SESSION", "POST", `/auth/sessions/${passkeySession.id}/refresh`, { clientPublicKey: freshKey.publicKey });
const signer = await openSession(freshKey, freshSession.encryptedSessionSigningKey);
await signed(204, emailSigner, "REVOKE_SESSION", "DELETE", `/auth/sessions/${emailSession.id}`);
await signed(204, signer, "REVOKE_CREDENTIAL", "DELETE", `/auth/credentials/${identity.id}`);
const active = (await call(200, "GET", `/auth/sessions?accountId=${wallet.id}`)).data.map(({ id }) => id);
assert.deepEqual(active, [passkeySession.id, freshSession.id]);

// The words in an export lead to the key of the wallet. The customer gets a notice.
const exportPath = `/internal-accounts/${wallet.id}/export`;
const exportKey = await newClientKey();
const exportBody = { clientPublicKey: exportKey.publicKey };
const ended = await call(202, "POST", exportPath, exportBody);
await refused("Invalid Service-Wallet-Signature", "POST", exportPath, exportBody, prove(ended, sign(emailSigner, ended.payloadToSign)));
const exported = await signed(200, signer, "EXPORT_WALLET", "POST", exportPath, exportBody);
const restored = await openExport(exportKey, exported.encryptedWalletCredentials);
assert.equal(restored.words.split(" ").length, 24);
await mail(/^Subject: Your wallet was exported/m);

// A client does not sign what is not the request that it knows, such as an export for the key of somebody else.
const thief = await newClientKey();
const stolen = await call(202, "POST", exportPath, { clientPublicKey: thief.publicKey });
assert.throws(() => agree(signer, stolen.payloadToSign, "EXPORT_WALLET", "POST", exportPath, exportBody), /bodySha256/);
