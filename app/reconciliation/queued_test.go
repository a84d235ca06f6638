package reconciliation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

func TestReconcileQueued(t *testing.T) {
	t.Parallel()
	// A statement of a connection is reconciled once. One that is refused stays queued, is not taken again before an hour,
	// and does not hold up the others; it is reconciled when its problem is solved.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 500, "A"))
	ctx := ports.ForAllPlatforms(t.Context())
	queue := func(name, accounts, statement string) {
		err := env.Store.QueueRailStatement(ctx, ports.QueuedStatement{ID: env.IDs.New(env.Clock.Now()), Platform: env.Platform.ID,
			Connection: "bank-usd", Accounts: accounts,
			RailStatement: ports.RailStatement{Name: name, Format: "CAMT053",
				Data: []byte("<Document><BkToCstmrStmt>" + statement + "</BkToCstmrStmt></Document>")}, ReceivedAt: env.Clock.Now()})
		if err != nil {
			t.Fatal(err)
		}
	}
	queue("unknown.xml", "", camtStatement("S2", "222", 0, "0.00", "7.00", "7.00"))
	queue("known.xml", "111=rails/RTP", camtStatement("S1", "111", 0, "0.00", "5.00", "5.00"))

	err := env.reconciliation.ReconcileQueued(ctx, env.Store)

	if err == nil || !strings.Contains(err.Error(), "statement unknown.xml of bank-usd") ||
		strings.Contains(err.Error(), "statement known.xml") {
		t.Errorf("the error is %v", err)
	}
	runs := func() int {
		return len(env.QueryStrings(`SELECT account FROM reconciliations`))
	}
	if runs() != 1 {
		t.Fatalf("%d statements are reconciled, want 1", runs())
	}
	if err := env.reconciliation.ReconcileQueued(ctx, env.Store); err != nil {
		t.Errorf("before an hour: %v", err)
	}
	queue("named.xml", "222=rails/ACH", camtStatement("S0", "222", -1, "0.00", "0.00", "0.00"))
	env.Clock.Advance(time.Hour)
	_ = env.reconciliation.ReconcileQueued(ctx, env.Store) // the account becomes known
	env.Clock.Advance(time.Hour)
	if err := env.reconciliation.ReconcileQueued(ctx, env.Store); err != nil || runs() < 2 {
		t.Errorf("%d statements are reconciled, %v", runs(), err)
	}
}

func TestReconcileQueued_BalanceOfARefusedStatement(t *testing.T) {
	t.Parallel()
	// The closing balance of a statement is that of its connection once the statement is reconciled, and not while it is refused. Of
	// several balances of a day the last counts, and none replaces a later one.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 500, "A"))
	ctx := ports.ForAllPlatforms(t.Context())
	now := env.Clock.Now().UTC().Truncate(time.Second)
	balance := func(minor int64, at time.Time) ports.RailBalance {
		return ports.RailBalance{Amount: money.Amount{Minor: minor, Currency: "USD"}, At: at}
	}
	queue := func(accounts, statement string, balances ...ports.RailBalance) ports.QueuedStatement {
		t.Helper()
		s := ports.QueuedStatement{ID: env.IDs.New(env.Clock.Now()), Platform: env.Platform.ID, Connection: "bank-usd", Accounts: accounts,
			ReceivedAt: env.Clock.Now(),
			RailStatement: ports.RailStatement{Name: "s.xml", Format: "CAMT053", Balances: balances,
				Data: []byte("<Document><BkToCstmrStmt>" + statement + "</BkToCstmrStmt></Document>")}}
		if err := env.Store.QueueRailStatement(ctx, s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := func(when string, want ...ports.RailBalance) {
		t.Helper()
		got, err := env.Store.RailBalancesAt(ctx, "bank-usd", now.Add(24*time.Hour))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: balances %+v, %v; want %+v", when, got, err, want)
		}
	}

	refused := queue("", camtStatement("S2", "222", 0, "0.00", "7.00", "7.00"), balance(7_00, now))
	if err := env.reconciliation.ReconcileQueued(ctx, env.Store); err == nil {
		t.Error("the statement of an unknown account was reconciled")
	}
	want("refused")

	queue("111=rails/RTP", camtStatement("S1", "111", 0, "0.00", "5.00", "5.00"), balance(4_00, now.Add(-2*time.Second)),
		balance(5_00, now.Add(-time.Second)))
	if err := env.reconciliation.ReconcileQueued(ctx, env.Store); err != nil {
		t.Error(err)
	}
	want("reconciled", balance(5_00, now.Add(-time.Second)))

	if done, err := env.Store.DiscardRailStatement(ctx, refused.ID, platform.Author{Actor: "ana"}, "of another account",
		now); !done || err != nil {
		t.Errorf("discarded %t, %v", done, err)
	}
	queue("333=rails/ACH", camtStatement("S3", "333", 0, "0.00", "0.00", "0.00"), balance(3_00, now.Add(-time.Minute)))
	if err := env.reconciliation.ReconcileQueued(ctx, env.Store); err != nil {
		t.Error(err)
	}
	want("an earlier one, and one that is discarded", balance(5_00, now.Add(-time.Second)))
}
