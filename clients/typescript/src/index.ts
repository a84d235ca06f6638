export { Causeway, type Credentials, type Options } from "./client.js";
export { CausewayError, ConnectionError, RequestError, type ErrorCode, type FieldError } from "./errors.js";
export type { components, operations, paths, webhooks } from "./generated/schema.js";
export { WebhookVerificationError, WebhookVerifier } from "./webhooks.js";
export type { VerifierOptions, WebhookEvent, WebhookHeaders, WebhookKey } from "./webhooks.js";
