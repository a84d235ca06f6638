package proposals_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	treasuryapp "causeway/app/treasury"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// movement moves 1.00 USD between two rails.
func (e *env) movement() treasury.Movement {
	return treasury.Movement{Platform: e.Platform.ID, Kind: treasury.Transfer, From: "rails/RTP", To: "rails/WIRE",
		Amount: money.Amount{Minor: 100, Currency: money.USD}, InTransit: true, By: e.ana}
}

func (e *env) fundRail(minor int64) {
	e.t.Helper()
	header := ledger.Header{ID: e.IDs.New(e.Clock.Now()), Platform: e.Platform.ID, Effective: e.Clock.Now()}
	e.Post(ledger.UnmatchedReceived(header, "rails/RTP", money.Amount{Minor: minor, Currency: money.USD}))
}

// approved approves the proposal of an outcome as Ben and returns it.
func approved[Result any](t *testing.T, e *env, made proposal.Outcome[Result], err error) proposal.Proposal {
	t.Helper()
	if err != nil || made.Proposal == nil {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := e.approve(e.ana, made.Proposal.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("approved by the proposer: %v", err)
	}
	done, err := e.approve(e.ben, made.Proposal.ID)
	if err != nil || done.Status != proposal.Executed {
		t.Fatalf("%+v, %v", done, err)
	}
	return done.Proposal
}

func mustPosting(t *testing.T, text string) uuid.UUID {
	t.Helper()
	id, err := ident.ParsePosting(text)
	if err != nil {
		t.Fatal(err)
	}
	return id.UUID()
}

func TestApprove_MovementsKeepBothPersons(t *testing.T) {
	t.Parallel()
	// A transfer and its arrival are posted when another person approves them, and keep both persons. A movement
	// that is not covered makes no proposal.
	e := newEnv(t)
	if _, err := e.treasury.Move(t.Context(), e.movement(), nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("an uncovered movement: %v", err)
	}
	e.fundRail(100)
	made, err := e.treasury.Move(t.Context(), e.movement(), nil)
	if page, err := e.treasury.Movements(t.Context(), e.Platform.ID, ports.MovementFilter{Paging: ports.Paging{Limit: 10}}); err != nil ||
		len(page.Items) != 0 {
		t.Errorf("proposed: movements %+v, %v", page.Items, err)
	}
	sent := approved(t, e, made, err)
	page, err := e.treasury.Movements(t.Context(), e.Platform.ID, ports.MovementFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("movements %+v, %v", page.Items, err)
	}
	if m := page.Items[0]; m.ID.String() != sent.Result || !m.IsOpen() || m.By != e.ana ||
		m.Approval != (platform.Approval{Proposal: sent.ID, By: e.ben}) {
		t.Errorf("movement %+v of proposal %+v", m, sent)
	}

	made, err = e.treasury.Arrive(t.Context(), e.Platform.ID, page.Items[0].ID, e.ana, time.Time{}, nil)
	arrived := approved(t, e, made, err)

	m, err := e.treasury.Movement(t.Context(), e.Platform.ID, page.Items[0].ID)
	if err != nil || m.IsOpen() || m.Arrival.By != e.ana || m.Arrival.Approval != (platform.Approval{Proposal: arrived.ID, By: e.ben}) {
		t.Errorf("arrived %+v, %v", m.Arrival, err)
	}
	e.checkLedger()
}

func TestApprove_PurposeKeepsBothPersons(t *testing.T) {
	t.Parallel()
	// The purpose of an account changes when another person approves it. An operator needs no approval.
	e := newEnv(t)
	change := ports.AccountPurpose{Path: "rails/RTP", Purpose: safeguarding.Own, By: e.ana, Note: "Pre-funded"}
	purposes := func() []treasuryapp.Account {
		t.Helper()
		accounts, err := e.treasury.Accounts(t.Context(), e.Platform.ID)
		if err != nil {
			t.Fatal(err)
		}
		return accounts
	}
	made, err := e.treasury.SetPurpose(t.Context(), e.Platform.ID, change)
	if accounts := purposes(); len(accounts) != 0 {
		t.Errorf("proposed: %+v", accounts)
	}
	p := approved(t, e, made, err)
	accounts := purposes()
	if len(accounts) != 1 || accounts[0].Purpose != safeguarding.Own || accounts[0].Changes[0].By != e.ana ||
		accounts[0].Changes[0].Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
		t.Errorf("approved: %+v", accounts)
	}

	change.By, change.Purpose = platform.Author{Actor: "ops"}, safeguarding.Client
	if err := e.treasury.SetPurposeAlone(t.Context(), e.Platform.ID, change); err != nil {
		t.Fatal(err)
	}
	if accounts := purposes(); accounts[0].Purpose != safeguarding.Client || !accounts[0].Changes[1].Approval.IsZero() {
		t.Errorf("by an operator: %+v", accounts)
	}
	e.checkLedger()
}
