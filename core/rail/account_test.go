package rail_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// payout returns a new payout of euros over SEPA.
func payout(minor int64) rail.Payment {
	return rail.Payment{ID: uuid.UUID{15: 1}, Kind: rail.Payout, Connection: "bank-eur",
		Route:  rail.Route{Rail: corridor.SEPA, Currency: "EUR"},
		Amount: money.Amount{Minor: minor, Currency: "EUR"}}
}

// euros returns an account with a balance.
func euros(minor int64) *rail.Account {
	return &rail.Account{AccountKey: rail.AccountKey{Connection: "bank-eur", Currency: "EUR"}, Balance: minor, BalanceAt: noon}
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	// A payment is handed over unless it is above a limit, paused, behind an older one, or above what is available.
	c := bank() // 1.00 EUR per payout, 10.00 per day
	unknown := euros(0)
	unknown.BalanceAt = time.Time{}
	waiting := euros(1000)
	waiting.Waiting = true
	used := euros(10_000)
	used.Usage = map[corridor.Rail]rail.Usage{corridor.SEPAInstant: {Day: 950}}
	reviewed, forced, collection := payout(500), payout(90), payout(500)
	reviewed.Reviewed, forced.Forced, collection.Kind = true, true, rail.Collection
	tests := []struct {
		name    string
		payment rail.Payment
		account *rail.Account
		paused  string
		closed  string
		state   rail.State
		wait    rail.Wait
	}{
		{"covered", payout(100), euros(100), "", "", rail.HandedOver, ""},
		{"not covered", payout(100), euros(99), "", "", rail.Queued, rail.WaitsForFunds},
		{"unknown balance", payout(100), unknown, "", "", rail.HandedOver, ""},
		{"behind an older one", payout(1), waiting, "", "", rail.Queued, rail.WaitsForFunds},
		{"above the limit", payout(101), euros(1000), "", "", rail.InReview, rail.WaitsForReview},
		{"above the limit of the day", payout(51), used, "", "", rail.InReview, rail.WaitsForReview},
		{"within the limit of the day", payout(50), used, "", "", rail.HandedOver, ""},
		{"reviewed", reviewed, euros(1000), "", "", rail.HandedOver, ""},
		{"reviewed and not covered", reviewed, euros(1), "", "", rail.Queued, rail.WaitsForFunds},
		{"forced", forced, waiting, "", "", rail.HandedOver, ""},
		{"paused", payout(1), euros(1000), "SEPA is paused", "", rail.Queued, rail.WaitsForResumption},
		{"paused and forced", forced, euros(1000), "SEPA is paused", "", rail.Queued, rail.WaitsForResumption},
		{"above the limit and paused", payout(101), euros(1000), "SEPA is paused", "", rail.InReview, rail.WaitsForReview},
		{"closed", payout(100), euros(100), "", "opens at 8", rail.Queued, rail.WaitsForOpening},
		{"closed and not covered", payout(100), waiting, "", "opens at 8", rail.Queued, rail.WaitsForOpening},
		{"closed and paused", payout(100), euros(100), "SEPA is paused", "opens at 8", rail.Queued, rail.WaitsForResumption},
		{"above the limit and closed", payout(101), euros(1000), "", "opens at 8", rail.InReview, rail.WaitsForReview},
		{"reviewed and closed", reviewed, euros(1000), "", "opens at 8", rail.Queued, rail.WaitsForOpening},
		{"forced and closed", forced, waiting, "", "opens at 8", rail.HandedOver, ""},
		{"collection and closed", collection, euros(0), "", "opens at 8", rail.HandedOver, ""},
		{"collection", collection, euros(0), "", "", rail.HandedOver, ""},
		{"collection paused", collection, euros(0), "SEPA is paused", "", rail.Queued, rail.WaitsForResumption},
	}
	for _, tt := range tests {
		got := tt.account.Dispatch(tt.payment, c, rail.Holds{Paused: tt.paused, Closed: tt.closed}, noon)
		if got.State != tt.state || got.Wait != tt.wait || (got.Reason == "") != (got.State == rail.HandedOver) || !got.RecordedAt.Equal(noon) {
			t.Errorf("%s: %s, waits for %q: %s; want %s, %q", tt.name, got.State, got.Wait, got.Reason, tt.state, tt.wait)
		}
	}
}

func TestDispatch_NeverSendsMoreThanAvailableNorOutOfOrder(t *testing.T) {
	t.Parallel()
	// Whatever is handed over, settled and returned: what is available never gets below zero by a payment that nobody
	// forced, and after one that waits for money no later one is sent.
	rapid.Check(t, func(t *rapid.T) {
		account, c := euros(rapid.Int64Range(0, 1000).Draw(t, "balance")), bank()
		c.Limits = nil
		var sent []rail.Payment
		blocked := false
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if len(sent) > 0 && rapid.Bool().Draw(t, "settle") {
				i := rapid.IntRange(0, len(sent)-1).Draw(t, "which")
				state := rapid.SampledFrom([]rail.State{rail.Done, rail.Refused, rail.Returned}).Draw(t, "state")
				if after, err := sent[i].To(state, noon); err == nil {
					account.Settle(sent[i], after)
					sent[i] = after
				}
				continue
			}
			p := account.Dispatch(payout(rapid.Int64Range(1, 400).Draw(t, "amount")), c, rail.Holds{}, noon)
			if blocked && p.State == rail.HandedOver {
				t.Fatalf("%s was sent before an older one", p.Amount)
			}
			if blocked = blocked || p.State == rail.Queued; p.State == rail.HandedOver {
				sent = append(sent, p)
			}
		}
		want := account.Balance
		for _, p := range sent {
			if p.State == rail.HandedOver || p.State == rail.Done {
				want -= p.Amount.Minor
			}
		}
		if available, _ := account.Available(); available.Minor != want || want < 0 {
			t.Fatalf("%s available, want %d", available, want)
		}
	})
}

