package rails_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/rails"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/rail"
	"causeway/ports"
)

// handOver records a payout of bank-eur that its adapter has, or that has left.
func (e *env) handOver(t *testing.T, minor int64, left bool) rail.Payment {
	t.Helper()
	now := e.Clock.Now()
	p := rail.Payment{ID: e.IDs.New(now), Kind: rail.Payout, Connection: "bank-eur", Amount: money.Amount{Minor: minor, Currency: "EUR"},
		State: rail.HandedOver,
		Route: rail.Route{Platform: e.Platform.ID, Rail: corridor.SEPA, Currency: "EUR"}, RecordedAt: now, HandedOverAt: now}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		accounts, err := tx.LockRailAccounts(ctx, []rail.AccountKey{p.Account()}, now)
		if err != nil {
			return err
		}
		accounts[p.Account()].InFlight += minor
		if err := tx.CreateRailPayments(ctx, []rail.Payment{p}); err != nil {
			return err
		}
		return tx.SaveRailAccounts(ctx, accounts, nil, now)
	})
	if left {
		departures, err := e.Store.LeaveRailPayments(t.Context(), "bank-eur",
			[]ports.RailPaymentKey{{Platform: p.Platform, ID: p.ID, Kind: p.Kind}}, now)
		if err != nil || departures[0] != rail.Leaves {
			t.Fatalf("%v, %v", departures, err)
		}
	}
	return p
}

func (e *env) inFlight(t *testing.T, connection string) int64 {
	t.Helper()
	accounts, err := e.Store.RailAccounts(t.Context(), connection, e.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(accounts) == 0 {
		return 0
	}
	return accounts[0].InFlight
}

func (e *env) only(t *testing.T, id uuid.UUID) rails.Decided {
	t.Helper()
	found, err := e.Payments(t.Context(), id)
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	return found[0]
}

func TestDecide_WhatHasNotLeft(t *testing.T) {
	t.Parallel()
	// What an adapter holds can be cancelled, withdrawn and moved, and is no longer in flight then; what has left can not.
	for name, tt := range map[string]struct {
		decide func(*env, uuid.UUID) error
		state  rail.State
	}{
		"cancel": {func(e *env, id uuid.UUID) error { _, err := e.Cancel(context.Background(), id, ana); return err }, rail.Cancelled},
		"withdraw": {func(e *env, id uuid.UUID) error {
			_, err := e.Withdraw(context.Background(), id, ana)
			return err
		}, rail.InReview},
		"move": {func(e *env, id uuid.UUID) error {
			_, err := e.Move(context.Background(), id, "bank-2", ana)
			return err
		}, rail.Queued},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.set(t, "bank-eur", bankFile)
			e.set(t, "bank-2", strings.Replace(bankFile, "/srv/bank", "/srv/bank2", 1))
			held, left := e.handOver(t, 40_00, false), e.handOver(t, 2_00, true)

			if err := tt.decide(e, held.ID); err != nil {
				t.Fatal(err)
			}
			if err := tt.decide(e, left.ID); err == nil || !strings.Contains(err.Error(), "has left") {
				t.Errorf("of a payment that has left: %v", err)
			}

			if p := e.only(t, held.ID); p.State != tt.state || len(p.Decisions) != 1 || p.Decisions[0].Payment.State != rail.HandedOver {
				t.Errorf("it is %+v", p)
			}
			if got := e.inFlight(t, "bank-eur"); got != 2_00 {
				t.Errorf("%d in flight, want 200", got)
			}
			departures, err := e.Store.LeaveRailPayments(t.Context(), "bank-eur",
				[]ports.RailPaymentKey{{Platform: held.Platform, ID: held.ID, Kind: held.Kind}}, e.Clock.Now())
			if err != nil || departures[0] != rail.Withdrawn {
				t.Errorf("the adapter gets %v, %v", departures, err)
			}
		})
	}
}

func TestMarkNotSent_NeedsTwoPersons(t *testing.T) {
	t.Parallel()
	// One person reports that a payout was not sent, however often and in whichever letters; another one confirms it within a day.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	p := e.handOver(t, 40_00, true)
	mark := func(actor string) (rail.Payment, error) {
		return e.MarkNotSent(t.Context(), p.ID, rails.Author{Actor: actor, Note: "The bank has lost the file"})
	}

	if after, err := mark("ana"); err != nil || after.State != rail.Sent {
		t.Fatalf("%+v, %v", after, err)
	}
	if _, err := mark(" Ana "); err == nil || !strings.Contains(err.Error(), "another person") {
		t.Errorf("the same person: %v", err)
	}
	e.Clock.Advance(25 * time.Hour)
	if after, err := mark("ben"); err != nil || after.State != rail.Sent {
		t.Errorf("after a day: %+v, %v", after, err)
	}
	after, err := mark("ana")
	if err != nil || after.State != rail.Cancelled {
		t.Errorf("the second person: %+v, %v", after, err)
	}
	if got := e.inFlight(t, "bank-eur"); got != 0 {
		t.Errorf("%d in flight", got)
	}
	if _, err := mark("cleo"); err == nil {
		t.Error("a payment that has ended was marked again")
	}
}

