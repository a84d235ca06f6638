import type { components } from "./generated/schema.js";
import { parseJSON } from "./json.js";

/** What the service sends to your endpoint. Its type, and event, tell which. */
export type WebhookEvent = components["schemas"]["WebhookEvent"];

/** A key of GET /webhook-keys. */
export type WebhookKey = components["schemas"]["WebhookKey"];

/** A webhook that is not to be trusted: answer with 401. */
export class WebhookVerificationError extends Error {
  override name = "WebhookVerificationError";
}

/** How webhooks are verified: with your secrets, or with the public keys of the service. */
export type VerifierOptions = {
  /** How far webhook-timestamp may be from now, 300 seconds unless set. An older webhook may be a copy sent by somebody else. */
  toleranceSeconds?: number;
  /** The time in milliseconds, in place of Date.now. */
  now?: () => number;
} & (
  | { /** From POST /webhook-secrets: one, or two during a rotation. */ secrets: string[]; keys?: never }
  | { /** Reads the keys: () => causeway.list("/webhook-keys"). */ keys: () => AsyncIterable<WebhookKey>; secrets?: never }
);

/** Headers of a request: those of fetch, or of node:http. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** At most once in this time keys are read again for a signature that fits none: others can send those at will. */
const keysMaxAgeMs = 60_000;

/** Verifies webhooks. Make one, and use it for all. */
export class WebhookVerifier {
  readonly #options: VerifierOptions;
  readonly #secrets: Promise<Verify[]> | undefined;
  #keys: Promise<Keys> | undefined;
  #keysReadAt = 0;

  constructor(options: VerifierOptions) {
    this.#options = options;
    this.#secrets = options.secrets && Promise.all(options.secrets.map(hmac));
    this.#secrets?.catch(() => {}); // reported by verify
  }

  /**
   * Returns the event of a webhook, and fails with a WebhookVerificationError unless it is genuine. body is exactly what was
   * received: parsing and writing it again changes it. The same event can arrive more than once; ignore a webhookId that
   * you have processed.
   *
   * With secrets, one of the signatures v1 must be by one of them. With keys, a signature v1a or else that of
   * Service-Webhook-Signature must be by one of them; the latter does not cover the timestamp, so that only webhookId shows a copy.
   */
  async verify(body: string | Uint8Array, headers: WebhookHeaders): Promise<WebhookEvent> {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const read = (name: string) => header(headers, name);
    const now = (this.#options.now ?? Date.now)();
    const standard = { v1: [] as Uint8Array[], v1a: [] as Uint8Array[] };
    for (const one of read("webhook-signature").split(" ")) {
      const [version, signature = ""] = one.split(",", 2);
      if (version === "v1" || version === "v1a") standard[version].push(decode(signature));
    }
    const timestamp = read("webhook-timestamp");
    const isCurrent = () => {
      const difference = Math.abs(now / 1000 - Number(timestamp || NaN));
      if (!(difference <= (this.#options.toleranceSeconds ?? 300)))
        throw new WebhookVerificationError(`webhook-timestamp ${JSON.stringify(timestamp)} is not the current time`);
    };
    const signed = concat(new TextEncoder().encode(`${read("webhook-id")}.${timestamp}.`), bytes);

    if (this.#secrets) {
      if (!(await matches(await this.#secrets, standard.v1, signed)))
        throw new WebhookVerificationError("no signature v1 in webhook-signature is by one of your secrets");
      isCurrent();
      return event(bytes, read("webhook-id"));
    }
    const service = serviceSignature(read("service-webhook-signature"));
    const isByKey = async ({ ed25519, ecdsa }: Keys) =>
      standard.v1a.length > 0 ? matches(ed25519, standard.v1a, signed) : matches(ecdsa, service, bytes);
    if (!(await isByKey(await this.#readKeys(now, false))) && !(await isByKey(await this.#readKeys(now, true))))
      throw new WebhookVerificationError("no signature is by one of the published keys");
    if (standard.v1a.length === 0) return event(bytes, undefined);
    isCurrent();
    return event(bytes, read("webhook-id"));
  }

  #readKeys(now: number, again: boolean): Promise<Keys> {
    if (this.#keys === undefined || (again && now - this.#keysReadAt >= keysMaxAgeMs)) {
      this.#keysReadAt = now;
      const before = this.#keys;
      this.#keys = importKeys(this.#options.keys!()).catch((error) => {
        this.#keys = before;
        throw error;
      });
    }
    return this.#keys;
  }
}

type Verify = (signature: Uint8Array, data: Uint8Array) => Promise<boolean>;
type Keys = { ed25519: Verify[]; ecdsa: Verify[] };

async function matches(keys: Verify[], signatures: Uint8Array[], data: Uint8Array): Promise<boolean> {
  for (const signature of signatures) for (const verify of keys) if (await verify(signature, data)) return true;
  return false;
}

async function hmac(secret: string): Promise<Verify> {
  const raw = decode(secret.replace(/^whsec_/, ""));
  if (raw.length === 0) throw new Error("a webhook secret must be whsec_ and base64");
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  return (signature, data) => crypto.subtle.verify("HMAC", key, source(signature), source(data));
}

async function importKeys(published: AsyncIterable<WebhookKey>): Promise<Keys> {
  const keys: Keys = { ed25519: [], ecdsa: [] };
  for await (const { algorithm, publicKey } of published) {
    const der = decode(publicKey.replace(/-----[^-]+-----|\s/g, ""));
    if (algorithm === "ED25519") {
      const key = await crypto.subtle.importKey("spki", der, "Ed25519", false, ["verify"]);
      keys.ed25519.push((signature, data) => crypto.subtle.verify("Ed25519", key, source(signature), source(data)));
    } else if (algorithm === "ECDSA_P256_SHA256") {
      const key = await crypto.subtle.importKey("spki", der, { name: "ECDSA", namedCurve: "P-256" }, false, ["verify"]);
      keys.ecdsa.push(async (signature, data) => {
        const raw = fromDER(signature);
        return raw !== undefined && crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, raw, source(data));
      });
    }
  }
  return keys;
}

/** Returns the signatures of a header {"v":"1","s":"<base64>"}. */
function serviceSignature(text: string): Uint8Array[] {
  try {
    const { v, s } = Object(JSON.parse(text));
    return v === "1" && typeof s === "string" ? [decode(s)] : [];
  } catch {
    return [];
  }
}

/** Returns r and s, 32 bytes each, of SEQUENCE { INTEGER r, INTEGER s }: WebCrypto takes no DER. */
function fromDER(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const raw = new Uint8Array(64);
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  let at = 2;
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0;
    if (der[at] !== 0x02 || at + 2 + length > der.length) return undefined;
    let number = der.subarray(at + 2, at + 2 + length);
    if (number[0] === 0) number = number.subarray(1);
    if (number.length > 32) return undefined;
    raw.set(number, end - number.length);
    at += 2 + length;
  }
  return at === der.length ? raw : undefined;
}

function event(body: Uint8Array, id: string | undefined): WebhookEvent {
  const parsed = parseJSON(new TextDecoder().decode(body)) as WebhookEvent;
  if (id !== undefined && parsed.webhookId !== id) throw new WebhookVerificationError("webhook-id is not the webhookId of the body");
  return parsed;
}

function header(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  for (const [key, value] of Object.entries(headers)) if (key.toLowerCase() === name) return [value ?? []].flat().join(" ");
  return "";
}

/** Decodes base64, to nothing if it is none. */
function decode(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** WebCrypto takes no shared memory, which the types of arrays may be of. */
const source = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);
