package rails_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/rails"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// twoPersons is an environment whose platform lists CONNECTION, with an operator who proposes and a person of finance who approves.
type twoPersons struct {
	*env
	operator rails.Author
	finance  platform.Author
}

func newTwoPersons(t *testing.T) twoPersons {
	e := newEnv(t, apptest.EditPlatform(func(p *platform.Platform) { p.Environment = platform.Production }))
	e.RequireFourEyes(e.Platform, books.ActionConnection)
	operator, finance := e.NewPerson(person.Operator), e.NewPerson(person.Finance)
	return twoPersons{e, rails.Author{Actor: operator.Email, Person: operator.ID, Note: "new bank"},
		platform.Author{Actor: finance.Email, Person: finance.ID}}
}

func (e twoPersons) propose(t *testing.T, file string) ident.Proposal {
	t.Helper()
	made, checked, err := e.Set(t.Context(), "bank-eur", []byte(file), e.operator, false)
	if err != nil || made.Proposal == nil || len(checked) == 0 {
		t.Fatalf("%+v, %q, %v", made, checked, err)
	}
	return made.Proposal.ID
}

func (e twoPersons) approve(t *testing.T, id ident.Proposal) {
	t.Helper()
	if approved, _, err := e.Approve(t.Context(), e.finance, id); err != nil || approved.Status != proposal.Executed {
		t.Fatalf("%+v, %v", approved, err)
	}
}

func TestChanges_EachNeedsASecondPerson(t *testing.T) {
	t.Parallel()
	// Setting, retiring and deleting a connection, and setting its balance, change nothing before another person approves. Each
	// names both, and the ledger check finds them paired.
	e := newTwoPersons(t)
	set := e.propose(t, bankFile)
	if history, err := e.Connections.RailConnectionHistory(t.Context(), "bank-eur"); err != nil || len(history) != 0 {
		t.Errorf("before the approval %+v, %v", history, err)
	}
	itself := platform.Author{Actor: e.operator.Actor, Person: e.operator.Person}
	if _, _, err := e.Approve(t.Context(), itself, set); !fault.Is(err, fault.Conflict) {
		t.Errorf("approved alone: %v", err)
	}
	e.approve(t, set)
	v := e.inForce(t, "bank-eur")
	if v.Version != 1 || v.Untested || v.By != e.operator.Actor || v.Person != e.operator.Person || v.Note != "new bank" ||
		v.Approval.Proposal != set || v.Approval.By.Actor != e.finance.Actor {
		t.Errorf("in force is %+v", v)
	}

	balance, err := e.SetBalance(t.Context(), "bank-eur", money.Amount{Minor: 0, Currency: "EUR"}, e.operator)
	if shown, showErr := e.Show(t.Context(), "bank-eur"); err != nil || balance == nil || showErr != nil || len(shown.Accounts) != 0 {
		t.Fatalf("the balance: %+v, %v; %+v, %v", balance, err, shown, showErr)
	}
	e.approve(t, balance.ID)
	if shown, err := e.Show(t.Context(), "bank-eur"); err != nil || len(shown.Accounts) != 1 {
		t.Errorf("with a balance: %+v, %v", shown, err)
	}
	retired, err := e.Retire(t.Context(), "bank-eur", e.operator)
	if err != nil || retired.Proposal == nil || e.inForce(t, "bank-eur").Retired {
		t.Fatalf("%+v, %v", retired, err)
	}
	e.approve(t, retired.Proposal.ID)
	if !e.inForce(t, "bank-eur").Retired {
		t.Error("it is not retired")
	}
	if found := audittest.Check(t, e.Env).Findings; len(found) != 0 {
		t.Errorf("findings %v", found)
	}
	e.WantChanges(platform.OperatorRetiredConnection, e.finance.Actor+": state open → retired")
	e.WantChanges(platform.OperatorSetBalance, e.finance.Actor+": balance  → 0.00 EUR")
	if got := e.QueryStrings(`SELECT DISTINCT actor || ' ' || subject FROM operator_actions WHERE action = 'PROPOSE_CONNECTION'`); len(got) != 1 ||
		got[0] != e.operator.Actor+" bank-eur" {
		t.Errorf("proposed: %q", got)
	}
	if set := e.QueryStrings(`SELECT actor || ' ' || jsonb_path_exists(changes, '$[*] ? (@.field == "adapter" && @.after == "BANK_FILE")')
		FROM operator_actions WHERE action = 'SET_CONNECTION' AND subject = 'bank-eur'`); len(set) != 1 || set[0] != e.finance.Actor+" true" {
		t.Errorf("recorded %q", set)
	}

	if err := e.Exec("ALTER TABLE rail_connections DISABLE TRIGGER USER",
		"UPDATE rail_connections SET approver = 'mallory' WHERE version = 1"); err != nil {
		t.Fatal(err)
	}
	if found := audittest.Check(t, e.Env).Findings; len(found) != 1 || found[0].Rule != audit.RuleFourEyes {
		t.Errorf("with another approver: %v", found)
	}
}

