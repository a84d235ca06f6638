// Package audittest checks the ledger of a test's environment. It is for tests only.
package audittest

import (
	"slices"
	"testing"

	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/core/agent"
	"causeway/core/platform"
	"causeway/ports"
)

// Signatures verify the signatures of wallets; in the sandbox, a test value is one.
var Signatures = ports.WalletProofsByEnvironment{platform.Sandbox: apptest.Signatures{TestValue: "sandbox-valid-signature"}}

// New returns a checker of the ledger of an environment, from which nothing was deleted for a month.
func New(e *apptest.Env) *audit.Checker {
	monthAgo := e.Clock.Now().AddDate(0, -1, 0)
	return audit.NewChecker(e.Store, Signatures, audit.Since{Counters: agent.DayOf(monthAgo), Replies: monthAgo})
}

// Check checks every rule. Findings of some are left out: of a test whose postings belong to nothing.
func Check(t testing.TB, e *apptest.Env, except ...audit.Rule) audit.Report {
	t.Helper()
	report, err := New(e).Check(ports.ForAllPlatforms(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f audit.Finding) bool { return slices.Contains(except, f.Rule) })
	return report
}
