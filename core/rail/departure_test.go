package rail_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
)

func TestDepart_OnlyWhatWasHandedOverToTheConnection(t *testing.T) {
	t.Parallel()
	// A payment leaves over the connection that has it, unless that is paused. What has left is asked about, also then.
	tests := []struct {
		state      rail.State
		connection string
		paused     bool
		want       rail.Departure
	}{
		{rail.HandedOver, "bank-eur", false, rail.Leaves},
		{rail.HandedOver, "bank-eur", true, rail.Held},
		{rail.HandedOver, "other", false, rail.Withdrawn},
		{rail.Sent, "bank-eur", false, rail.Left},
		{rail.Sent, "bank-eur", true, rail.LeftHeld},
		{rail.Sent, "other", false, rail.Withdrawn},
		{rail.Queued, "bank-eur", false, rail.Withdrawn},
		{rail.InReview, "bank-eur", false, rail.Withdrawn},
		{rail.Done, "bank-eur", false, rail.Withdrawn},
		{rail.Refused, "bank-eur", false, rail.Withdrawn},
		{rail.Returned, "bank-eur", false, rail.Withdrawn},
		{rail.Cancelled, "bank-eur", false, rail.Withdrawn},
	}
	for _, tt := range tests {
		p := payout(1)
		p.State = tt.state
		after, got := p.Depart(tt.connection, tt.paused, noon)
		if got != tt.want {
			t.Errorf("%s over %s, paused %t: %s, want %s", tt.state, tt.connection, tt.paused, got, tt.want)
		}
		if p.SentAgain = tt.want == rail.Left; after.SentAgain != p.SentAgain {
			t.Errorf("%s, asked for again: %t", tt.state, after.SentAgain)
		}
		if left := tt.want == rail.Leaves; left != after.SentAt.Equal(noon) || !left && after != p {
			t.Errorf("%s over %s, paused %t: %+v", tt.state, tt.connection, tt.paused, after)
		}
	}
}

func TestTakenAway_OnlyFromTheConnectionThatWasCalled(t *testing.T) {
	t.Parallel()
	// A payment that was moved, or that waits again, was taken away from the connection that was called about it. One that has left, has ended
	// or has not changed was not.
	for _, called := range []rail.State{rail.HandedOver, rail.Sent, rail.Done} {
		for _, now := range rail.States {
			for _, moved := range []bool{false, true} {
				before, after := payout(1), payout(1)
				before.State, after.State = called, now
				if moved {
					after.Connection = "other"
				}
				want := moved || called != rail.Done && (now == rail.Queued || now == rail.InReview)
				if got := after.TakenAway(before); got != want {
					t.Errorf("called as %s, and %s now, moved %t: taken away %t", called, now, moved, got)
				}
			}
		}
	}
}

func TestPayment_LeavesOnceOrIsStopped(t *testing.T) {
	t.Parallel()
	// Whatever operators, partners, recalls and adapters do, in any order: what was stopped does not leave after that, what
	// has left cannot be stopped, and the account counts exactly what is in flight.
	rapid.Check(t, func(t *rapid.T) {
		account := rail.Account{AccountKey: rail.AccountKey{Connection: "bank-eur", Currency: "EUR"}}
		other := rail.Connection{Name: "bank-2", Rails: []corridor.Rail{corridor.SEPA}, Currencies: []money.Currency{"EUR"}}
		p := payout(40)
		p = account.Dispatch(p, rail.Connection{Name: "bank-eur"}, rail.Holds{}, noon)
		now, paused, sentTwice := noon, false, false
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Second)
			before := p
			var err error
			stopped, departure := false, rail.Departure("")
			switch step := rapid.SampledFrom([]string{"pause", "depart", "cancel", "withdraw", "move", "take back", "not taken", "done", "refused",
				"returned"}).Draw(t, "step"); step {
			case "pause":
				paused = !paused
			case "depart":
				p, departure = p.Depart("bank-eur", paused, now)
			case "cancel":
				p, err = p.Cancel(now)
				stopped = err == nil
			case "withdraw":
				p, err = p.Withdraw(now)
				stopped = err == nil
			case "move":
				p, err = p.Move(other, now)
				stopped = err == nil
			case "take back":
				p, stopped = p.TakeBack("recalled", now)
			case "not taken":
				p = p.NotTaken("bank-eur", now)
			default: // outcomes of adapters
				if !before.State.IsInFlight() {
					continue
				}
				p, err = p.To(map[string]rail.State{"done": rail.Done, "refused": rail.Refused, "returned": rail.Returned}[step], now)
			}
			if err != nil && p.State != before.State {
				t.Fatalf("%v, and the payment is %s", err, p.State)
			}
			account.Settle(before, p)
			gone := []rail.State{rail.Sent, rail.Done, rail.Returned}
			if stopped && slices.Contains(gone, before.State) {
				t.Fatalf("stopped after it was %s", before.State)
			}
			if departure == rail.Leaves && before.State != rail.HandedOver {
				t.Fatalf("left after it was %s", before.State)
			}
			if departure.MayBeSent() && paused {
				t.Fatal("sent while paused")
			}
			if sentTwice = before.State == rail.Sent && (sentTwice || departure == rail.Left); sentTwice && p.State.CanBeStopped() {
				t.Fatal("can be stopped after it was sent twice, one of which may have been taken")
			}
			inFlight := int64(0)
			if p.State.IsInFlight() {
				inFlight = 40
			}
			if account.InFlight != inFlight {
				t.Fatalf("%d in flight of a payment that is %s", account.InFlight, p.State)
			}
			if left := slices.Contains(gone, p.State); left && p.SentAt.IsZero() {
				t.Fatalf("%s, and left at %s", p.State, p.SentAt)
			}
			if p.State.IsInFlight() && p.HandedOverAt.IsZero() {
				t.Fatalf("%s without the time", p.State)
			}
		}
	})
}