func TestMarkNotSent_ComparesPersons(t *testing.T) {
	t.Parallel()
	// Who has signed in is the same person under any name, and a name confirms nothing of one who has. The decisions keep the persons.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	p := e.handOver(t, 40_00, true)
	ana, ben := e.NewPerson(person.Operator), e.NewPerson(person.Operator)
	mark := func(actor string, who ident.Person) (rail.Payment, error) {
		return e.MarkNotSent(t.Context(), p.ID, rails.Author{Actor: actor, Person: who, Note: "The bank has lost the file"})
	}
	if after, err := mark("ana", ana.ID); err != nil || after.State != rail.Sent {
		t.Fatalf("%+v, %v", after, err)
	}
	for name, who := range map[string]ident.Person{"ben": ana.ID, "cleo": {}} {
		if after, err := mark(name, who); err == nil || !strings.Contains(err.Error(), "another person") {
			t.Errorf("confirmed as %s: %+v, %v", name, after, err)
		}
	}
	if after, err := mark("ana", ben.ID); err != nil || after.State != rail.Cancelled {
		t.Errorf("another person of the same name: %+v, %v", after, err)
	}
	decisions, err := e.Store.RailDecisions(t.Context(), p.Platform, p.ID)
	if err != nil || len(decisions) != 2 || decisions[0].Person != ana.ID || decisions[1].Person != ben.ID {
		t.Errorf("stored %+v, %v", decisions, err)
	}
}

func TestSet_KeepsPerson(t *testing.T) {
	t.Parallel()
	// A version of a connection, a pause and a balance that is set by hand keep who has signed in.
	e := newEnv(t)
	by := rails.Author{Actor: "ana", Person: e.NewPerson(person.Operator).ID, Note: "why"}
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(bankFile), by, true); err != nil {
		t.Fatal(err)
	}
	if err := e.Pause(t.Context(), "bank-eur", true, by); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"rail_connections", "rail_controls"} {
		if got := e.QueryStrings(`SELECT person_id::text FROM ` + table); len(got) != 1 || got[0] != by.Person.UUID().String() {
			t.Errorf("%s: %q", table, got)
		}
	}
	history, err := e.Connections.RailConnectionHistory(t.Context(), "bank-eur")
	if err != nil || len(history) != 1 || history[0].Person != by.Person {
		t.Errorf("read %+v, %v", history, err)
	}
}

func TestOpenPayments_HeldAndLeft(t *testing.T) {
	t.Parallel()
	// A pause says how much is held, and how much can no longer be stopped.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	e.handOver(t, 40_00, false)
	e.handOver(t, 5_00, false)
	e.handOver(t, 2_00, true)

	for name, want := range map[string]int{"": 1, "bank-eur": 1, "SEPA": 1, "bank-2": 0, "WIRE": 0} {
		open, err := e.OpenPayments(t.Context(), name)
		if err != nil || len(open) != want {
			t.Fatalf("%q: %+v, %v", name, open, err)
		}
		if want == 1 && (open[0].Held.Count != 2 || open[0].Held.Amount.String() != "4500" || open[0].Left.Count != 1 ||
			open[0].Left.Amount.String() != "200") {
			t.Errorf("%q: %+v", name, open)
		}
	}
}

func TestTroubled_NamesConnections(t *testing.T) {
	t.Parallel()
	// A connection is named while a payment waits for money on it, and while its partner cannot be asked.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	e.handOver(t, 5_00, false)
	want := func(unfunded, failing string) {
		t.Helper()
		gotUnfunded, gotFailing, err := e.Troubled(ports.ForAllPlatforms(t.Context()))
		if err != nil || strings.Join(gotUnfunded, " ") != unfunded || strings.Join(gotFailing, " ") != failing {
			t.Errorf("%q wait for money and %q fail, %v; want %q and %q", gotUnfunded, gotFailing, err, unfunded, failing)
		}
	}
	want("", "")
	if err := e.Exec(`UPDATE rail_payments SET state = 'QUEUED', wait = 'FUNDS'`, `INSERT INTO rail_feeds (connection, fence, holder, leased_until,
		failures) VALUES ('bank-eur', 1, gen_random_uuid(), now(), 1)`); err != nil {
		t.Fatal(err)
	}
	want("bank-eur", "bank-eur")
}

func TestPayments_WhatThePartnerSays(t *testing.T) {
	t.Parallel()
	// A payment is shown with the last code and words of its partner: those of a rejection or return, and while it is on its way those
	// for which it waits. What was said of another payment of the same transaction, and of a wait that is over, is not shown.
	e := newEnv(t)
	open, ended := e.handOver(t, 5_00, true), e.handOver(t, 6_00, true)
	reply := func(p rail.Payment, call ports.RailCall, verdict ports.Verdict, code, text string) ports.RailReply {
		e.Clock.Advance(time.Minute)
		return ports.RailReply{Platform: p.Platform, Subject: p.ID, Call: call, At: e.Clock.Now(), Outcome: ports.Outcome{Verdict: verdict,
			Code: code, Text: text}}
	}
	replies := []ports.RailReply{
		reply(open, ports.CallSend, ports.Waiting, "AM04", "No funds"), reply(open, ports.CallRefund, ports.Refused, "AC06", "Blocked"),
		reply(ended, ports.CallSend, ports.Refused, "AC04", "Closed"), reply(ended, ports.CallSend, ports.Waiting, "AM04", "No funds"),
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		after, err := ended.To(rail.Sent, e.Clock.Now())
		if err == nil {
			after, err = after.To(rail.Refused, e.Clock.Now())
		}
		if err != nil {
			return err
		}
		if err := tx.UpdateRailPayments(ctx, []rail.Payment{after}); err != nil {
			return err
		}
		return tx.SaveRailReplies(ctx, replies)
	})

	if said := e.only(t, open.ID).Said; said.Verdict != ports.Waiting || said.Code != "AM04" || said.Text != "No funds" {
		t.Errorf("of the open one: %+v", said)
	}
	if said := e.only(t, ended.ID).Said; said.Verdict != ports.Refused || said.Code != "AC04" || said.Text != "Closed" {
		t.Errorf("of the one that ended: %+v", said)
	}
}
