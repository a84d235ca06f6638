// Package e2e tests the real program as a platform and an operator use it: over HTTP, with its
// commands and with signals, on a real Postgres and with a real webhook receiver. It depends
// on the published interface and, for the ledger, on its tables, and on nothing else of the
// code.
//
// TestExamples also writes the examples of the published description. How to add one is
// described at the top of examples_test.go.
package e2e
