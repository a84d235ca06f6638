package payments_test

import (
	"testing"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/transaction"
)

// forwardingAccount is an external account of Customer to which incoming payments are forwarded.
// It pays out in dollars up to the limit of RTP.
func (e *env) forwardingAccount(currency money.Currency, rail corridor.Rail) account.External {
	return e.NewExternalAccount(account.External{Customer: e.Customer.ID, Currency: currency, Type: account.USAccount, DefaultUMADeposit: true,
		Fields: map[string]string{"accountNumber": "000123456", "routingNumber": "021000021"}, Rails: []corridor.Rail{rail}})
}

// freezeAccountOnApproval makes the platform approve a payment after the account that it is for can no
// longer pay.
func (e *env) freezeAccountOnApproval() {
	e.approvals.setWith(200, func() error { return e.Exec("UPDATE internal_accounts SET status = 'FROZEN'") })
}

func TestForward_ToChosenAccount(t *testing.T) {
	t.Parallel()
	// A payment to the customer's UMA address is forwarded to the account that the customer
	// chose, if it has the same currency, by one transfer. If the transfer is refused, or there is no
	// such account, the money stays on the balance.
	for name, c := range map[string]struct {
		currency  money.Currency
		edit      func(*env)
		forwarded bool
	}{
		"to the account":       {currency: "USD", forwarded: true},
		"another currency":     {currency: "EUR"},
		"a refused transfer":   {currency: "USD", edit: (*env).freezeAccountOnApproval},
		"no account is chosen": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			env.approvals.set(200, "")
			var to account.External
			if c.currency != "" {
				to = env.forwardingAccount(c.currency, corridor.RTP)
			}
			if c.edit != nil {
				c.edit(env)
			}

			received := env.waitForStatus(env.receiveUMA(t, env.umaPayment()).ID, transaction.Completed)
			env.WaitForNoJobs(transaction.StepForward)

			id := transaction.CounterpartID(received.ID)
			if !c.forwarded {
				if _, err := env.Store.Transaction(t.Context(), env.Platform.ID, id); !fault.Is(err, fault.TransactionNotFound) {
					t.Errorf("want no transfer, got %v", err)
				}
				env.WantBalances(env.creditedBalances())
				return
			}
			sent := env.waitForStatus(id, transaction.Completed)
			if sent.Source.InternalAccount != env.dollars.ID || sent.Destination.ExternalAccount != to.ID ||
				sent.Pricing.Sent != (money.Amount{Minor: 12_50, Currency: "USD"}) {
				t.Errorf("forwarded by %+v", sent)
			}
			env.WantBalances(map[string]int64{"rails/UMA USD": 12_50, "rails/RTP USD": -12_50})
		})
	}
}

func TestForward_FromWalletStays(t *testing.T) {
	t.Parallel()
	// A payment into an embedded wallet cannot be forwarded, because a wallet cannot pay. It stays there,
	// and no job is left.
	env := newReceivingEnv(t)
	env.approvals.set(200, "")
	env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: "USDB", Type: account.Layer2Wallet, DefaultUMADeposit: true,
		Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2}})
	payment := env.umaPayment()
	payment.Currency, payment.Amount = "USDB", 25_000_000

	received := env.waitForStatus(env.receiveUMA(t, payment).ID, transaction.Completed)

	env.WaitForNoJobs(transaction.StepForward)
	if _, err := env.Store.Transaction(t.Context(), env.Platform.ID, transaction.CounterpartID(received.ID)); !fault.Is(err,
		fault.TransactionNotFound) {
		t.Errorf("want no transfer, got %v", err)
	}
}
