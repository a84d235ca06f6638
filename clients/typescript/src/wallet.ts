// The client of an embedded wallet: what runs on the device of a customer. docs/wallets.md explains it
// ("Write a client"), and e2e/node/wallet-story.mjs uses it. Public keys are hexadecimal digits, private keys bytes.
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from "@hpke/core";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { base64, base64urlnopad, createBase58check, hex } from "@scure/base";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { components } from "./generated/schema.js";
import { parseJSON } from "./json.js";

/** A key pair for one response of the service. */
export type ClientKey = { privateKey: CryptoKey; publicKey: string };

/** The key pair of a session. */
export type SessionKey = { privateKey: Uint8Array; publicKey: string };

/** What the payload of a payment says: the amounts in the smallest unit of their currency, the ids, and the destination. */
export type PaymentPayload = { type: "PAYMENT"; version: 1 | 2; [field: string]: unknown };

/** A request as the client knows it. */
export type KnownRequest = { accountId: string; operation: string; method: string; path: string; body: string };

/** What the payload of another request says. */
export type RequestPayload = { type: "REQUEST"; version: 1; [field: string]: unknown };

/** An event AUTHORIZED in the timeline of a transaction. */
export type AuthorizedEvent = { at: string; authorization?: components["schemas"]["Authorization"] };

const utf8 = new TextEncoder();
const text = new TextDecoder();
const hpke = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });

/** Makes a key pair for one response: send publicKey as clientPublicKey, keep the other. */
export async function newClientKey(): Promise<ClientKey> {
  const { privateKey, publicKey } = await hpke.kem.generateKeyPair();
  return { privateKey, publicKey: hex.encode(new Uint8Array(await hpke.kem.serializePublicKey(publicKey))) };
}

async function open(clientKey: Pick<ClientKey, "privateKey">, enc: Uint8Array, ciphertext: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await hpke.open({ recipientKey: clientKey.privateKey, enc }, ciphertext));
}

/** Returns the key of a session from encryptedSessionSigningKey. */
export async function openSession(clientKey: Pick<ClientKey, "privateKey">, sealed: string): Promise<SessionKey> {
  const bytes = createBase58check(sha256).decode(sealed); // fails if the checksum is wrong
  const enc = p256.Point.fromBytes(bytes.subarray(0, 33)).toBytes(false); // HPKE needs the uncompressed form
  return sessionKey(await open(clientKey, enc, bytes.subarray(33)));
}

/** Returns the key pair of a session. */
export function sessionKey(privateKey: Uint8Array): SessionKey {
  return { privateKey, publicKey: hex.encode(p256.getPublicKey(privateKey)) };
}

/** Makes the key of a session that a sealed code opens. It never leaves the client. */
export function newSessionKey(): SessionKey {
  return sessionKey(p256.utils.randomSecretKey());
}

/**
 * Returns the key to encrypt codes to from otpEncryptionTargetBundle. With the key of the wallet, compressed, it
 * fails unless the wallet has signed it.
 */
export function readTarget(bundle: string, walletPublicKey?: string): string {
  const envelope = JSON.parse(bundle);
  if (envelope.version !== "v1.0.0") throw new Error(`unknown version ${envelope.version}`);
  const data = hex.decode(envelope.data);
  if (walletPublicKey && !secp256k1.verify(hex.decode(envelope.dataSignature), data, hex.decode(walletPublicKey), { format: "der" }))
    throw new Error("the key of the wallet did not sign the target");
  return JSON.parse(text.decode(data)).targetPublic;
}

/** Returns encryptedOtpBundle: a code and the public key of the session, encrypted to a target. */
export async function sealCode(targetPublic: string, code: string, session: Pick<SessionKey, "publicKey">): Promise<string> {
  const recipientPublicKey = await hpke.kem.deserializePublicKey(new Uint8Array(hex.decode(targetPublic)).buffer);
  const plain = utf8.encode(JSON.stringify({ otp_code: code, public_key: session.publicKey }));
  const { ct, enc } = await hpke.seal({ recipientPublicKey }, plain);
  return JSON.stringify({ encappedPublic: hex.encode(new Uint8Array(enc)), ciphertext: hex.encode(new Uint8Array(ct)) });
}

/**
 * Fails unless the challenge of a passkey is for this client: else it would open a session for
 * somebody else.
 */
export function checkChallenge(challenge: string, clientPublicKey: string): void {
  const bytes = base64urlnopad.decode(challenge);
  const hash = sha256(concatBytes(bytes.subarray(0, 32), utf8.encode(clientPublicKey)));
  if (hex.encode(hash) !== hex.encode(bytes.subarray(32))) throw new Error("the challenge is for another key");
}

/** Returns the nonce to request an ID token with. */
export function nonceFor(clientPublicKey: string): string {
  return hex.encode(sha256(utf8.encode(clientPublicKey)));
}

