// The client of an embedded wallet: what runs on the device of a customer. docs/wallets.md explains it
// ("Write a client"), and wallet-story.mjs uses it. Public keys are hexadecimal digits, private keys bytes.
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from "@hpke/core";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { base64, base64urlnopad, createBase58check, hex } from "@scure/base";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

const utf8 = new TextEncoder();
const text = new TextDecoder();
const hpke = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });

// newClientKey makes a key pair for one response: send publicKey as clientPublicKey, keep the other.
export async function newClientKey() {
  const { privateKey, publicKey } = await hpke.kem.generateKeyPair();
  return { privateKey, publicKey: hex.encode(new Uint8Array(await hpke.kem.serializePublicKey(publicKey))) };
}

async function open(clientKey, enc, ciphertext) {
  return new Uint8Array(await hpke.open({ recipientKey: clientKey.privateKey, enc }, ciphertext));
}

// openSession returns the key of a session from encryptedSessionSigningKey.
export async function openSession(clientKey, sealed) {
  const bytes = createBase58check(sha256).decode(sealed); // fails if the checksum is wrong
  const enc = p256.Point.fromBytes(bytes.subarray(0, 33)).toBytes(false); // HPKE needs the uncompressed form
  return sessionKey(await open(clientKey, enc, bytes.subarray(33)));
}

// sessionKey returns the key pair of a session.
export function sessionKey(privateKey) {
  return { privateKey, publicKey: hex.encode(p256.getPublicKey(privateKey)) };
}

// checkChallenge fails unless the challenge of a passkey is for this client: else it would open a session for
// somebody else.
export function checkChallenge(challenge, clientPublicKey) {
  const bytes = base64urlnopad.decode(challenge);
  const hash = sha256(concatBytes(bytes.subarray(0, 32), utf8.encode(clientPublicKey)));
  if (hex.encode(hash) !== hex.encode(bytes.subarray(32))) throw new Error("the challenge is for another key");
}

// nonceFor returns the nonce to request an ID token with.
export function nonceFor(clientPublicKey) {
  return hex.encode(sha256(utf8.encode(clientPublicKey)));
}

// readRequest returns what the payload of a request says. It fails unless that is the request that the client
// knows: its method, its path with the version, and its body, a text that is empty if there is none.
export function readRequest(payload, { accountId, operation, method, path, body }) {
  const bodySha256 = hex.encode(sha256(utf8.encode(body)));
  return read(payload, { type: "REQUEST", version: 1, accountId, operation, method, path, bodySha256 });
}

// readPayment returns what the payload of a payment says. It fails unless that has the values that the client knows.
export function readPayment(payload, known) {
  return read(payload, { type: "PAYMENT", version: 1, ...known });
}

function read(payload, known) {
  const said = JSON.parse(payload);
  for (const [name, value] of Object.entries(known))
    if (JSON.stringify(said[name]) !== JSON.stringify(value))
      throw new Error(`the payload has ${name} ${JSON.stringify(said[name])} instead of ${JSON.stringify(value)}`);
  return said;
}

// sign returns the header Service-Wallet-Signature for a payloadToSign.
export function sign(session, payload) {
  return base64.encode(p256.sign(utf8.encode(payload), session.privateKey, { format: "der" }));
}

// stamp returns the same header in its other form, which names the key.
export function stamp(session, payload) {
  const signature = hex.encode(p256.sign(utf8.encode(payload), session.privateKey, { format: "der" }));
  const fields = { publicKey: session.publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256", signature };
  return base64urlnopad.encode(utf8.encode(JSON.stringify(fields)));
}

// openExport returns the words of a wallet and its key from encryptedWalletCredentials.
export async function openExport(clientKey, credentials) {
  const envelope = JSON.parse(credentials);
  if (envelope.version !== "v1.0.0") throw new Error(`unknown version ${envelope.version}`);
  const data = hex.decode(envelope.data);
  const { encappedPublic, ciphertext } = JSON.parse(text.decode(data));
  const words = text.decode(await open(clientKey, hex.decode(encappedPublic), hex.decode(ciphertext)));
  const key = walletKey(words);
  if (hex.encode(secp256k1.Point.fromHex(envelope.enclaveQuorumPublic).toBytes(true)) !== key.publicKey)
    throw new Error("the words are not those of the key that sealed them");
  if (!secp256k1.verify(hex.decode(envelope.dataSignature), data, hex.decode(key.publicKey), { format: "der" }))
    throw new Error("the key of the wallet did not sign the data");
  return { words, ...key };
}

// walletKey returns the key of a wallet from its words.
export function walletKey(words) {
  if (!validateMnemonic(words, wordlist)) throw new Error("the words have no valid checksum");
  const { privateKey, publicKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive("m/8797555'/0'/0'");
  return { privateKey, publicKey: hex.encode(publicKey) };
}

// verifyPayment returns the payload of a payment. It fails unless the owner of the wallet signed it: event is
// that of type AUTHORIZED in the timeline, walletPublicKey the key of the wallet, compressed. It asks nobody.
export function verifyPayment(event, walletPublicKey) {
  const { accountId, payload, signature, signatureForm, sessionCertificate: certificate } = event.authorization;
  const certified = secp256k1.verify(hex.decode(certificate.signature), utf8.encode(certificate.statement), hex.decode(walletPublicKey), { format: "der" });
  if (!certified) throw new Error("the key of the wallet did not sign the certificate of the session");

  const session = JSON.parse(certificate.statement);
  if (session.type !== "SESSION" || session.accountId !== accountId) throw new Error("the session is of another wallet");
  const at = new Date(event.at);
  if (at < new Date(session.createdAt) || at >= new Date(session.expiresAt)) throw new Error("the session was not active");

  const der = signatureForm === "STAMP" ? hex.decode(JSON.parse(text.decode(base64urlnopad.decode(signature))).signature) : base64.decode(signature);
  const signed = p256.verify(der, utf8.encode(payload), hex.decode(session.publicKey), { format: "der", lowS: false });
  if (!signed) throw new Error("the key of the session did not sign the payload");
  return readPayment(payload, { accountId });
}
