package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
)

func TestLedgerProposals_ApprovedByAnotherOperator(t *testing.T) {
	t.Parallel()
	// An operator lists and shows proposals, and approves or rejects those of somebody else, once.
	url := seededDatabase(t)
	first, second := addProposal(t, url, 1), addProposal(t, url, 2)

	if out, errOut, status := runLedger(t, url, "proposals list --status PENDING --action ADJUSTMENT"); status != 0 ||
		strings.Count(out, "PENDING") != 2 || !strings.Contains(out, "operator ana") {
		t.Errorf("listed: status %d, %s%s", status, errOut, out)
	}
	if out, errOut, status := runLedger(t, url, "proposals show "+first); status != 0 || !strings.Contains(out, `"note": "A fee"`) ||
		!strings.Contains(out, "createLedgerAdjustment") {
		t.Errorf("shown: status %d, %s%s", status, errOut, out)
	}
	if out, errOut, status := runLedger(t, url, "proposals approve "+first+" --actor Ana"); status != 1 ||
		!strings.Contains(errOut, "another person") || out != "" {
		t.Errorf("approved by the proposer: status %d, %s%s", status, errOut, out)
	}
	if out, errOut, status := runLedger(t, url, "proposals approve "+first+" --actor ben"); status != 0 ||
		!strings.Contains(out, "EXECUTED") || !strings.Contains(out, "operator ben") || !strings.Contains(out, "Posting:") {
		t.Errorf("approved: status %d, %s%s", status, errOut, out)
	}
	if _, errOut, status := runLedger(t, url, "proposals approve "+first+" --actor cem"); status != 1 ||
		!strings.Contains(errOut, "already EXECUTED") {
		t.Errorf("approved again: status %d, %s", status, errOut)
	}
	if out, errOut, status := runLedger(t, url, "proposals reject "+second+" --actor ben --note Refunded"); status != 0 ||
		!strings.Contains(out, "REJECTED") || !strings.Contains(out, "Refunded") {
		t.Errorf("rejected: status %d, %s%s", status, errOut, out)
	}
	if out, errOut, status := runLedger(t, url, "proposals list --status PENDING"); status != 0 || out != "There are no such proposals.\n" {
		t.Errorf("listed at the end: status %d, %s%s", status, errOut, out)
	}
	if out, errOut, status := runLedger(t, url, "check"); status != 0 {
		t.Errorf("check: status %d, %s%s", status, errOut, out)
	}
}

func TestLedgerProposals_WrongArguments(t *testing.T) {
	t.Parallel()
	// Wrong arguments are named before the database is opened.
	for args, want := range map[string]string{
		"proposals list --limit 0":        "--limit",
		"proposals list --action PAYMENT": "ADJUSTMENT",
		"proposals show 7":                "ledger proposals list",
		"proposals approve 7":             "ledger proposals list",
	} {
		if _, errOut, status := runLedger(t, "postgres://127.0.0.1:1/none", args); status != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %s", args, status, errOut)
		}
	}
}

// addProposal stores a proposed adjustment of the operator ana and returns its id.
func addProposal(t *testing.T, url string, n byte) string {
	t.Helper()
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2})
	var id ident.Proposal
	id.SetUUID(uuid.UUID{15: n})
	request := `{"entries": [{"debit": "expense/rails", "credit": "rails/RTP", "currency": "USD", "amount": 5}], "note": "A fee"}`
	p := proposal.New(id, must(ident.ParsePlatform(fakePlatform)), books.ActionAdjustment, "createLedgerAdjustment", []byte(request),
		platform.Author{Actor: "ana"}, proposal.People{}, systemClock{}.Now())
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateProposal(ctx, p) }); err != nil {
		t.Fatal(err)
	}
	return id.String()
}
