package pricing_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/app/audit"
	"causeway/app/internal/audittest"
	"causeway/app/pricing"
	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// The persons of these tests.
var (
	ana = pricing.Author{Actor: "ana@people.test", Person: personID(1), Note: "as agreed"}
	ben = platform.Author{Actor: "ben@people.test", Person: personID(2)}
)

func personID(n byte) (id ident.Person) {
	id.SetUUID(uuid.UUID{15: n})
	return id
}

// itself returns ana as the one who decides.
func itself() platform.Author { return platform.Author{Actor: ana.Actor, Person: ana.Person} }

// propose proposes a change that needs four eyes.
func (e *env) propose(at pricing.CorridorInput, values corridor.OverrideInput) ident.Proposal {
	e.t.Helper()
	made, err := e.pricing.Set(e.t.Context(), ana, at, values)
	if err != nil || made.Proposal == nil {
		e.t.Fatalf("%+v, %v", made, err)
	}
	return made.Proposal.ID
}

func (e *env) history() []ports.CorridorChange {
	e.t.Helper()
	changes, err := e.pricing.History(e.t.Context(), pricing.HistoryFilter{})
	if err != nil {
		e.t.Fatal(err)
	}
	return changes
}

func TestService_ProposesOnlyWhatNeedsFourEyes(t *testing.T) {
	t.Parallel()
	// A platform lists PRICE: its changes and those for all platforms are proposed, and those of another platform are
	// made at once. After it no longer does, all are.
	env := newEnv(t)
	env.RequireFourEyes(env.otherPlatform, books.ActionAdjustment, books.ActionClose)
	env.RequireFourEyes(env.Platform, books.ActionAdjustment, books.ActionPrice)
	own := pricing.CorridorInput{From: "USD", To: "BTC", Platform: env.Platform.ID.String()}
	others := pricing.CorridorInput{From: "USD", To: "BTC", Platform: env.otherPlatform.ID.String()}
	all := pricing.CorridorInput{From: "USD", To: "BTC"}
	for _, in := range []pricing.CorridorInput{own, all} {
		made, err := env.pricing.Set(t.Context(), ana, in, corridor.OverrideInput{Fixed: "30"})
		if err != nil || made.Proposal == nil || made.Proposal.By.Actor != ana.Actor || made.Proposal.Action != books.ActionPrice ||
			!made.Proposal.ExpiresAt.Equal(env.Clock.Now().Add(proposal.Lifetime)) || made.After.Fee.Fixed != 30 {
			t.Errorf("%s: %+v, %v", in.Platform, made, err)
		}
	}
	made, err := env.pricing.Set(t.Context(), ana, others, corridor.OverrideInput{Fixed: "30"})
	if err != nil || made.Proposal != nil {
		t.Errorf("another platform: %+v, %v", made, err)
	}
	if changes := env.history(); len(changes) != 1 || changes[0].By != ana.Actor || !changes[0].Approval.IsZero() {
		t.Errorf("the history is %+v", changes)
	}

	env.RequireFourEyes(env.Platform)
	for _, in := range []pricing.CorridorInput{own, all} {
		if made, err := env.pricing.Set(t.Context(), ana, in, corridor.OverrideInput{Fixed: "30"}); err != nil || made.Proposal != nil {
			t.Errorf("without PRICE, %s: %+v, %v", in.Platform, made, err)
		}
	}
}