func TestSettle_CountsAStateOnce(t *testing.T) {
	t.Parallel()
	// A partner names its id of a payment while it is in flight, or after it was done: that moves nothing.
	account := euros(100)
	sent := payout(40)
	sent.State = rail.Sent
	account.InFlight = 40
	named := sent
	named.PartnerID = "B1"
	done, err := named.To(rail.Done, noon)
	if err != nil {
		t.Fatal(err)
	}
	again := done
	again.PartnerID = "B2"
	for _, change := range [][2]rail.Payment{{sent, named}, {named, done}, {done, again}} {
		account.Settle(change[0], change[1])
	}
	if account.InFlight != 0 || account.Moved != -40 {
		t.Errorf("%d in flight, and %d moved", account.InFlight, account.Moved)
	}
}

func TestReceive_CountsSinceTheBalance(t *testing.T) {
	t.Parallel()
	// Money that was paid in since the last balance is available; what was paid in before is in the balance.
	account := euros(100)
	account.Receive(10, noon.Add(time.Second))
	account.Receive(1000, noon)
	account.Receive(-3, noon.Add(time.Minute))
	if available, _ := account.Available(); available.Minor != 107 {
		t.Errorf("%s available", available)
	}
}

func TestTo_EveryPairOfStates(t *testing.T) {
	t.Parallel()
	// A payment that has left never waits again unless the partner did not take it, one that waits was not handed over, and
	// the end is the end.
	allowed := []string{"REVIEW QUEUED", "REVIEW CANCELLED", "QUEUED HANDED_OVER", "QUEUED REVIEW", "QUEUED CANCELLED",
		"HANDED_OVER SENT", "HANDED_OVER QUEUED", "HANDED_OVER REVIEW", "HANDED_OVER DONE", "HANDED_OVER REFUSED", "HANDED_OVER RETURNED",
		"HANDED_OVER CANCELLED",
		"SENT HANDED_OVER", "SENT DONE", "SENT REFUSED", "SENT RETURNED", "SENT CANCELLED", "DONE RETURNED", "REFUSED CANCELLED"}
	for _, from := range rail.States {
		for _, to := range rail.States {
			p := payout(1)
			p.State = from
			after, err := p.To(to, noon)
			if want := slices.Contains(allowed, string(from)+" "+string(to)); (err == nil) != want || want && after.State != to {
				t.Errorf("%s to %s: %s, %v", from, to, after.State, err)
			}
		}
	}
}

func TestRelease_TwiceIsOneRelease(t *testing.T) {
	t.Parallel()
	// Two operators release the same payment: the second release does not send it without regard to the balance.
	for _, p := range []rail.Payment{{State: rail.InReview, Wait: rail.WaitsForReview}, {State: rail.Queued, Wait: rail.WaitsForFunds},
		{State: rail.Queued, Wait: rail.WaitsForOpening}} {
		released, err := p.Release()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := released.Release(); err == nil || again != released {
			t.Errorf("%s %s: released again as %+v, %v", p.State, p.Wait, again, err)
		}
	}
}

func TestReleaseAndCancel(t *testing.T) {
	t.Parallel()
	// An operator releases what waits for a review, for money or for an opening, and cancels payouts that wait. A switch that stops is not
	// overridden by a release.
	tests := []struct {
		state     rail.State
		wait      rail.Wait
		released  bool
		cancelled bool
	}{
		{rail.InReview, rail.WaitsForReview, true, true},
		{rail.Queued, rail.WaitsForFunds, true, true},
		{rail.Queued, rail.WaitsForOpening, true, true},
		{rail.Queued, rail.WaitsForResumption, false, true},
		{rail.Queued, rail.WaitsForConnection, false, true},
		{rail.HandedOver, "", false, true},
		{rail.Sent, "", false, false},
		{rail.Done, "", false, false},
		{rail.Cancelled, "", false, false},
	}
	for _, tt := range tests {
		p := payout(1)
		p.State, p.Wait = tt.state, tt.wait
		released, err := p.Release()
		if (err == nil) != tt.released || tt.released && (released.State != rail.Queued || released.Reviewed == released.Forced) {
			t.Errorf("%s %s: released %+v, %v", tt.state, tt.wait, released, err)
		}
		cancelled, err := p.Cancel(noon)
		if (err == nil) != tt.cancelled || tt.cancelled && (cancelled.State != rail.Cancelled) {
			t.Errorf("%s %s: cancelled %+v, %v", tt.state, tt.wait, cancelled, err)
		}
		if p.Kind = rail.Refund; tt.cancelled {
			if _, err := p.Cancel(noon); err == nil {
				t.Errorf("%s: a refund was cancelled", tt.state)
			}
		}
	}
}
