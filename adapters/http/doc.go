// Package httpapi implements the HTTP server: it turns requests into typed calls and
// their results into responses, in the same way for every operation.
//
// An operation is a typed function registered with its description (Get, Post,
// Patch, Delete). From its types come validation, the error body and the
// published OpenAPI document, so they always agree. Every request passes, in this
// order: request id, routing, authentication, rate limit, permission, body limit,
// idempotency, validation.
//
// The package only translates: it decides nothing about money and keeps no lasting
// state. It never sends the text of an internal error to a caller, and never logs
// bodies, secrets or names.
package httpapi
