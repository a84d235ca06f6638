// Package httpapi is the front door: it turns HTTP requests into typed calls and
// their outcomes into HTTP answers, the same way for every operation.
//
// An operation is a typed function registered with its description (Get, Post,
// Patch, Put, Delete). From its types come validation, the error body and the
// published OpenAPI document, so they cannot drift apart. Around every operation
// stand, in this order: request id, routing, authentication, rate limit,
// permission, body limit, idempotency, validation.
//
// The package translates; it decides nothing about money, keeps no state that
// matters, and never lets the text of an error of our own reach a caller. It
// never logs bodies, secrets or names.
package httpapi
