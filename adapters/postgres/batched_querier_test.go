package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

func TestDo_QueuedWriteFailureRollsBackPostings(t *testing.T) {
	t.Parallel()
	// Queued writes are sent together with the postings: if one of them fails, nothing is
	// posted, and its error is still the one of its constraint.
	c := newEnv(t)
	account := newInternal(t, c.platform.ID, newCustomer(c.platform, "ana").ID, "USD")
	deposit := func(key, answer string, n byte) error {
		return c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			if err := tx.SaveResponse(ctx, c.idempotentRequest(key, "request", 201), answer, nil); err != nil {
				return err
			}
			return tx.Post(ctx, []ledger.Posting{ledger.Deposit(ledger.Header{ID: uuid.UUID{15: n}, Platform: c.platform.ID, Effective: noon},
				ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledgerAccountOf(account).Path,
					Amount: money.Amount{Minor: 700, Currency: "USD"}})})
		})
	}

	// From the third deposit on the accounts are cached, and only the postings are sent.
	first, again, other, still := deposit("key", "first", 1), deposit("key", "again", 2), deposit("other", "other", 3),
		deposit("key", "still", 4)

	if first != nil || other != nil {
		t.Errorf("the deposits: %v, %v", first, other)
	}
	for _, err := range []error{again, still} {
		var replay *ports.Replay
		if !errors.As(err, &replay) || string(replay.Body) != "first" {
			t.Errorf("repeated: %v; want the first response", err)
		}
	}
	balances, err := c.LedgerReader().Balances(t.Context(), []ledger.Account{ledgerAccountOf(account)})
	if err != nil || balances[ledgerAccountOf(account)] != 1400 {
		t.Errorf("balances %v, %v; want two deposits", balances, err)
	}
}
