import type { components } from "./generated/schema.js";

type Schemas = components["schemas"];

/** Codes of errors. Later versions of the service may add some. */
export type ErrorCode = {
  [Name in keyof Schemas]: Name extends `Error${number}` ? Extract<Schemas[Name], { code: string }>["code"] : never;
}[keyof Schemas];

/** A field of a request that is not valid. */
export type FieldError = Schemas["FieldError"];

/** A request without a result: see CausewayError and ConnectionError. */
export class RequestError extends Error {
  constructor(
    message: string,
    /** GET /quotes, for example. */
    readonly request: string,
    /** Send the same request with this key again to find out what became of it. */
    readonly idempotencyKey: string | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The service refused a request. */
export class CausewayError extends RequestError {
  constructor(
    request: string,
    idempotencyKey: string | undefined,
    /** HTTP status. */
    readonly status: number,
    /** For programs. UNKNOWN if a proxy answered in place of the service. */
    readonly code: ErrorCode | "UNKNOWN" | (string & {}),
    message: string,
    /** Which check failed, if the code covers several. */
    readonly reason: string | undefined,
    /** All fields of the request that are not valid. */
    readonly fields: readonly FieldError[],
    /** Further details, which depend on the code. */
    readonly details: Readonly<Record<string, unknown>>,
    /** Find the request in the logs of the service by this id. */
    readonly requestId: string | undefined,
    /** Whether the same request may succeed later. */
    readonly retryable: boolean,
  ) {
    super(`${request}: ${status} ${code}: ${message}`, request, idempotencyKey);
  }
}

/** No response arrived, or not all of it. The request may have been carried out. */
export class ConnectionError extends RequestError {}
