package receiving_test

import (
	"context"
	"testing"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// internalPayout is a second customer, who sends Ana 12.50 dollars.
func (h *incomingEnv) internalPayout(t testing.TB) ports.Payout {
	t.Helper()
	ben := h.newCustomer("ben")
	ben.FullName = "Ben Berg"
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateCustomer(ctx, ben) })
	return ports.Payout{Transaction: transaction.Transaction{ID: ident.NewTransaction(h.ids.New, noon), Platform: h.platform.ID, Customer: ben.ID,
		Destination: transaction.Endpoint{UMA: h.ana.UMAAddress}, Pricing: transaction.AtPar(money.Amount{Minor: 12_50, Currency: "USD"})}}
}

func TestReceiveInternal_CreditsReceiver(t *testing.T) {
	t.Parallel()
	// A payment from one customer to another arrives as any other does: the platform is
	// asked, and however often the rail is asked it is one payment.
	for what, c := range map[string]struct {
		status int
		want   transaction.Status
		ends   ports.Outcome
	}{
		"taken":    {200, transaction.Completed, ports.Outcome{Verdict: ports.Done}},
		"rejected": {403, transaction.Failed, ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: transaction.CounterpartyPostFailed}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newIncomingEnv(t)
			h.setResponse(c.status, "")
			sent := h.internalPayout(t)

			first, ours, err := h.ReceiveInternal(t.Context(), sent)
			if err != nil || !ours || first.Verdict != ports.Waiting || !first.Accepted || !first.RetryAt.After(noon) {
				t.Fatalf("%+v, %v, %v", first, ours, err)
			}
			arrived := h.waitForStatus(t, transaction.CounterpartID(sent.Transaction.ID), c.want)
			again, ours, err := h.ReceiveInternal(t.Context(), sent)

			if err != nil || !ours || again != c.ends {
				t.Errorf("%+v, %v, %v", again, ours, err)
			}
			if arrived.Source.UMA != "$ben@uma.test" || arrived.Counterparty["FULL_NAME"] != "Ben Berg" || len(h.sentApprovalRequests()) != 1 {
				t.Errorf("%+v, asked %d times", arrived, len(h.sentApprovalRequests()))
			}
			if c.want == transaction.Completed {
				h.wantTrialBalance(t, h.creditedBalances())
			} else {
				h.wantTrialBalance(t, nil)
			}
		})
	}
}

func TestReceiveInternal_OtherReceivers(t *testing.T) {
	t.Parallel()
	// Others are left to the world; a customer who cannot receive refuses the payment.
	h := newIncomingEnv(t)
	sent := h.internalPayout(t)
	elsewhere, closed := sent, sent
	elsewhere.Transaction.Destination.UMA = "$success.usd@sandbox.uma.test"
	pending := h.newCustomer("eve")
	pending.Status = customer.Pending
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateCustomer(ctx, pending) })
	closed.Transaction.Destination.UMA = pending.UMAAddress

	if _, ours, err := h.ReceiveInternal(t.Context(), elsewhere); err != nil || ours {
		t.Errorf("elsewhere: %v, %v", ours, err)
	}
	refused, ours, err := h.ReceiveInternal(t.Context(), closed)
	if err != nil || !ours || refused.Verdict != ports.Refused || refused.Reason != transaction.CounterpartyPostFailed {
		t.Errorf("not ready: %+v, %v, %v", refused, ours, err)
	}
}
