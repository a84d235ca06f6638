package proposals_test

import (
	"strings"
	"testing"
	"time"

	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

func TestApprove_ChartKeepsBothPersons(t *testing.T) {
	t.Parallel()
	// Accounts are added and changed, and codes of the general ledger set, when another person approves it. An
	// operator needs no approval.
	e := newEnv(t)
	by := booksapp.Change{By: e.ana, Note: "New office"}
	added := func() books.AddedAccounts {
		t.Helper()
		accounts, err := e.Store.AddedAccounts(t.Context(), e.Platform.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		return accounts
	}
	wantChange := func(got books.AddedAccount, version int, name string, approval platform.Approval) {
		t.Helper()
		if got.Version != version || got.Name != name || got.By != e.ana || got.Note != by.Note || got.Approval != approval {
			t.Errorf("account %+v", got)
		}
	}
	made, err := e.books.AddAccount(t.Context(), e.Platform.ID, by, nil, books.AddedAccount{Path: "expense/rent", Name: "Rent"})
	if len(added()) != 0 {
		t.Error("a proposal has added an account")
	}
	p := approved(t, e, made, err)
	wantChange(added()["expense/rent"], 1, "Rent", platform.Approval{Proposal: p.ID, By: e.ben})

	name := "Office rent"
	made, err = e.books.ChangeAccount(t.Context(), e.Platform.ID, by, "expense/rent", booksapp.AccountChange{Name: &name})
	p = approved(t, e, made, err)
	wantChange(added()["expense/rent"], 2, name, platform.Approval{Proposal: p.ID, By: e.ben})

	lines := books.DefaultMapping().Lines()
	lines[0].Name = "Another name"
	mapped, err := e.books.SetGLMapping(t.Context(), e.Platform.ID, by, 0, lines)
	p = approved(t, e, mapped, err)
	set, err := e.Store.GLMapping(t.Context(), e.Platform.ID, time.Time{})
	if err != nil || set.Version != 1 || set.By != e.ana || set.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
		t.Errorf("mapping %+v, %v", set, err)
	}
	versions, err := e.Store.GLMappingVersions(t.Context(), e.Platform.ID, ports.VersionFilter{Limit: 10})
	if err != nil || len(versions.Versions) != 1 || versions.Versions[0].Approval != set.Approval {
		t.Errorf("versions %+v, %v", versions, err)
	}

	operator, err := e.books.AddAccount(t.Context(), e.Platform.ID, booksapp.Change{By: platform.Author{Actor: "ops"}}, nil,
		books.AddedAccount{Path: "expense/post", Name: "Postage"})
	if err != nil || operator.Proposal != nil || !added()["expense/post"].Approval.IsZero() {
		t.Errorf("by an operator: %+v, %v", operator, err)
	}
	e.checkLedger()
}

func TestApprove_OpeningBalancesKeepBothPersons(t *testing.T) {
	t.Parallel()
	// Opening balances, in two currencies, and their reversal are posted when another person approves them. What has
	// become impossible stays pending.
	e := newEnv(t)
	by := booksapp.Change{By: e.ana}
	file := "account,currency,debit,credit\nrails/WIRE,USD,7.00,\nequity/capital,USD,,7.00\nrails/SEPA,EUR,5.00,\nequity/capital,EUR,,5.00\n"
	in := func() booksapp.OpeningImport {
		return booksapp.OpeningImport{File: strings.NewReader(file), AsOf: e.Clock.Now().AddDate(0, -1, 0).Truncate(24 * time.Hour)}
	}
	made, err := e.books.ImportOpeningBalances(t.Context(), e.Platform.ID, by, nil, in())
	again, againErr := e.books.ImportOpeningBalances(t.Context(), e.Platform.ID, by, nil, in())
	p := approved(t, e, made, err)
	if againErr != nil {
		t.Fatal(againErr)
	}
	if _, err := e.approve(e.ben, again.Proposal.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("imported twice: %v", err)
	}
	ids := strings.Split(p.Result, ", ")
	if len(ids) != 2 {
		t.Fatalf("made %q", p.Result)
	}
	for _, id := range ids {
		a, found, err := e.Store.Authorisation(t.Context(), e.Platform.ID, mustPosting(t, id))
		if err != nil || !found || a.By != e.ana || a.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
			t.Errorf("authorised %+v, %v", a, err)
		}
	}

	reversed, err := e.books.ReverseOpeningBalances(t.Context(), e.Platform.ID, by, nil, money.USD)
	p = approved(t, e, reversed, err)

	a, found, err := e.Store.Authorisation(t.Context(), e.Platform.ID, mustPosting(t, p.Result))
	if err != nil || !found || a.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
		t.Errorf("reversal authorised %+v, %v", a, err)
	}
	e.checkLedger()
}
