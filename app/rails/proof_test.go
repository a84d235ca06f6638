package rails_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// newProofEnv returns an environment of a production platform with a connection to a bank, whose ledger account has 100.00 EUR
// since noon.
func newProofEnv(t *testing.T) *env {
	t.Helper()
	e := newEnv(t, apptest.EditPlatform(func(p *platform.Platform) { p.Environment = platform.Production }))
	e.set(t, "bank-eur", bankFile)
	e.receive(t, 100_00)
	return e
}

// receive posts money that was received over SEPA now.
func (e *env) receive(t *testing.T, minor int64) {
	t.Helper()
	now := e.Clock.Now()
	posting := ledger.UnmatchedReceived(ledger.Header{ID: e.IDs.New(now), Platform: e.Platform.ID, Effective: now}, corridor.SEPA.LedgerPath(),
		money.Amount{Minor: minor, Currency: "EUR"})
	if err := e.Store.Do(ports.ForAllPlatforms(t.Context()),
		func(ctx context.Context, tx *postgres.Unit) error { return tx.Post(ctx, []ledger.Posting{posting}) }); err != nil {
		t.Fatal(err)
	}
}

func (e *env) balance(t *testing.T, name string, minor int64, at time.Time) {
	t.Helper()
	if err := e.Store.SaveRailBalances(t.Context(), name,
		[]ports.RailBalance{{Amount: money.Amount{Minor: minor, Currency: "EUR"}, At: at}}); err != nil {
		t.Fatal(err)
	}
}

