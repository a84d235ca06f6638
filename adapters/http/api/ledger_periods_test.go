package api_test

import (
	"slices"
	"testing"

	"causeway/adapters/http/api"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/core/platform"
	"causeway/ports/portstest"
)

func newPeriodsClient(t *testing.T) *client {
	t.Helper()
	return newTestServer(t, pgtest.New(t), func(d *api.Deps, store *postgres.DB) {
		d.Periods = accounting.NewPeriods(accounting.PeriodsConfig{
			Store: store, Ledger: store.LedgerReader(), Finance: store.Finance(),
			Clock: portstest.NewFakeClock(noon), IDs: idGenerator})
	}).createPlatform(t, platform.Sandbox)
}

func TestCreateAdjustment_ListsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// All invalid fields are listed by path, and the month must be valid.
	c := newPeriodsClient(t)
	a := c.must(400, "POST", "/ledger/adjustments", `{"note": "x", "effectiveAt": "soon", "entries": [
		{"debit": "rails/WIRE", "credit": "expense/rails", "currency": "USD", "amount": 1},
		{"debit": "no/where", "credit": "customers/InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", "currency": "XXX", "amount": 0}]}`)
	got := a.invalidFields()
	slices.Sort(got)
	if want := []string{"effectiveAt", "entries[1].amount", "entries[1].credit", "entries[1].currency", "entries[1].debit"}; !slices.Equal(got,
		want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, month := range []string{"2026-13", "1999-12", "2026", "2026-1", "october"} {
		if a := c.must(400, "GET", "/ledger/periods/"+month, ""); a.stringAt("code") != "INVALID_INPUT" {
			t.Errorf("%s: %s", month, a.rawBody)
		}
	}
	c.must(400, "GET", "/ledger/periods/2026-01?cursor=xx", "")
}

func TestPeriods_Permissions(t *testing.T) {
	t.Parallel()
	// VIEW reads periods, MANAGE changes them, and neither does the other.
	c := newPeriodsClient(t)
	viewer, manager := c.withPermissions(platform.View), c.withPermissions(platform.Manage, platform.Transact)
	for _, path := range []string{"/ledger/periods", "/ledger/periods/2026-01"} {
		viewer.must(200, "GET", path, "")
		manager.must(403, "GET", path, "")
	}
	adjust := `{"note": "x", "entries": [{"debit": "rails/WIRE", "credit": "expense/rails", "currency": "USD", "amount": 1}]}`
	for _, call := range [][3]string{{"/ledger/periods/2026-01/soft-close", ""}, {"/ledger/periods/2026-01/reopen", "{}"},
		{"/ledger/adjustments", adjust}} {
		viewer.must(403, "POST", call[0], call[1])
	}
	manager.must(409, "POST", "/ledger/periods/2026-01/soft-close", "")
	manager.must(200, "POST", "/ledger/periods/2026-01/soft-close", `{"confirmOpeningBalances": true}`)
	manager.must(200, "POST", "/ledger/periods/2026-01/close", `{"note": "done"}`)
	manager.must(409, "POST", "/ledger/periods/2026-01/reopen", "")
	manager.must(201, "POST", "/ledger/adjustments", adjust)
}

func TestGetPosting_AdjustmentHasAuthorisation(t *testing.T) {
	t.Parallel()
	// The posting of an adjustment has its authorisation, and its memo the corrected
	// posting; the posting of a payment has no authorisation.
	a := newAuditor(t)
	wrong := a.postDeposits(1)[0]
	adjustment := a.must(201, "POST", "/ledger/adjustments", `{"note": "charged twice", "corrects": "Posting:`+wrong+`", "entries": [
		{"debit": "expense/rails", "credit": "rails/ACH", "currency": "USD", "amount": 100}]}`)

	memo := "charged twice (corrects Posting:" + wrong + ")"
	a.must(200, "GET", "/ledger/postings/"+adjustment.stringAt("postingId"), "").assertBody(t,
		`{"id": "*", "number": 2, "kind": "adjustment", "effectiveAt": "2026-03-14T12:00:00.000Z", "recordedAt": "*",
		"memo": "`+memo+`", "entries": [{"debit": "expense/rails", "credit": "rails/ACH", "currency": "USD", "amount": 100}],
		"authorisation": {"tokenId": "`+adjustment.stringAt("tokenId")+`", "note": "charged twice", "authorisedAt": "2026-03-14T12:00:00.000Z"}}`)
	if got := a.must(200, "GET", "/ledger/postings/Posting:"+wrong, ""); got.stringAt("authorisation") != "" {
		t.Errorf("a payment has an authorisation: %s", got.rawBody)
	}
}
