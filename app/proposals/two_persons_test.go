package proposals_test

import (
	"testing"

	"causeway/adapters/pgembed/pgtest"
	booksapp "causeway/app/books"
	"causeway/app/reconciliation"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ledger"
)

// inProduction makes the platform one of production whose settings ask for no four eyes.
func (e *env) inProduction() {
	e.t.Helper()
	pgtest.ExecAsSuperuser(e.t, e.URL, "UPDATE platforms SET environment = 'PRODUCTION'")
	operator := booksapp.Change{By: platform.Author{Actor: "ops"}}
	if _, err := e.books.EditSettings(e.t.Context(), e.Platform.ID, operator, func(s books.Settings) (books.Settings, error) {
		s.FourEyes = nil
		return s, nil
	}); err != nil {
		e.t.Fatal(err)
	}
}

func TestAdjust_HeldMoneyOfProductionNeedsTwoPersons(t *testing.T) {
	t.Parallel()
	// Whatever the settings say, an adjustment of what is held at a partner, or of funding, waits for another person on a
	// production platform; any other one is posted at once.
	e := newEnv(t)
	e.inProduction()
	for _, entry := range []ledger.Entry{
		{Debit: ledger.Rail("WIRE"), Credit: ledger.IncomeFees, Currency: money.USD, Amount: 9_000_00},
		{Debit: ledger.ExpenseRails, Credit: ledger.Chain("SOLANA"), Currency: money.USDC, Amount: 5},
		{Debit: ledger.FundingUnmatched, Credit: ledger.IncomeFees, Currency: money.USD, Amount: 5},
	} {
		p := e.propose(period.Adjustment{Note: "By hand", Entries: []ledger.Entry{entry}})
		if _, err := e.approve(e.ana, p.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("%v: %v", entry, err)
		}
	}
	done, err := e.approve(e.ben, e.propose(adjustment(700)).ID)
	if err != nil || done.DecidedBy != e.ben || e.fees() != "700" {
		t.Errorf("%+v, %v, fees %s", done, err, e.fees())
	}
	own := period.Adjustment{Note: "Interest", Entries: []ledger.Entry{{Debit: ledger.Own("OPERATING"), Credit: ledger.IncomeFees,
		Currency: money.USD, Amount: 5}}}
	if made, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.ana, nil, own); err != nil || made.Proposal != nil {
		t.Errorf("%+v, %v", made, err)
	}
	e.checkLedger()
}

func TestResolve_CorrectionOfProductionNeedsTwoPersons(t *testing.T) {
	t.Parallel()
	// A correction of a break changes what is held at a partner too: an operator's waits for another person. A note alone
	// posts nothing, and is kept at once.
	e := newEnv(t)
	e.inProduction()
	found := []ident.Break{e.importBreak("A1").ID, e.importBreak("B2").ID}
	signedIn := e.NewPerson(person.Finance)
	operator := platform.Author{Actor: signedIn.Email, Person: signedIn.ID}
	resolve := func(r reconcile.ResolveCommand) reconciliation.ResolveRequest {
		return reconciliation.ResolveRequest{Platform: e.Platform.ID, Break: found[0], By: operator, ResolveCommand: r}
	}

	made, err := e.statements.ResolveAlone(t.Context(), resolve(reconcile.ResolveCommand{Note: "A fee", Offset: reconcile.OffsetExpense}))

	if err != nil || made.Proposal == nil || e.fees() != "0" {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := e.approve(operator, made.Proposal.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("the same person: %v", err)
	}
	if _, err := e.approve(platform.Author{Actor: e.NewPerson(person.Finance).Email}, made.Proposal.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("the address of another person: %v", err)
	}
	another := e.NewPerson(person.Finance)
	if _, err := e.approve(platform.Author{Actor: another.Email, Person: another.ID}, made.Proposal.ID); err != nil || e.fees() == "0" {
		t.Errorf("%v, fees %s", err, e.fees())
	}
	found = found[1:]
	if made, err := e.statements.ResolveAlone(t.Context(), resolve(reconcile.ResolveCommand{Note: "Known"})); err != nil ||
		made.Proposal != nil {
		t.Errorf("%+v, %v", made, err)
	}
}