func TestService_ChangeWithoutEffectIsNotProposed(t *testing.T) {
	t.Parallel()
	// What changes nothing makes no proposal; what sets a value that is in force already does, and so does its reset.
	env := newEnv(t)
	env.RequireFourEyes(env.Platform, books.ActionPrice)
	pair := pricing.CorridorInput{From: "USD", To: "BTC"}
	if made, err := env.pricing.Reset(t.Context(), ana, pair); err != nil || made.Proposal != nil || len(made.ChangedFields) > 0 {
		t.Errorf("reset of nothing: %+v, %v", made, err)
	}
	id := env.propose(pair, corridor.OverrideInput{Fixed: "50"})
	if done, err := env.pricing.Approve(t.Context(), ben, id); err != nil || len(done.ChangedFields) != 1 || done.Before != done.After {
		t.Errorf("set the default: %+v, %v", done, err)
	}
	if made, err := env.pricing.Set(t.Context(), ana, pair, corridor.OverrideInput{Fixed: "50"}); err != nil || made.Proposal != nil {
		t.Errorf("set again: %+v, %v", made, err)
	}
	if made, err := env.pricing.Reset(t.Context(), ana, pair); err != nil || made.Proposal == nil {
		t.Errorf("reset: %+v, %v", made, err)
	}
	if _, err := env.pricing.Set(t.Context(), ana, pair, corridor.OverrideInput{Min: "500", Max: "400"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("an invalid change was proposed: %v", err)
	}
}

func TestService_ApproveByAnotherOperatorOnce(t *testing.T) {
	t.Parallel()
	// Nobody approves their own proposal. Many approve at the same time: the change is made once, with both names.
	env := newEnv(t)
	env.RequireFourEyes(env.Platform, books.ActionPrice)
	in := pricing.CorridorInput{From: "USD", To: "BTC", Platform: env.Platform.ID.String()}
	id := env.propose(in, corridor.OverrideInput{Fixed: "30"})
	for _, own := range []platform.Author{itself(), {Actor: "Ana@People.test", Person: ben.Person}} {
		if _, err := env.pricing.Approve(t.Context(), own, id); !fault.Is(err, fault.Conflict) ||
			!strings.Contains(err.Error(), "another person") {
			t.Errorf("approved by %s: %v", own, err)
		}
	}
	if got := env.termsOf(in.Platform, "USD", "BTC"); got.Terms.Fee.Fixed != 50 {
		t.Errorf("before the approval: %+v", got)
	}

	var approving sync.WaitGroup
	results := make(chan error, 5)
	for range cap(results) {
		approving.Go(func() {
			_, err := env.pricing.Approve(t.Context(), ben, id)
			results <- err
		})
	}
	approving.Wait()
	close(results)

	done := 0
	for err := range results {
		switch {
		case err == nil:
			done++
		case !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "already EXECUTED"):
			t.Errorf("approved again: %v", err)
		}
	}
	if got := env.termsOf(in.Platform, "USD", "BTC"); done != 1 || got.Terms.Fee.Fixed != 30 {
		t.Errorf("approved %d times: %+v", done, got)
	}
	changes := env.history()
	if len(changes) != 1 || changes[0].By != ana.Actor || changes[0].Note != "as agreed" ||
		changes[0].Approval != (platform.Approval{Proposal: id, By: platform.Author{Actor: ben.Actor}}) {
		t.Errorf("the history is %+v", changes)
	}
	env.WantChanges(platform.OperatorSetCorridor, ben.Actor+": Fixed fee 0.50 USD → 0.30 USD")
	stored, err := env.pricing.Proposal(t.Context(), id)
	if err != nil || stored.Status != proposal.Executed || stored.DecidedBy.Actor != ben.Actor || stored.Key.Platform != env.Platform.ID ||
		stored.Key.To != "BTC" || stored.Action().Kind != platform.OperatorSetCorridor {
		t.Errorf("stored %+v, %v", stored, err)
	}
}

