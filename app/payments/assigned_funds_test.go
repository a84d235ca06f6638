package payments_test

import (
	"context"
	"testing"

	"causeway/app/accounting"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
)

// assign receives dollars without a reference, and assigns them to a transaction as finance does.
func (e *env) assign(t *testing.T, to ident.Transaction, minor int64, limits account.OwnershipLimits) error {
	t.Helper()
	receipt := e.NewReceipt("RTP", "", money.Amount{Minor: minor, Currency: "USD"})
	if _, err := e.Receive(t.Context(), receipt, nil); !fault.Is(err, fault.ReferenceNotFound) {
		t.Fatal(err)
	}
	finance := accounting.New(accounting.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs,
		OwnershipLimits: func(context.Context) (account.OwnershipLimits, error) { return limits, nil }})
	_, err := finance.AssignUnmatched(t.Context(), e.Platform.ID, e.Admin.Author(),
		accounting.AssignCommand{Receipt: receipt.ID, Transaction: to, Note: "the payer called"}, nil)
	return err
}

func TestAssignedFunds_AreLimited(t *testing.T) {
	t.Parallel()
	// Money that finance assigns to a quote counts for the limits, and above one it stays unmatched.
	e := newLimitedEnv(t)
	wallet := quote.Destination{External: e.NewWallet("spark1good").ID}
	justInTime := quote.Source{Customer: e.Customer.ID, Currency: "USD"}
	first, second := e.quoteFrom(t, justInTime, 60_00, wallet), e.quoteFrom(t, justInTime, 50_00, wallet)
	if err := e.assign(t, first.Transaction, 60_00, nil); err != nil {
		t.Fatal(err)
	}
	e.wantSent(1, 60_00)
	e.wantFault("above the limit of the day", e.assign(t, second.Transaction, 50_00, nil), fault.DailyVolumeLimitExceeded)
	if read := e.Transaction(second.Transaction); read.State != transaction.Initial {
		t.Errorf("the other quote is %s", read.State)
	}
	e.wantSent(1, 60_00)
}

func TestAssignedFunds_WaitForAuthorization(t *testing.T) {
	t.Parallel()
	// Assigned money starts no payment before its payer has authorised it.
	e := newPayerEnv(t, sca.Exemptions{})
	asked := e.ask(t, quote.Source{Customer: e.payer.ID, Currency: "USD"}, quote.Destination{External: e.bank.ID}, 100_00)
	err := e.assign(t, asked.Quote.Transaction, 100_00, nil)
	if !fault.Is(err, fault.Conflict) || e.Transaction(asked.Quote.Transaction).State.Status != transaction.PendingAuthorization {
		t.Fatalf("%v, and %+v", err, e.Transaction(asked.Quote.Transaction).State)
	}
	if _, err := e.authorize(asked.Quote, right); err != nil {
		t.Fatal(err)
	}
	if err := e.assign(t, asked.Quote.Transaction, 100_00, nil); err != nil {
		t.Fatal(err)
	}
	e.waitForStatus(asked.Quote.Transaction, transaction.Completed)
	e.checkLedger(t)
}

func TestAssignedFunds_PayUnprovenWalletUpToLimit(t *testing.T) {
	t.Parallel()
	// A wallet without a proof is paid with assigned money as with money that was matched: up to the limit that holds then.
	e := newIdleEnv(t)
	limits, err := account.ParseOwnershipLimits([]string{"CH=1000 EUR"})
	if err != nil {
		t.Fatal(err)
	}
	e.Service = newService(e.Env, e.Store, e.approvals, func(c *payments.Config) { c.OwnershipLimits = limits })
	e.Env.Run(e.Service.Run)
	ben := e.NewCustomer("ben", func(c *customer.Customer) { c.Region = "CH" })
	wallet := e.NewExternalAccount(account.External{Customer: ben.ID, Currency: "BTC", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2}, Ownership: account.FirstParty,
		Status: account.PendingOwnershipVerification})
	created, err := e.CreateQuote(t.Context(), quote.Request{Platform: e.Platform.ID, Side: quote.Sending, Amount: 100_00,
		Source: quote.Source{Customer: ben.ID, Currency: "USD"}, Destination: quote.Destination{External: wallet.ID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lower := account.OwnershipLimits{"CH": {Minor: 10_00, Currency: "EUR"}}
	if err := e.assign(t, created.Quote.Transaction, 100_00, lower); !fault.Is(err, fault.ExternalAccountVerificationRequired) {
		t.Errorf("above the limit: %v", err)
	}
	if err := e.assign(t, created.Quote.Transaction, 100_00, limits); err != nil {
		t.Fatal(err)
	}
	e.waitForStatus(created.Quote.Transaction, transaction.Completed)
	e.checkLedger(t)
}
