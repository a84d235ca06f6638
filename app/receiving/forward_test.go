package receiving_test

import (
	"context"
	"testing"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ports"
)

// forwardingAccount is Ana's account outside, for what comes to her address.
func (h *incomingEnv) forwardingAccount(t testing.TB, currency money.Currency) account.External {
	t.Helper()
	a := account.External{ID: ident.NewExternalAccount(h.ids.New, noon), Platform: h.platform.ID, Customer: h.ana.ID, Currency: currency,
		Type: account.USAccount, Fields: map[string]string{"accountNumber": "000123456", "routingNumber": "021000021"},
		Rails: []corridor.Rail{corridor.RTP}, Status: account.Active, DefaultUMADeposit: true, CreatedAt: noon, UpdatedAt: noon}
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateExternalAccount(ctx, a) })
	return a
}

func TestForward_ToChosenAccount(t *testing.T) {
	t.Parallel()
	// What came to her address goes on to the account that Ana chose, in its currency,
	// once; otherwise, or where no transfer can be made, the balance keeps it.
	for what, c := range map[string]struct {
		currency money.Currency
		refuse   error
		sent     bool
	}{
		"to her account":            {"USD", nil, true},
		"of another currency":       {"EUR", nil, false},
		"that cannot be paid today": {"USD", fault.New(fault.AmountOutOfRange, "too much"), false},
		"that she has not got":      {"", nil, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newIncomingEnv(t)
			h.setResponse(200, "")
			h.mu.Lock()
			h.transferErr = c.refuse
			h.mu.Unlock()
			var to account.External
			if c.currency != "" {
				to = h.forwardingAccount(t, c.currency)
			}

			came := h.waitForStatus(t, h.receive(t, h.umaPayment()).ID, transaction.Completed)
			h.waitForNoJobs(t, transaction.StepForward)

			want := map[ident.Transaction]transfer.Out{}
			if c.sent {
				want[transaction.CounterpartID(came.ID)] = transfer.Out{Platform: h.platform.ID, From: h.dollars.ID, To: to.ID, Amount: 12_50}
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.transfers) != len(want) || h.transfers[transaction.CounterpartID(came.ID)] != want[transaction.CounterpartID(came.ID)] {
				t.Errorf("sent on %v, want %v", h.transfers, want)
			}
		})
	}
}
