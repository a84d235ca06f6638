package payments_test

import (
	"slices"
	"sync"
	"testing"

	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestSimulatePayment_EachOfABatchIsJudgedAlone(t *testing.T) {
	t.Parallel()
	// Payments to references arrive together. Those that name nothing, or are in another currency, are refused and leave
	// nothing behind; the others are received with the amount of their quote, or the one that is given.
	env := newReceivingEnv(t)
	wallet := env.NewWallet("spark1good")
	paid, short, wrongCurrency := env.quote(t, "USD", 10050, wallet), env.quote(t, "USD", 10050, wallet), env.quote(t, "USD", 10050, wallet)
	less := int64(50)
	var sent sync.WaitGroup
	for _, c := range []struct {
		name, reference string
		currency        money.Currency
		amount          *int64
		fault           fault.Code
	}{
		{"to a quote", paid.Reference, "USD", nil, ""},
		{"of another amount", short.Reference, "USD", &less, ""},
		{"in another currency", wrongCurrency.Reference, "EUR", nil, fault.InvalidCurrency},
		{"to nothing", "REF-NOBODY", "USD", nil, fault.ReferenceNotFound},
		{"of an amount to nothing", "REF-NOBODY", "USD", &less, fault.ReferenceNotFound},
	} {
		sent.Go(func() {
			_, err := env.SimulatePayment(t.Context(), env.Platform.ID,
				payments.SendRequest{Reference: c.reference, Currency: c.currency, Amount: c.amount}, nil)
			if c.fault == "" && err != nil || c.fault != "" && !fault.Is(err, c.fault) {
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
	sent.Wait()

	env.WaitForState(paid.Transaction, "COMPLETED")
	env.WaitForState(short.Transaction, "FAILED (refund COMPLETED)")
	if state := env.transaction(t, wrongCurrency.Transaction).State.String(); state != "PENDING" {
		t.Errorf("what was paid in another currency is %s", state)
	}
	got := env.QueryStrings(`SELECT amount::text FROM receipts ORDER BY receipts.amount`)
	if !slices.Equal(got, []string{"50", "50", "10050"}) {
		t.Errorf("received %v", got)
	}
}