// payment stores a payout of the connection that was sent now.
func (e *env) payment(t *testing.T, minor int64, state rail.State) rail.Payment {
	t.Helper()
	now := e.Clock.Now()
	p := rail.Payment{ID: uuid.UUID{15: byte(minor)}, Kind: rail.Payout, Connection: "bank-eur",
		Amount: money.Amount{Minor: minor, Currency: "EUR"}, State: rail.Sent,
		Route: rail.Route{Platform: e.Platform.ID, Rail: corridor.SEPA, Currency: "EUR"}, RecordedAt: now, SentAt: now}
	err := e.Store.Do(ports.ForAllPlatforms(t.Context()), func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateRailPayments(ctx, []rail.Payment{p}); err != nil || state == rail.Sent {
			return err
		}
		p.State, p.SettledAt = state, now.Add(2*time.Hour)
		return tx.UpdateRailPayments(ctx, []rail.Payment{p})
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (e *env) prove(t *testing.T, at time.Time) rail.Proof {
	t.Helper()
	proofs, err := e.Prove(t.Context(), at)
	if err != nil || len(proofs) != 1 {
		t.Fatalf("proofs %+v, %v", proofs, err)
	}
	return proofs[0]
}

func TestProve_LedgerOfTheTimeOfTheBalance(t *testing.T) {
	t.Parallel()
	// The bank's balance is compared with the ledger of its time, not with what was received later.
	e := newProofEnv(t)
	e.balance(t, "bank-eur", 100_00, apptest.Noon.Add(time.Minute))
	e.Clock.Advance(time.Hour)
	e.receive(t, 5_00)

	p := e.prove(t, apptest.Noon.Add(12*time.Hour))

	if p.State != rail.Proved || p.Partners.String() != "10000" || p.LedgerFrom.String() != "10000" {
		t.Errorf("proof %+v", p)
	}
	kept, day, err := e.Store.RailProofs(t.Context())
	if err != nil || len(kept) != 1 || kept[0].State != rail.Proved || day.Format(time.DateOnly) != "2026-03-14" {
		t.Errorf("kept %+v of %s, %v", kept, day, err)
	}
}

func TestProve_InFlightExplainsADifference(t *testing.T) {
	t.Parallel()
	// The bank may have paid out what was in flight when it said its balance, also if it was settled later. More than that is a
	// difference, and payments of its amount are named.
	e := newProofEnv(t)
	open := e.payment(t, 30, rail.Sent)
	e.payment(t, 12, rail.Done)
	e.Clock.Advance(time.Minute)
	for balance, want := range map[int64]string{100_00: "PROVED 0", 99_58: "PROVED 0", 99_88: "PROVED 0", 99_28: "DIFFERENT -30",
		100_30: "DIFFERENT 30"} {
		e.balance(t, "bank-eur", balance, e.Clock.Now())

		p := e.prove(t, e.Clock.Now())

		if got := string(p.State) + " " + p.Difference.String(); got != want {
			t.Errorf("with a balance of %d: %s, want %s", balance, got, want)
		}
		if named := strings.Join(p.Suspects, ""); (p.State == rail.Different) != strings.Contains(named, rail.EndToEndID(open.ID)) {
			t.Errorf("with a balance of %d: suspects %q", balance, p.Suspects)
		}
		e.Clock.Advance(time.Second)
	}
}

func TestProve_SumsConnectionsOfTheSameAccounts(t *testing.T) {
	t.Parallel()
	// Two banks for the same rail are proved together. Without the balance of one there is no proof.
	e := newProofEnv(t)
	e.set(t, "bank-two", strings.Replace(bankFile, "/srv/bank", "/srv/bank-two", 1))
	e.balance(t, "bank-eur", 60_00, apptest.Noon.Add(time.Minute))
	if p := e.prove(t, apptest.Noon.Add(time.Hour)); p.State != rail.NoBalance || p.Problem != "no balance of bank-two" {
		t.Errorf("proof %+v", p)
	}
	e.balance(t, "bank-two", 40_00, apptest.Noon.Add(2*time.Minute))

	p := e.prove(t, apptest.Noon.Add(time.Hour))

	if p.State != rail.Proved || len(p.Connections) != 2 || !p.From.Equal(apptest.Noon.Add(time.Minute)) ||
		!p.To.Equal(apptest.Noon.Add(2*time.Minute)) {
		t.Errorf("proof %+v", p)
	}
	if p := e.prove(t, apptest.Noon.Add(6*24*time.Hour)); p.State != rail.NoBalance {
		t.Errorf("with balances of last week: %+v", p)
	}
}

func TestProve_WithoutARetiredConnection(t *testing.T) {
	t.Parallel()
	// A retired connection needs a balance of its end, and then no further one: the group is proved with it for ever. What
	// it held at the end counts, and a connection that was never tested and carried nothing needs none.
	e := newProofEnv(t)
	e.set(t, "bank-two", strings.Replace(bankFile, "/srv/bank", "/srv/bank-two", 1))
	if _, _, err := e.Set(t.Context(), "bank-new", []byte(strings.Replace(bankFile, "/srv/bank", "/srv/bank-new", 1)), ana, true); err != nil {
		t.Fatal(err)
	}
	portstest.MustDo(t, e.Store, func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.LockRailAccounts(ctx, []rail.AccountKey{{Connection: "bank-two", Currency: "EUR"}}, apptest.Noon)
		return err
	})
	e.balance(t, "bank-two", 40_00, apptest.Noon)
	e.Clock.Advance(time.Hour)
	if _, err := e.Retire(t.Context(), "bank-two", ana); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(30 * 24 * time.Hour)
	e.balance(t, "bank-eur", 95_00, e.Clock.Now())
	if p := e.prove(t, e.Clock.Now()); p.State != rail.NoBalance || !strings.Contains(p.Problem, "bank-two since it was retired") ||
		strings.Contains(p.Problem, "bank-new") {
		t.Errorf("without its last balance: %+v", p)
	}
	if _, err := e.SetBalance(t.Context(), "bank-two", money.Amount{Minor: 5_00, Currency: "EUR"}, ana); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(30 * 24 * time.Hour)
	e.balance(t, "bank-eur", 95_00, e.Clock.Now())

	p := e.prove(t, e.Clock.Now())

	if p.State != rail.Proved || p.Partners.String() != "10000" || !p.From.Equal(e.Clock.Now()) {
		t.Errorf("proof %+v", p)
	}
	e.receive(t, 1)
	e.Clock.Advance(time.Minute)
	e.balance(t, "bank-eur", 95_00, e.Clock.Now())
	if p := e.prove(t, e.Clock.Now()); p.State != rail.Different {
		t.Errorf("a cent more in the ledger: %+v", p)
	}
}

func TestProveYesterday_OnceADay(t *testing.T) {
	t.Parallel()
	// The proof of a day is made an hour after its end, once.
	e := newProofEnv(t)
	e.balance(t, "bank-eur", 100_00, apptest.Noon.Add(time.Minute))
	proved := func() (made time.Time) {
		if err := e.ProveYesterday(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept, _, err := e.Store.RailProofs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range kept {
			made = p.ProvedAt
		}
		return made
	}
	e.Clock.Advance(12*time.Hour + 59*time.Minute)
	if at := proved(); !at.IsZero() {
		t.Errorf("proved at %s", at)
	}
	e.Clock.Advance(time.Minute)
	first := proved()
	e.Clock.Advance(time.Hour)

	again := proved()

	if first.IsZero() || !again.Equal(first) {
		t.Errorf("proved at %s and again at %s", first, again)
	}
	e.Clock.Advance(24 * time.Hour)
	if next := proved(); !next.After(again) {
		t.Errorf("the next day was not proved")
	}
}
