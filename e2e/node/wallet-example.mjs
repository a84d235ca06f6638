// Checks the client in clients/typescript/src/wallet.ts with an example, that of docs/wallets.md: EXAMPLE in the environment.
import assert from "node:assert/strict";
import { DhkemP256HkdfSha256 } from "@hpke/core";
import { p256 } from "@noble/curves/nist.js";
import { base64, base64urlnopad, hex } from "@scure/base";
import { openSession, sign, stamp } from "../../clients/typescript/dist/wallet.js";

const example = JSON.parse(process.env.EXAMPLE);
const kem = new DhkemP256HkdfSha256();
const clientKey = { privateKey: await kem.importKey("raw", hex.decode(example.clientPrivateKey).buffer, false) };
assert.equal(hex.encode(p256.getPublicKey(hex.decode(example.clientPrivateKey), false)), example.clientPublicKey);

const session = await openSession(clientKey, example.encryptedSessionSigningKey);
assert.equal(hex.encode(session.privateKey), example.sessionPrivateKey);
assert.equal(session.publicKey, example.sessionPublicKey);
assert.equal(sign(session, example.payloadToSign), example.signature);
assert.equal(stamp(session, example.payloadToSign), example.stamp);
const fields = JSON.parse(new TextDecoder().decode(base64urlnopad.decode(example.stamp)));
assert.deepEqual(Object.keys(fields), ["publicKey", "scheme", "signature"]);
assert.equal(fields.signature, hex.encode(base64.decode(example.signature)));

// A typing error in the sealed key is noticed, and so is another client key.
const typo = example.encryptedSessionSigningKey.replace(/.$/, (last) => (last === "V" ? "W" : "V"));
await assert.rejects(openSession(clientKey, typo), /checksum/);
await assert.rejects(openSession(await kem.generateKeyPair(), example.encryptedSessionSigningKey));