func TestService_StaleProposalStaysPending(t *testing.T) {
	t.Parallel()
	// Two changes of one corridor are proposed. When one is made, the other is refused with both states, and keeps the
	// error. It is rejected, or can be approved when the terms are again those of the proposal.
	env := newEnv(t)
	env.RequireFourEyes(env.Platform, books.ActionPrice)
	pair := pricing.CorridorInput{From: "USD", To: "BTC"}
	first, second := env.propose(pair, corridor.OverrideInput{Fixed: "30"}), env.propose(pair, corridor.OverrideInput{Percent: "0.1%"})
	if _, err := env.pricing.Approve(t.Context(), ben, first); err != nil {
		t.Fatal(err)
	}

	_, err := env.pricing.Approve(t.Context(), ben, second)

	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "fee-fixed 50,") ||
		!strings.Contains(err.Error(), "fee-fixed 30 (set),") {
		t.Errorf("approved: %v", err)
	}
	stored, storedErr := env.pricing.Proposal(t.Context(), second)
	if storedErr != nil || stored.Status != proposal.Pending || stored.LastError == nil ||
		!strings.Contains(err.Error(), stored.LastError.Message) {
		t.Errorf("stored %+v, %v", stored, storedErr)
	}
	if changes := env.history(); len(changes) != 1 {
		t.Errorf("the history is %+v", changes)
	}
	back, err := env.pricing.Reset(t.Context(), ana, pair)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []ident.Proposal{back.Proposal.ID, second} {
		if _, err := env.pricing.Approve(t.Context(), ben, id); err != nil {
			t.Errorf("approved later: %v", err)
		}
	}
	if got := env.termsOf("", "USD", "BTC").Terms.Format(); got.Fixed != "50" || got.Percent != "0.1%" {
		t.Errorf("the terms are %+v", got)
	}
}

func TestService_RejectAndExpire(t *testing.T) {
	t.Parallel()
	// A rejected proposal, which its proposer may withdraw, and one of seven days ago are not approved. They are listed by
	// status, newest first.
	env := newEnv(t)
	env.RequireFourEyes(env.Platform, books.ActionPrice)
	pair := pricing.CorridorInput{From: "USD", To: "BTC"}
	withdrawn, expired := env.propose(pair, corridor.OverrideInput{Fixed: "30"}), env.propose(pair, corridor.OverrideInput{Fixed: "31"})
	if _, err := env.pricing.Reject(t.Context(), itself(), withdrawn, strings.Repeat("n", 501)); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a long note: %v", err)
	}
	if rejected, err := env.pricing.Reject(t.Context(), itself(), withdrawn, "a typo"); err != nil || rejected.State != proposal.Rejected ||
		rejected.Note != "a typo" {
		t.Errorf("rejected: %+v, %v", rejected, err)
	}
	env.WantChanges(platform.OperatorRejectedPrice, itself().Actor+": ")
	if got := env.QueryStrings(`SELECT subject || ' ' || jsonb_path_exists(changes, '$[*].after') FROM operator_actions
		WHERE action = 'PROPOSE_PRICE' AND subject_id = $1`, withdrawn.UUID()); len(got) != 1 || got[0] != "USD to BTC true" {
		t.Errorf("proposed: %q", got)
	}
	env.Clock.Advance(proposal.Lifetime)
	pending := env.propose(pair, corridor.OverrideInput{Fixed: "32"})
	for _, id := range []ident.Proposal{withdrawn, expired, {}} {
		if _, err := env.pricing.Approve(t.Context(), ben, id); !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			t.Errorf("approved %s: %v", id, err)
		}
		if _, err := env.pricing.Reject(t.Context(), ben, id, ""); !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			t.Errorf("rejected %s: %v", id, err)
		}
	}
	for status, want := range map[proposal.Status]ident.Proposal{proposal.Pending: pending, proposal.Rejected: withdrawn,
		proposal.Expired: expired} {
		found, err := env.pricing.Proposals(t.Context(), ports.ProposalFilter{Paging: ports.Paging{Limit: 10}, Status: status})
		if err != nil || len(found) != 1 || found[0].ID != want || found[0].Status != status {
			t.Errorf("%s: %+v, %v", status, found, err)
		}
	}
	found, err := env.pricing.Proposals(t.Context(), ports.ProposalFilter{Paging: ports.Paging{Limit: 2}})
	if err != nil || len(found) != 2 || found[0].ID != pending || found[1].ID != expired {
		t.Errorf("all: %+v, %v", found, err)
	}
	if changes := env.history(); len(changes) != 0 {
		t.Errorf("the history is %+v", changes)
	}
}

