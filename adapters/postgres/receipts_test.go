package postgres_test

import (
	"context"
	"testing"

	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestSaveReceipts_DuplicateInBatchIsNewOnce(t *testing.T) {
	t.Parallel()
	// A payment that a partner reports several times is new once, in one batch, in concurrent
	// units of work and later.
	c := newEnv(t)
	receipt := transaction.Receipt{ID: transaction.ReceiptID("RTP", "p1", noon), PartnerID: "p1", Platform: c.platform.ID,
		Rail: "RTP", Reference: "REF", Amount: money.Amount{Minor: 100, Currency: "USD"}, At: noon}
	other := receipt
	other.PartnerID, other.ID = "p2", transaction.ReceiptID("RTP", "p2", noon)

	for round, want := range [][]bool{{true, false, true, false}, {false, false, false, false}} {
		c.mustDo(t, func(ctx context.Context, tx ports.Tx) error {
			taken, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt, receipt, other, receipt})
			for i := range taken {
				if taken[i].IsNew != want[i] {
					t.Errorf("round %d, receipt %d: new %v, want %v", round, i, taken[i].IsNew, want[i])
				}
			}
			return err
		})
	}
}
