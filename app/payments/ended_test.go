package payments_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// contradictions returns what waits for a person about a transaction.
func (e *env) contradictions(t *testing.T, id ident.Transaction) []rail.Contradiction {
	t.Helper()
	ctx := ports.ForAllPlatforms(t.Context())
	items, err := e.Store.RailFeedItems(ctx, "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	var found []rail.Contradiction
	for _, i := range items {
		item, _, err := e.Store.RailFeedItem(ctx, i.ID)
		var c rail.Contradiction
		if err != nil || json.Unmarshal(item.Content, &c) != nil {
			t.Fatalf("item %s: %v", i.ID, err)
		}
		if c.Subject == id.UUID() {
			found = append(found, c)
		}
	}
	return found
}

var (
	saysDone    = ports.Outcome{Verdict: ports.Done, Accepted: true, PartnerID: "TRX-1"}
	saysRefused = ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, PartnerID: "TRX-1",
		Code: "AC04", Text: "closed"}
	saysReturned = ports.Outcome{Verdict: ports.Returned, Accepted: true, PartnerID: "TRX-1", Code: "AC06", Text: "blocked"}
)

func TestEnded_PartnerContradictsWhatIsRecorded(t *testing.T) {
	t.Parallel()
	// A partner that has ended a payout says something else of it: one item stands with what is recorded and what it says now,
	// however often it repeats that, and the payment stays as it is.
	for name, c := range map[string]struct {
		before         []ports.Outcome
		now            ports.Outcome
		state, says    rail.State
		recorded, code string
	}{
		"settled after rejected": {[]ports.Outcome{saysRefused}, saysDone, rail.Refused, rail.Done, "AC04", ""},
		"settled after returned": {[]ports.Outcome{saysDone, saysReturned}, saysDone, rail.Returned, rail.Done, "AC06", ""},
		"rejected after settled": {[]ports.Outcome{saysDone}, saysRefused, rail.Done, rail.Refused, "", "AC04"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, partner := newPartnerEnv(t)
			partner.set(waiting(env, 24*time.Hour))
			payout := env.transferOut(t)
			for _, o := range c.before {
				partner.set(o)
				env.news(t, payout.ID)
			}
			before := env.Transaction(payout.ID).State

			partner.set(c.now)
			env.news(t, payout.ID)
			env.news(t, payout.ID)

			found := env.contradictions(t, payout.ID)
			if len(found) != 1 {
				t.Fatalf("items: %+v", found)
			}
			got := found[0]
			if got.Kind != rail.Payout || got.Recorded.State != string(c.state) || got.Reported.State != string(c.says) ||
				got.Recorded.Code != c.recorded ||
				got.Reported.Code != c.code || got.Reported.PartnerID != "TRX-1" || got.Recorded.At.IsZero() && c.recorded != "" ||
				!strings.Contains(got.Problem, payout.ID.String()) {
				t.Errorf("%+v", got)
			}
			if after := env.Transaction(payout.ID).State; after != before {
				t.Errorf("%s became %s", before, after)
			}
		})
	}
}

func TestEnded_CheckOfAReturnIsRejected(t *testing.T) {
	t.Parallel()
	// A partner without news rejects a settled payout when it is asked about a return: an item stands, no job is dead, and the
	// partner is asked again, so that a return that follows is posted.
	env, partner := newPartnerEnv(t)
	done := saysDone
	done.RetryAt = env.Clock.Now().Add(time.Hour)
	partner.set(done)
	payout := env.transferOut(t)
	partner.set(saysRefused)
	env.Clock.Advance(2 * time.Hour)
	env.runDue(t)

	if found := env.contradictions(t, payout.ID); len(found) != 1 {
		t.Fatalf("items: %+v", found)
	}
	partner.set(saysReturned)
	env.Clock.Advance(25 * time.Hour)
	env.runDue(t)
	if got := env.Transaction(payout.ID).State; got.Status != transaction.Failed || got.Stage != transaction.Delivered {
		t.Errorf("it is %s", got)
	}
}

func TestEnded_FailedCollectionIsSettled(t *testing.T) {
	t.Parallel()
	// The money of a collection that was refused arrives after all: that is an item, because nobody was credited.
	env, partner := newPartnerEnv(t)
	partner.set(ports.Outcome{Verdict: ports.Refused, Code: "R01"})
	pulled := env.transferIn(t)

	partner.set(saysDone)
	env.news(t, pulled.ID)

	found := env.contradictions(t, pulled.ID)
	if len(found) != 1 || found[0].Kind != rail.Collection || found[0].Recorded.Code != "R01" || found[0].Reported.State != string(rail.Done) {
		t.Errorf("items: %+v", found)
	}
}

func TestEnded_AnySequenceIsExplained(t *testing.T) {
	t.Parallel()
	// Whatever a partner says of a payout, in any order and repeated: afterwards each statement is posted, says that the money is
	// where the books have it, or is one item.
	env, partner := newPartnerEnv(t)
	said := map[rail.State]ports.Outcome{rail.Done: saysDone, rail.Refused: saysRefused, rail.Returned: saysReturned}
	all := []rail.State{rail.Done, rail.Refused, rail.Returned}
	random := rand.New(rand.NewPCG(1, 2))
	from, to := env.account(ident.Customer{}, "USD", 1000_00), env.newOwnBank()
	for range 12 {
		partner.set(waiting(env, 24*time.Hour))
		payout, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: from.ID, To: to.ID, Amount: 25_00},
			nil)
		if err != nil {
			t.Fatal(err)
		}
		env.runDue(t)
		var sequence []rail.State
		items := map[rail.State]bool{}
		recorded := rail.Sent
		for range 5 {
			reported := all[random.IntN(len(all))]
			sequence = append(sequence, reported)
			switch rail.Payout.CompareEnds(recorded, reported) {
			case rail.Changes:
				recorded = reported
			case rail.Contradicts:
				items[reported] = true
			case rail.Repeats:
			}
			partner.set(said[reported])
			env.news(t, payout.ID)
		}
		if end := env.Transaction(payout.ID).PayoutEnd(); end != recorded {
			t.Errorf("%v: it is %s, want %s", sequence, end, recorded)
		}
		seen := map[string]bool{}
		for _, c := range env.contradictions(t, payout.ID) {
			if !items[rail.State(c.Reported.State)] || seen[c.Key()] {
				t.Errorf("%v: item %+v", sequence, c)
			}
			seen[c.Key()] = true
			delete(items, rail.State(c.Reported.State))
		}
		// An item of a state stands for each end that it contradicted.
		if len(items) > 0 {
			t.Errorf("%v: nothing stands for %v", sequence, items)
		}
	}
}
