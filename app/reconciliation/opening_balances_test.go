package reconciliation_test

import (
	"context"
	"testing"

	"causeway/adapters/postgres"
	"causeway/core/money"
	"causeway/ledger"
)

func TestImport_OpeningBalancesAreOnNoStatement(t *testing.T) {
	t.Parallel()
	// Opening balances of an account and their reversal are no movements at the partner: the statement of their day
	// has no breaks, and no line is matched with them.
	env := newEnv(t)
	received := env.receivedPosting(0, 500, "INVOICE 7")
	opening := ledger.OpeningBalances(ledger.Header{ID: ledger.OpeningBalancesID(env.Platform.ID, money.USD, 0), Platform: env.Platform.ID,
		Effective: monday, Memo: "opening"},
		money.USD, []ledger.OpeningBalance{{Path: "rails/RTP", Minor: 700}})
	reversal := ledger.Reverse(opening, env.IDs.New(monday), monday, "a mistake")
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.Post(ctx, []ledger.Posting{opening, reversal, received})
	})
	file := newStatementFile()
	file.addLine(0, 500, "INVOICE 7", "")

	done := env.mustImport(t, file.String())

	if found := env.breaksByReason(t, done.ID); len(found) > 0 {
		t.Errorf("breaks %+v", found)
	}
}
