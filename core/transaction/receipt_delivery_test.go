package transaction_test

import (
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/transaction"
)

func TestConfirmReceipt_Times(t *testing.T) {
	t.Parallel()
	// A receipt was given at the time that the platform names, or now. A repeat without a time keeps the first; no receipt was given
	// before the transaction, nor will be.
	now := noon.Add(time.Hour)
	for name, c := range map[string]struct{ before, at, want time.Time }{
		"now":              {time.Time{}, time.Time{}, now},
		"again":            {noon, time.Time{}, noon},
		"at a time":        {time.Time{}, noon.Add(time.Minute), noon.Add(time.Minute)},
		"corrected":        {noon, noon.Add(time.Minute), noon.Add(time.Minute)},
		"by a clock ahead": {time.Time{}, now.Add(time.Minute), now.Add(time.Minute)},
		"before":           {time.Time{}, noon.Add(-time.Minute), time.Time{}},
		"to come":          {time.Time{}, now.Add(time.Hour), time.Time{}},
	} {
		got, err := transaction.Transaction{CreatedAt: noon, ReceiptConfirmedAt: c.before}.ConfirmReceipt(c.at, now)
		if c.want.IsZero() != fault.Is(err, fault.InvalidInput) || err == nil && !got.ReceiptConfirmedAt.Equal(c.want) {
			t.Errorf("%s: %s, %v; want %s", name, got.ReceiptConfirmedAt, err, c.want)
		}
	}
}
