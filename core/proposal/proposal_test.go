package proposal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
)

var now = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

func token(n byte) (t ident.Token) {
	if n > 0 {
		t.SetUUID(uuid.UUID{15: n})
	}
	return t
}

func tokens(ids ...byte) (found []platform.Token) {
	for _, n := range ids {
		found = append(found, platform.Token{ID: token(n), Permissions: []platform.Permission{platform.Manage}})
	}
	return found
}

func pending(by platform.Author) proposal.Proposal {
	return proposal.New(ident.Proposal{}, ident.Platform{}, books.ActionAdjustment, "createLedgerAdjustment", []byte(`{}`), by, now)
}

func TestProposal_Approve(t *testing.T) {
	t.Parallel()
	// A proposal is approved with another token and by another name, while it is pending and the token of the
	// proposer exists. An operator approves with a name only.
	ana := platform.Author{Token: token(1), Actor: "Ana"}
	decided, _ := pending(ana).Reject(ana, "", now)
	for name, test := range map[string]struct {
		p      proposal.Proposal
		by     platform.Author
		tokens []platform.Token
		at     time.Time
		reason string // empty: approved
	}{
		"another person":        {pending(ana), platform.Author{Token: token(2), Actor: "Ben"}, tokens(1, 2), now, ""},
		"a token without name":  {pending(ana), platform.Author{Token: token(2)}, tokens(1, 2), now, ""},
		"the same token":        {pending(ana), platform.Author{Token: token(1), Actor: "Ben"}, tokens(1, 2), now, "Same token"},
		"the same name":         {pending(ana), platform.Author{Token: token(2), Actor: "ana"}, tokens(1, 2), now, "Same person"},
		"a deleted token":       {pending(ana), platform.Author{Token: token(2)}, tokens(2), now, "Token deleted"},
		"the last moment":       {pending(ana), platform.Author{Token: token(2)}, tokens(1, 2), now.Add(proposal.Lifetime - 1), ""},
		"too late":              {pending(ana), platform.Author{Token: token(2)}, tokens(1, 2), now.Add(proposal.Lifetime), "Proposal expired"},
		"decided":               {decided, platform.Author{Token: token(2)}, tokens(1, 2), now, "Proposal decided"},
		"an operator":           {pending(ana), platform.Author{Actor: "ops"}, tokens(1), now, ""},
		"an operator of a name": {pending(ana), platform.Author{Actor: "Ana"}, tokens(1), now, "Same person"},
		"an operator's":         {pending(platform.Author{Actor: "ops"}), platform.Author{Token: token(1)}, tokens(1), now, ""},
		"an operator's own":     {pending(platform.Author{Actor: "ops"}), platform.Author{Actor: "ops"}, tokens(1), now, "Same person"},
	} {
		approved, err := test.p.Approve(test.by, test.tokens, test.at)

		f, _ := fault.As(err)
		switch {
		case test.reason != "":
			if f == nil || f.Code != fault.Conflict || f.Reason != test.reason || approved.State != test.p.State {
				t.Errorf("%s: %+v, %v", name, approved, err)
			}
		case err != nil || approved.State != proposal.Executed || approved.DecidedBy != test.by || !approved.DecidedAt.Equal(test.at):
			t.Errorf("%s: %+v, %v", name, approved, err)
		}
	}
}

func TestProposal_NeverApprovedByOnePerson(t *testing.T) {
	t.Parallel()
	// Whichever persons propose and approve: an executed proposal has two different tokens, or an operator and another
	// name; and never one name twice.
	person := rapid.Custom(func(t *rapid.T) platform.Author {
		a := platform.Author{Token: token(rapid.ByteMax(3).Draw(t, "token")),
			Actor: rapid.SampledFrom([]string{"", "Ana", "ANA", "Ben"}).Draw(t, "actor")}
		if a.Token.IsZero() && a.Actor == "" {
			a.Actor = "Ops"
		}
		return a
	})
	rapid.Check(t, func(t *rapid.T) {
		by, approver := person.Draw(t, "proposer"), person.Draw(t, "approver")

		approved, err := pending(by).Approve(approver, tokens(1, 2, 3), now)

		sameToken := by.Token == approver.Token && !by.Token.IsZero()
		sameName := strings.EqualFold(by.Actor, approver.Actor) && by.Actor != ""
		if (err == nil) == (sameToken || sameName) || (err == nil) != (approved.State == proposal.Executed) {
			t.Fatalf("%+v approved by %+v: %v", by, approver, err)
		}
	})
}

func TestProposal_RejectWithdrawsToo(t *testing.T) {
	t.Parallel()
	// The proposer and anybody else can reject a pending proposal, once, with a note of at most 500 characters.
	for _, by := range []platform.Author{{Token: token(1)}, {Token: token(2)}} {
		p := pending(platform.Author{Token: token(1)})
		if _, err := p.Reject(by, strings.Repeat("x", 501), now); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("a long note: %v", err)
		}
		rejected, err := p.Reject(by, "not yet", now)
		if err != nil || rejected.Status(now) != proposal.Rejected || rejected.Note != "not yet" || rejected.DecidedBy != by {
			t.Errorf("%+v, %v", rejected, err)
		}
		if _, err := rejected.Reject(by, "", now); !fault.Is(err, fault.Conflict) {
			t.Errorf("again: %v", err)
		}
	}
}

func TestProposal_FailStaysPending(t *testing.T) {
	t.Parallel()
	// A failed approval is kept until the next one; the proposal can still be approved.
	by := platform.Author{Token: token(1)}
	failed := pending(by).Fail(fault.New(fault.InsufficientBalance, "too little"), now)
	if failed.Status(now) != proposal.Pending || failed.LastError == nil || failed.LastError.Code != fault.InsufficientBalance ||
		failed.LastError.Message != "too little" {
		t.Errorf("%+v", failed)
	}
	if approved, err := failed.Approve(platform.Author{Token: token(2)}, tokens(1, 2), now); err != nil || approved.LastError != nil {
		t.Errorf("%+v, %v", approved, err)
	}
}

func TestCheckRequest(t *testing.T) {
	t.Parallel()
	// A request of 1 MiB can be proposed, and one byte more cannot.
	for size, ok := range map[int]bool{0: true, proposal.MaxRequest: true, proposal.MaxRequest + 1: false} {
		if err := proposal.CheckRequest(make([]byte, size)); (err == nil) != ok || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestCheckCreate(t *testing.T) {
	t.Parallel()
	// Without another token that may approve, the fault says how to create one. At most 1000 are pending.
	by := platform.Author{Token: token(1)}
	reader := platform.Token{ID: token(2), Permissions: []platform.Permission{platform.View, platform.Transact}}
	for _, alone := range [][]platform.Token{tokens(1), append(tokens(1), reader)} {
		if err := proposal.CheckCreate(by, alone, 0); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "POST /tokens") {
			t.Errorf("%d tokens: %v", len(alone), err)
		}
	}
	for count, ok := range map[int]bool{0: true, 999: true, 1000: false} {
		if err := proposal.CheckCreate(by, tokens(1, 2), count); (err == nil) != ok {
			t.Error(fmt.Sprint(count, " pending: ", err))
		}
	}
}

func TestCheckPending(t *testing.T) {
	t.Parallel()
	// At most 1000 proposals are pending. The fault says how to decide one.
	for count, ok := range map[int]bool{0: true, proposal.MaxPending - 1: true, proposal.MaxPending: false} {
		err := proposal.CheckPending(count, "`causeway corridors reject`")
		if (err == nil) != ok || err != nil && (!fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "corridors reject")) {
			t.Errorf("%d pending: %v", count, err)
		}
	}
}