func TestChanges_OnlyOfThePlatformsThatListThem(t *testing.T) {
	t.Parallel()
	// A connection for another platform is set alone; one that would then serve the platform, or no longer does, is not.
	e := newTwoPersons(t)
	other := e.NewPlatform(func(p *platform.Platform) { p.Environment = platform.Production })
	of := func(ids ...ident.Platform) string {
		var texts []string
		for _, id := range ids {
			texts = append(texts, `"`+id.String()+`"`)
		}
		return strings.Replace(bankFile, `"rails"`, `"platforms": [`+strings.Join(texts, ",")+`], "rails"`, 1)
	}
	if v := e.set(t, "bank-eur", of(other.ID)); v.Version != 1 {
		t.Errorf("of another platform: %+v", v)
	}
	e.approve(t, e.propose(t, of(other.ID, e.Platform.ID)))
	made, _, err := e.Set(t.Context(), "bank-eur", []byte(of(other.ID)), e.operator, false)
	if err != nil || made.Proposal == nil {
		t.Errorf("no longer: %+v, %v", made, err)
	}
}

func TestApprove_ConnectionChangedOrBroken(t *testing.T) {
	t.Parallel()
	// A proposal that a later change has overtaken, and one whose connection no longer works, stay pending with the reason.
	e := newTwoPersons(t)
	first, second := e.propose(t, bankFile), e.propose(t, elsewhere("/srv/new"))
	e.broken = errors.New("the folder is gone")
	if _, checked, err := e.Approve(t.Context(), e.finance, first); !fault.Is(err, fault.Conflict) || len(checked) != 0 {
		t.Errorf("broken: %q, %v", checked, err)
	}
	if p, err := e.Proposal(t.Context(), first); err != nil || p.Status != proposal.Pending || p.LastError == nil ||
		p.Connection != "bank-eur" {
		t.Errorf("stored %+v, %v", p, err)
	}
	e.broken = nil
	e.approve(t, first)
	if _, _, err := e.Approve(t.Context(), e.finance, second); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), "was changed after") {
		t.Errorf("overtaken: %v", err)
	}
	if rejected, err := e.Reject(t.Context(), e.finance, second, "old"); err != nil || rejected.Status != proposal.Rejected {
		t.Errorf("rejected: %+v, %v", rejected, err)
	}
	found, err := e.Proposals(t.Context(), ports.ProposalFilter{Paging: ports.Paging{Limit: 5}})
	if err != nil || len(found) != 2 || found[0].ID != second || found[1].Status != proposal.Executed {
		t.Errorf("listed %+v, %v", found, err)
	}
}

func TestApprove_TwiceAtOnce(t *testing.T) {
	t.Parallel()
	// Two persons approve at the same time: one version is stored.
	e := newTwoPersons(t)
	id := e.propose(t, bankFile)
	another := e.NewPerson(person.Administrator)
	var running sync.WaitGroup
	results := make(chan error, 2)
	for _, by := range []platform.Author{e.finance, {Actor: another.Email, Person: another.ID}} {
		running.Go(func() {
			_, _, err := e.Approve(t.Context(), by, id)
			results <- err
		})
	}
	running.Wait()
	close(results)
	approved := 0
	for err := range results {
		if err == nil {
			approved++
		} else if !fault.Is(err, fault.Conflict) && !errors.Is(err, ports.ErrRailConnectionChanged) {
			t.Errorf("%v", err)
		}
	}
	if history, err := e.Connections.RailConnectionHistory(t.Context(), "bank-eur"); err != nil || len(history) != 1 || approved != 1 {
		t.Errorf("%d approved, %+v, %v", approved, history, err)
	}
}

func TestReject_AndPausesAreRecorded(t *testing.T) {
	t.Parallel()
	// Who rejects a change of a connection, and who stops and resumes a rail, is recorded in the commit of that.
	e := newTwoPersons(t)
	id := e.propose(t, bankFile)
	if _, err := e.Reject(t.Context(), platform.Author{Actor: e.finance.Actor, Person: e.finance.Person}, id, "not yet"); err != nil {
		t.Fatal(err)
	}
	for _, paused := range []bool{true, false} {
		if err := e.Pause(t.Context(), "SEPA", paused, e.operator); err != nil {
			t.Fatal(err)
		}
		if err := e.Pause(t.Context(), "SEPA", paused, e.operator); err == nil {
			t.Errorf("paused %t twice", paused)
		}
	}

	e.WantChanges(platform.OperatorRejectedConnection, e.finance.Actor+": ")
	e.WantChanges(platform.OperatorPausedRail, e.operator.Actor+": isPaused false → true")
	e.WantChanges(platform.OperatorResumedRail, e.operator.Actor+": isPaused true → false")
}

func TestChanges_NobodyElse(t *testing.T) {
	t.Parallel()
	// Without another person who could approve, or without a person who has signed in, nothing is proposed.
	e := newEnv(t, apptest.EditPlatform(func(p *platform.Platform) { p.Environment = platform.Production }))
	e.RequireFourEyes(e.Platform, books.ActionConnection)
	operator := e.NewPerson(person.Administrator)
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(bankFile), rails.Author{Actor: operator.Email, Person: operator.ID, Note: "why"},
		false); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "nobody else") {
		t.Errorf("nobody else: %v", err)
	}
	e.NewPerson(person.Finance)
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(bankFile), ana, false); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), "signed in") {
		t.Errorf("nobody: %v", err)
	}
}
