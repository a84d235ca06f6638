// Package e2e drives the real program as a platform and an operator do: over HTTP,
// by its commands and by signals, with a real Postgres and a real receiver of
// webhooks. It holds tests alone, and knows nothing of the code it tests but what
// the published interface says and, for the books, the tables of the ledger.
//
// TestExamples also writes: the examples in the published description are what it
// recorded. How to show a new operation stands at the top of examples_test.go.
package e2e
