package transaction

import (
	"time"

	"causeway/core/fault"
)

// clockSkew is how far the clock of a platform may be ahead.
const clockSkew = 5 * time.Minute

// ConfirmReceipt returns the transaction as the platform has given the payer the receipt of it: at a time or, if that is zero, now. A
// later call without a time changes nothing. The fault is INVALID_INPUT if the time is before the transaction, or to come.
func (t Transaction) ConfirmReceipt(at, now time.Time) (Transaction, error) {
	switch {
	case at.IsZero() && !t.ReceiptConfirmedAt.IsZero():
		return t, nil
	case at.IsZero():
		at = now
	case at.Before(t.CreatedAt.Truncate(time.Second)) || at.After(now.Add(clockSkew)):
		return t, fault.Invalid(fault.Field{Field: "receiptDeliveryConfirmedAt", Message: "must not be before the transaction was created, " +
			"at " + t.CreatedAt.UTC().Format(time.RFC3339) + ", nor in the future"})
	}
	t.ReceiptConfirmedAt = at.Truncate(time.Microsecond)
	return t, nil
}