func TestService_FailedCommitApprovesNothing(t *testing.T) {
	t.Parallel()
	// The change and the status of its proposal are one commit: when the status cannot be stored, nothing is changed, and
	// the proposal can be approved later.
	env := newEnv(t)
	env.RequireFourEyes(env.Platform, books.ActionPrice)
	id := env.propose(pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{Fixed: "30"})
	if err := env.Exec("ALTER TABLE corridor_proposals ADD CONSTRAINT broken CHECK (status = 'PENDING')"); err != nil {
		t.Fatal(err)
	}
	if _, err := env.pricing.Approve(t.Context(), ben, id); err == nil || errors.As(err, new(*fault.Error)) {
		t.Errorf("approved: %v", err)
	}
	if changes := env.history(); len(changes) != 0 {
		t.Errorf("the history is %+v", changes)
	}
	if err := env.Exec("ALTER TABLE corridor_proposals DROP CONSTRAINT broken"); err != nil {
		t.Fatal(err)
	}
	if _, err := env.pricing.Approve(t.Context(), ben, id); err != nil {
		t.Error(err)
	}
	if changes := env.history(); len(changes) != 1 {
		t.Errorf("the history is %+v", changes)
	}
}

func TestCheck_FindsDamagedPriceChanges(t *testing.T) {
	t.Parallel()
	// The ledger check compares executed proposals with the history, for one platform and for all: another approver, a
	// change without a proposal, and a proposal without a change are found, in words.
	env := newEnv(t)
	env.NewInternalAccount(env.Customer.ID, "USD", 100) // a platform without postings is not checked
	env.RequireFourEyes(env.Platform, books.ActionPrice)
	own := pricing.CorridorInput{From: "USD", To: "BTC", Platform: env.Platform.ID.String()}
	var ids []ident.Proposal
	for i, in := range []pricing.CorridorInput{own, {From: "USD", To: "BTC"}, {From: "EUR", To: "BTC"}} {
		ids = append(ids, env.propose(in, corridor.OverrideInput{Lock: []string{"2m", "3m", "4m"}[i]}))
		if _, err := env.pricing.Approve(t.Context(), ben, ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	if found, checked := env.check(); len(found) > 0 || checked != 3 {
		t.Errorf("%d changes checked: %q", checked, found)
	}
	if err := env.Exec("ALTER TABLE corridor_proposals DISABLE TRIGGER USER", "ALTER TABLE corridor_changes DISABLE TRIGGER USER",
		"UPDATE corridor_proposals SET decider = 'Carl' WHERE platform_id IS NOT NULL",
		"DELETE FROM corridor_changes WHERE source = 'EUR'",
		"UPDATE corridor_proposals SET status = 'REJECTED' WHERE id = '"+ids[1].UUID().String()+"'"); err != nil {
		t.Fatal(err)
	}

	found, _ := env.check()

	want := []string{
		"on " + env.Platform.ID.String() + ", price change 1 of USD to BTC was made by operator ana@people.test and approved by operator ben@people.test; " +
			ids[0].String() + " was made by operator ana@people.test and approved by operator Carl",
		"on all platforms, price change 2 of USD to BTC was made by " + ids[1].String() + ", which is REJECTED",
		"on all platforms, " + ids[2].String() + " (corridors set) is executed, and no change was made by it",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %q\nwant  %q", found, want)
	}
}

// check returns the findings on proposed changes, and how many changes were checked.
func (e *env) check() (found []string, checked int64) {
	e.t.Helper()
	report := audittest.Check(e.t, e.Env)
	for _, f := range report.Findings {
		if f.Rule == audit.RuleFourEyes {
			found = append(found, f.Message)
		}
	}
	for _, r := range report.Rules {
		if r.Rule == audit.RuleFourEyes {
			checked = r.Checked
		}
	}
	return found, checked
}
