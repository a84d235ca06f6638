package reconciliation_test

import (
	"strings"
	"testing"
	"time"

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
		err := env.Store.QueueRailStatement(ctx, ports.QueuedStatement{ID: env.IDs.New(env.Clock.Now()), Platform: env.Platform.ID, Connection: "bank-usd", Accounts: accounts,
			RailStatement: ports.RailStatement{Name: name, Format: "CAMT053", Data: []byte("<Document><BkToCstmrStmt>" + statement + "</BkToCstmrStmt></Document>")}, ReceivedAt: env.Clock.Now()})
		if err != nil {
			t.Fatal(err)
		}
	}
	queue("unknown.xml", "", camtStatement("S2", "222", 0, "0.00", "7.00", "7.00"))
	queue("known.xml", "111=rails/RTP", camtStatement("S1", "111", 0, "0.00", "5.00", "5.00"))

	err := env.reconciliation.ReconcileQueued(ctx, env.Store)

	if err == nil || !strings.Contains(err.Error(), "statement unknown.xml of bank-usd") || strings.Contains(err.Error(), "statement known.xml") {
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
