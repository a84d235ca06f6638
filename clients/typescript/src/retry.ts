/** What decides whether a request is sent again. */
export interface Response {
  status: number;
  code: string;
  headers: Headers;
}

/**
 * Reports whether the same request may succeed later. The service says so in x-should-retry; a proxy in front of it does
 * not.
 */
export function isRetryable({ status, code, headers }: Response): boolean {
  const said = headers.get("x-should-retry");
  if (said === "true" || said === "false") return said === "true";
  return status === 429 || (status === 409 && code === "IDEMPOTENCY_KEY_IN_USE") || (status >= 500 && status !== 501);
}

/**
 * Returns how many milliseconds to wait before a retry, the first of which is 0. The delay doubles from half a second to
 * eight, less up to a half at random, so that clients do not come back at the same time. It is never shorter than
 * Retry-After.
 */
export function retryDelay(retry: number, headers: Headers | undefined, random = Math.random()): number {
  const backoff = Math.min(500 * 2 ** retry, 8000) * (1 - random / 2);
  const seconds = Number(headers?.get("retry-after") ?? 0);
  return Math.max(backoff, Number.isFinite(seconds) ? seconds * 1000 : 0);
}