/**
 * Returns what the payload of a request says. It fails unless that is the request that the client
 * knows: its method, its path with the version, and its body, a text that is empty if there is none.
 */
export function readRequest(payload: string, known: KnownRequest): RequestPayload {
  const { body, ...said } = known;
  const bodySha256 = hex.encode(sha256(utf8.encode(body)));
  return read(payload, { type: "REQUEST", version: 1, ...said, bodySha256 }) as RequestPayload;
}

/** Returns what the payload of a payment says. It fails unless that has the values that the client knows. */
export function readPayment(payload: string, known: Record<string, unknown>): PaymentPayload {
  const said = read(payload, { type: "PAYMENT", ...known }) as PaymentPayload;
  const versions: number[] = [1, 2]; // 2 has a settlement: how the payment moves on its chain
  if (!versions.includes(said.version)) throw new Error(`the payload has the version ${said.version}, which is not known`);
  return said;
}

function read(payload: string, known: Record<string, unknown>): Record<string, unknown> {
  const said = parseJSON(payload) as Record<string, unknown>; // keeps all digits of the rate
  for (const [name, value] of Object.entries(known))
    if (JSON.stringify(said[name]) !== JSON.stringify(value))
      throw new Error(`the payload has ${name} ${JSON.stringify(said[name])} instead of ${JSON.stringify(value)}`);
  return said;
}

/** Returns the header Service-Wallet-Signature for a payloadToSign. */
export function sign(session: SessionKey, payload: string): string {
  return base64.encode(p256.sign(utf8.encode(payload), session.privateKey, { format: "der" }));
}

/** Returns the same header in its other form, which names the key. */
export function stamp(session: SessionKey, payload: string): string {
  const signature = hex.encode(p256.sign(utf8.encode(payload), session.privateKey, { format: "der" }));
  const fields = { publicKey: session.publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256", signature };
  return base64urlnopad.encode(utf8.encode(JSON.stringify(fields)));
}

/** Returns the words of a wallet and its key from encryptedWalletCredentials. */
export async function openExport(clientKey: Pick<ClientKey, "privateKey">, credentials: string): Promise<{ words: string } & SessionKey> {
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

/** Returns the key of a wallet from its words. */
export function walletKey(words: string): SessionKey {
  if (!validateMnemonic(words, wordlist)) throw new Error("the words have no valid checksum");
  const { privateKey, publicKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive("m/8797555'/0'/0'");
  return { privateKey: privateKey!, publicKey: hex.encode(publicKey!) }; // a seed has both
}

/** Returns the address of a wallet on its chain from its words, as other wallets show it (EIP-55). */
export function walletAddress(words: string): string {
  if (!validateMnemonic(words, wordlist)) throw new Error("the words have no valid checksum");
  const { publicKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive("m/44'/60'/0'/0/0");
  const digits = hex.encode(keccak_256(secp256k1.Point.fromBytes(publicKey!).toBytes(false).subarray(1)).subarray(12));
  const checksum = hex.encode(keccak_256(utf8.encode(digits)));
  return "0x" + [...digits].map((digit, i) => (parseInt(checksum[i]!, 16) >= 8 ? digit.toUpperCase() : digit)).join("");
}

/**
 * Returns the payload of a payment. It fails unless the owner of the wallet signed it: event is
 * that of type AUTHORIZED in the timeline, walletPublicKey the key of the wallet, compressed. It asks nobody.
 */
export function verifyPayment(event: AuthorizedEvent, walletPublicKey: string): PaymentPayload {
  const certificate = event.authorization?.sessionCertificate;
  if (!event.authorization || !certificate) throw new Error("nobody has signed the payment");
  const { accountId, payload, signature, signatureForm } = event.authorization;
  const statement = utf8.encode(certificate.statement);
  const certified = secp256k1.verify(hex.decode(certificate.signature), statement, hex.decode(walletPublicKey), { format: "der" });
  if (!certified) throw new Error("the key of the wallet did not sign the certificate of the session");

  const session = JSON.parse(certificate.statement);
  if (session.type !== "SESSION" || session.accountId !== accountId) throw new Error("the session is of another wallet");
  const at = new Date(event.at);
  if (at < new Date(session.createdAt) || at >= new Date(session.expiresAt)) throw new Error("the session was not active");

  const stamped = () => hex.decode(JSON.parse(text.decode(base64urlnopad.decode(signature))).signature);
  const der = signatureForm === "STAMP" ? stamped() : base64.decode(signature);
  const signed = p256.verify(der, utf8.encode(payload), hex.decode(session.publicKey), { format: "der", lowS: false });
  if (!signed) throw new Error("the key of the session did not sign the payload");
  return readPayment(payload, { accountId });
}
