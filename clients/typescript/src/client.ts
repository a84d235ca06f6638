import createClient, { type Client, type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";
import { CausewayError, ConnectionError, type FieldError } from "./errors.js";
import { unkeyed } from "./generated/names.js";
import type { paths } from "./generated/schema.js";
import { parseJSON } from "./json.js";
import { isRetryable, retryDelay } from "./retry.js";

/** Whom the client calls, as whom, and for how long. */
export type Options = {
  /** URL of the API with its version, such as https://pay.example.com/2025-10-13. */
  baseUrl: string;
  /** How often a request is sent again, 3 times unless set. */
  maxRetries?: number;
  /** How long one attempt may take, 30 seconds unless set. */
  timeoutMs?: number;
  /** How long a call may take with all its attempts, 60 seconds unless set. */
  deadlineMs?: number;
  /** Used in place of the global fetch. */
  fetch?: (request: Request, init: { signal: AbortSignal }) => Promise<Response>;
} & Credentials;

/** A token of a platform, or the access token of an agent. Neither belongs into a page or an app. */
export type Credentials =
  | { clientId: string; clientSecret: string; accessToken?: never }
  | { accessToken: string; clientId?: never; clientSecret?: never };

type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<paths[Path], Extract<Method, keyof paths[Path]>>;
type Arguments<I> = RequiredKeysOf<I> extends never ? [init?: I] : [init: I];
type Data<Operation, I> = Operation extends Record<string | number, any>
  ? FetchResponse<Operation, I, "application/json">["data"] extends infer D
    ? [Exclude<D, undefined>] extends [never] ? undefined : Exclude<D, undefined>
    : never
  : never;
type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>, I extends Init<Path, Method>>(
  path: Path,
  ...init: Arguments<I>
) => Promise<Data<paths[Path][Extract<Method, keyof paths[Path]>], I>>;

type Page = { data?: unknown[]; nextCursor?: string };
type GetData<Path extends keyof paths> = Data<paths[Path][Extract<"get", keyof paths[Path]>], {}>;
type GetPath = PathsWithMethod<paths, "get">;
type ListPath = { [Path in GetPath]: GetData<Path> extends { data: unknown[] } ? Path : never }[GetPath];
type Item<Path extends keyof paths> = GetData<Path> extends { data: (infer Item)[] } ? Item : never;

/**
 * Calls the API. The methods take the paths, parameters and bodies of its reference, and return the body of the response.
 *
 * Every POST has an idempotency key of its own, unless you pass one. A request whose response was lost is sent again if
 * that is safe: a GET, and a POST with the same key. All requests are sent again if the service asks for it.
 *
 * A call fails with a CausewayError if the service refuses it, with a ConnectionError if no response arrived, and with
 * the reason of your own signal.
 */
export class Causeway {
  readonly #client: Client<paths>;
  readonly #fetch: NonNullable<Options["fetch"]>;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #deadlineMs: number;

  constructor(options: Options) {
    this.#fetch = options.fetch ?? ((request, init) => fetch(request, init));
    this.#maxRetries = options.maxRetries ?? 3;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#deadlineMs = options.deadlineMs ?? 60_000;
    this.#client = createClient<paths>({
      baseUrl: options.baseUrl,
      headers: { Authorization: authorization(options) },
      bodySerializer,
      fetch: (request) => this.#send(request),
    });
  }

  readonly get: Call<"get"> = (path, ...init) => this.#call("get", path, init[0]);
  readonly put: Call<"put"> = (path, ...init) => this.#call("put", path, init[0]);
  readonly patch: Call<"patch"> = (path, ...init) => this.#call("patch", path, init[0]);
  readonly delete: Call<"delete"> = (path, ...init) => this.#call("delete", path, init[0]);
  readonly post: Call<"post"> = (path, ...init) => this.#call("post", path, init[0]);

  /** Returns all items of a list, page by page as they are needed. */
  async *list<Path extends ListPath, I extends Init<Path, "get">>(path: Path, ...init: Arguments<I>): AsyncGenerator<Item<Path>, void> {
    const first = init[0] as { params?: { query?: object } } | undefined;
    for (let cursor: string | undefined; ; ) {
      const query = { ...first?.params?.query, ...(cursor !== undefined && { cursor }) };
      const page: Page = await this.#call("get", path, { ...first, params: { ...first?.params, query } });
      yield* page.data as Item<Path>[];
      if (page.nextCursor === undefined || page.nextCursor === cursor) return;
      cursor = page.nextCursor;
    }
  }

  async #call(method: HttpMethod, path: keyof paths, init: any): Promise<any> {
    const headers = {
      ...(method === "post" && !unkeyed.has(path) && { "Idempotency-Key": crypto.randomUUID() }),
      ...(init?.body instanceof Blob && { "Content-Type": init.body.type }),
      ...init?.headers,
    };
    const asText = init?.parseAs === undefined || init.parseAs === "json";
    const call: any = this.#client.request;
    const { data } = await call(method, path, { ...init, headers, parseAs: asText ? "text" : init.parseAs });
    return asText && data ? parseJSON(data) : data;
  }

  /** Sends a request until it has a response that is final, and fails unless that is a success. */
  async #send(request: Request): Promise<Response> {
    const key = request.headers.get("Idempotency-Key") ?? undefined;
    const name = `${request.method} ${new URL(request.url).pathname}`;
    const deadline = performance.now() + this.#deadlineMs;
    for (let retry = 0; ; retry++) {
      const attempt = new AbortController();
      const timer = setTimeout(() => attempt.abort(), Math.min(this.#timeoutMs, deadline - performance.now()));
      let failure: CausewayError | ConnectionError;
      let headers: Headers | undefined;
      let again: boolean;
      try {
        const response = await whole(await this.#fetch(request.clone(), { signal: AbortSignal.any([request.signal, attempt.signal]) }));
        if (response.ok) return response;
        const refused = refusal(name, key, response, await response.text());
        failure = refused;
        headers = response.headers;
        again = refused.retryable;
      } catch (cause) {
        request.signal.throwIfAborted();
        const problem = attempt.signal.aborted ? "no response in time" : cause instanceof Error ? cause.message : String(cause);
        failure = new ConnectionError(`${name}: ${problem}`, name, key, { cause });
        again = request.method === "GET" || key !== undefined;
      } finally {
        clearTimeout(timer); // a file may take longer to read
      }
      const delay = retryDelay(retry, headers);
      if (!again || retry >= this.#maxRetries || performance.now() + delay >= deadline) throw failure;
      await sleep(delay, request.signal);
    }
  }
}

function authorization(credentials: Credentials): string {
  if (credentials.accessToken !== undefined) return `Bearer ${credentials.accessToken}`;
  const text = new TextEncoder().encode(`${credentials.clientId}:${credentials.clientSecret}`);
  return `Basic ${btoa(String.fromCharCode(...text))}`;
}

/** Makes a form of a body that contains a file, and JSON of others. A file alone is sent as it is, with its own type. */
function bodySerializer(body: unknown): BodyInit {
  if (body instanceof FormData || body instanceof Blob || typeof body === "string") return body;
  const fields = Object.entries(body as object).filter(([, value]) => value !== undefined);
  if (!fields.some(([, value]) => value instanceof Blob)) return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

/** Reads a JSON response to its end, so that a connection which breaks meanwhile counts as one without a response. */
async function whole(response: Response): Promise<Response> {
  if (response.ok && !response.headers.get("Content-Type")?.startsWith("application/json")) return response;
  const body = await response.arrayBuffer();
  return new Response(body.byteLength > 0 ? body : null, { status: response.status, headers: response.headers });
}

function refusal(request: string, key: string | undefined, response: Response, text: string): CausewayError {
  let body: { code?: string; message?: string; reason?: string; details?: Record<string, unknown> } = {};
  try {
    body = Object(parseJSON(text));
  } catch {
    // A proxy in front of the service answers in other formats.
  }
  const { code = "UNKNOWN", message = text.slice(0, 500), reason, details = {} } = body;
  const retryable = isRetryable({ status: response.status, code, headers: response.headers });
  const requestId = response.headers.get("Request-Id") ?? undefined;
  const fields = (details.errors ?? []) as FieldError[];
  return new CausewayError(request, key, response.status, code, message, reason, fields, details, requestId, retryable);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal.removeEventListener("abort", stop), resolve()), ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
