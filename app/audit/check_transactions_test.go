package audit_test

import (
	"strings"
	"testing"
	"time"

	"causeway/adapters/rates/market"
	"causeway/app/audit"
	"causeway/app/internal/batch"
	"causeway/app/internal/prices"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/ports"
)

// paidEnv is an environment with payments of each kind of evidence: one that was received, delivered and has a
// receipt, one that was refunded, one between two balances, and a deposit of another customer.
type paidEnv struct {
	*env
	service                              *payments.Service
	delivered, refunded, paid, deposited ident.Transaction
}

func newPaidEnv(t testing.TB) *paidEnv {
	t.Helper()
	e := &paidEnv{env: newEnv(t)}
	e.service = payments.New(payments.Config{Timetable: e.Timetable(), Store: e.Store, Jobs: e.Store,
		Rails: e.Rail, Chains: e.Chain,
		Custody: e.Custody,
		Prices:  prices.New(e.Store, market.New("test"), e.Clock), Clock: e.Clock, IDs: e.IDs, Log: e.Log,
		Batches: batch.Options{Timeout: time.Minute}})
	e.delivered = e.receive(e.quote(e.QuoteRequest("USD", 10050, e.NewWallet("spark1good"))))
	e.refunded = e.receive(e.quote(e.QuoteRequest("USD", 10050, e.NewBankAccount("000123004"))))
	owner, other := e.NewCustomer("owner").ID, e.NewCustomer("other").ID
	from, to := e.NewInternalAccount(owner, "USD", 50_000), e.NewInternalAccount(owner, "USDC", 0)
	paid := e.quote(quote.Request{Platform: e.platform, Source: quote.Source{Internal: from.ID},
		Destination: quote.Destination{Internal: to.ID}, Side: quote.Sending, Amount: 25_000})
	if _, err := e.service.ExecuteQuote(t.Context(), e.platform, paid.ID, nil); err != nil {
		t.Fatal(err)
	}
	e.paid = paid.Transaction
	e.deposited = e.deposit(e.NewInternalAccount(other, "USD", 0))
	for range 3 {
		e.Clock.Advance(time.Minute)
		if err := e.service.RunDue(ports.ForAllPlatforms(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[ident.Transaction]string{e.delivered: "COMPLETED", e.refunded: "FAILED (refund COMPLETED)", e.paid: "COMPLETED",
		e.deposited: "COMPLETED"} {
		if got := e.Transaction(id).State.String(); got != want {
			t.Fatalf("the payment is %s, not %s", got, want)
		}
	}
	return e
}

func (e *paidEnv) quote(r quote.Request) quote.Quote {
	e.t.Helper()
	created, err := e.service.CreateQuote(e.t.Context(), r, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return created.Quote
}

func (e *paidEnv) receive(q quote.Quote) ident.Transaction {
	e.t.Helper()
	if _, err := e.service.Receive(e.t.Context(), e.NewReceipt("RTP", q.Reference, q.Pricing.Sent), nil); err != nil {
		e.t.Fatal(err)
	}
	return q.Transaction
}

// deposit pays into an account by its reference.
func (e *paidEnv) deposit(to account.Internal) ident.Transaction {
	e.t.Helper()
	receipt := e.NewReceipt("RTP", to.Reference, money.Amount{Minor: 700, Currency: to.Currency})
	if _, err := e.service.Deposit(e.t.Context(), receipt, to.ID, nil); err != nil {
		e.t.Fatal(err)
	}
	return receipt.DepositID()
}

func TestCheck_FindsChangedTransactions(t *testing.T) {
	t.Parallel()
	// Whatever is changed of a transaction, its quote, its receipt or the owners of its accounts is found,
	// without the log: the postings say how it was.
	e := newPaidEnv(t)
	findings := func() (found []string) {
		t.Helper()
		for _, f := range e.check(e.Store.CheckTransactions).Findings {
			if f.Rule != audit.RuleTransactions {
				t.Errorf("%s", f)
			}
			found = append(found, f.Message)
		}
		return found
	}
	if found := findings(); len(found) > 0 {
		t.Fatalf("findings in unchanged data: %v", found)
	}
	tables := []string{"transactions", "quotes", "receipts", "internal_accounts", "external_accounts"}
	for _, table := range tables {
		e.execAsSuperuser("CREATE TABLE kept_" + table + " AS TABLE " + table)
	}
	e.execAsSuperuser("DROP INDEX internal_account_owner_currency_type_unique")

	for _, c := range []struct {
		damage, want string
		of           ident.Transaction
	}{
		{"UPDATE transactions SET status = 'FAILED'", "is FAILED with its funds DELIVERED", e.delivered},
		{"UPDATE transactions SET status = 'FAILED', refund_status = 'PENDING'", "should have the postings", e.delivered},
		{"UPDATE transactions SET status = 'PROCESSING'", "is PROCESSING with its funds DELIVERED", e.delivered},
		{"UPDATE transactions SET status = 'PROCESSING', stage = 'CONVERTED'", "should have the postings", e.delivered},
		{"UPDATE transactions SET status = 'COMPLETED'", "is COMPLETED (refund COMPLETED)", e.refunded},
		{"UPDATE transactions SET status = 'COMPLETED', refund_status = '', failure_reason = ''", "is COMPLETED with its funds CONVERTED",
			e.refunded},
		{"UPDATE transactions SET status = 'EXPIRED', failure_reason = ''", "is EXPIRED (refund COMPLETED) with its funds CONVERTED", e.refunded},
		{"UPDATE transactions SET failure_reason = 'QUOTE_EXPIRED'", `the reason "QUOTE_EXPIRED"`, e.delivered},
		{"UPDATE transactions SET direction = 'OUTGOING'", "should have the postings", e.deposited},
		{"UPDATE transactions SET sent_minor = sent_minor + 1", "its quote: ", e.delivered},
		{"UPDATE transactions SET sent_minor = sent_minor + 1, received_minor = received_minor + 1", "its amounts, accounts or reference",
			e.deposited},
		{"UPDATE transactions SET received_minor = received_minor - 1", "its quote: ", e.paid},
		{"UPDATE transactions SET received_currency = 'GBP'", "its amounts, accounts or reference", e.paid},
		{"UPDATE transactions SET funded_minor = funded_minor + 1", "it has received", e.delivered},
		{"UPDATE transactions SET funded_minor = 25000, funded_currency = 'USD'", "it has received", e.paid},
		{"UPDATE transactions SET source_account = 'rails/ACH'", "its amounts, accounts or reference", e.delivered},
		{"UPDATE transactions SET destination_account = 'chains/BASE'", "its amounts, accounts or reference", e.delivered},
		{"UPDATE transactions SET reference = 'other'", "its amounts, accounts or reference", e.deposited},
		{"UPDATE transactions SET customer_id = (SELECT customer_id FROM transactions WHERE id = '" + e.deposited.UUID().String() + "')",
			"the account that paid belongs to", e.paid},
		{"UPDATE transactions SET customer_id = NULL", "its account belongs to", e.deposited},
		{"UPDATE transactions SET customer_id = (SELECT customer_id FROM transactions WHERE id = '" + e.paid.UUID().String() + "')",
			"its account belongs to", e.deposited},
		{"UPDATE transactions SET source_internal = destination_internal", "and its ledger account is", e.paid},
		{"UPDATE transactions SET destination_internal = source_internal", "and its ledger account is", e.paid},
		{"UPDATE transactions SET destination_external = platform_id", "does not exist", e.delivered},
		{"UPDATE transactions SET source_rail = 'ACH'", "its receipt", e.delivered},
		{"UPDATE transactions SET receipt_id = NULL", "was funded and has no receipt", e.delivered},
		{"UPDATE transactions SET receipt_id = platform_id", "does not exist", e.delivered},
		{"UPDATE transactions SET receipt_id = (SELECT receipt_id FROM transactions WHERE id = '" + e.refunded.UUID().String() + "')",
			"has the reference", e.delivered},
		{"UPDATE transactions SET settled_at = settled_at + interval '1 day'", "it was settled at", e.delivered},
		{"UPDATE transactions SET settled_at = settled_at - interval '1 microsecond'", "it was settled at", e.delivered},
		{"UPDATE transactions SET settled_at = NULL", "it was settled at", e.paid},
		{"UPDATE transactions SET settled_at = settled_at + interval '1 microsecond'", "it was settled at", e.deposited},
		{"UPDATE transactions SET settled_at = now()", "no posting says so", e.refunded},
		{"UPDATE transactions SET refund_at = refund_at - interval '1 second'", "it was refunded at", e.refunded},
		{"UPDATE transactions SET refund_settled_at = refund_settled_at + interval '1 day'", "it was refund completed at", e.refunded},
		{"UPDATE transactions SET updated_at = updated_at + interval '1 day'", "it changed last at", e.paid},
		{"UPDATE transactions SET updated_at = updated_at - interval '1 day'", "it changed last at", e.refunded},
		{"UPDATE transactions SET created_at = created_at + interval '1 day'", "it was created at", e.delivered},
		{"DELETE FROM transactions", "has postings but does not exist", e.delivered},
		{"DELETE FROM quotes", "does not exist", e.paid},
		{"UPDATE quotes SET rate = '7'", "the rate gives", e.paid},
		{"UPDATE quotes SET market_rate = '7'", "the market rate gives", e.paid},
		{"UPDATE quotes SET fee_fraction = '0.5'", "its percentage gives", e.paid},
		{"UPDATE quotes SET fees = fees + 1", "the fees are", e.paid},
		{"UPDATE quotes SET fees = fees + 1, fee_fixed = fee_fixed + 1", "its quote: ", e.paid},
		{"UPDATE quotes SET fees = fees + 1, platform_fees = 1", "its quote: ", e.paid},
		{"UPDATE quotes SET fee_variable = fee_variable - 1, platform_fees = 1", "the variable fee of the service", e.paid},
		{"UPDATE quotes SET fee_fixed = 0, platform_fees = fee_fixed, platform_fee_fixed = fee_fixed", "its amounts, accounts", e.paid},
		{"UPDATE quotes SET rounding_sent = rounding_sent + 1", "its ", e.paid},
		{"UPDATE quotes SET reference = 'other'", "its amounts, accounts or reference", e.delivered},
		{"DELETE FROM receipts", "its receipt", e.delivered},
		{"UPDATE receipts SET amount = amount + 1", "its receipt", e.deposited},
		{"UPDATE receipts SET rail = 'ACH'", "its receipt", e.delivered},
		{"UPDATE receipts SET received_at = received_at + interval '1 second'", "was received at", e.deposited},
		{"UPDATE receipts SET reference = 'other'", "has the reference", e.delivered},
	} {
		key := "id"
		switch {
		case strings.Contains(c.damage, " quotes"):
			key = "transaction_id"
		case strings.Contains(c.damage, " receipts"):
			key = "id IN (SELECT receipt_id FROM kept_transactions WHERE id = '" + c.of.UUID().String() + "') OR id"
		}
		e.execAsSuperuser(c.damage + " WHERE " + key + " = '" + c.of.UUID().String() + "'")

		if found := findings(); len(found) != 1 || !strings.Contains(found[0], c.want) || !strings.Contains(found[0], c.of.String()) {
			t.Errorf("%s: findings %v, want one with %q of %s", c.damage, found, c.want, c.of)
		}
		e.restore(tables)
	}

	e.execAsSuperuser(`UPDATE internal_accounts a SET customer_id = b.customer_id FROM internal_accounts b
		WHERE a.currency = 'USD' AND b.currency = 'USD' AND a.id <> b.id AND a.customer_id IS NOT NULL AND b.customer_id IS NOT NULL`)
	if found := findings(); len(found) != 2 || !strings.Contains(strings.Join(found, " "), "the account that paid belongs to") ||
		!strings.Contains(strings.Join(found, " "), "its account belongs to") {
		t.Errorf("owners of two balances swapped: findings %v", found)
	}
	e.restore(tables)
	e.execAsSuperuser("UPDATE internal_accounts SET currency = 'GBP' WHERE currency = 'USDC'")
	if found := findings(); len(found) != 1 || !strings.Contains(found[0], "in GBP, and its ledger account is") {
		t.Errorf("the currency of a balance: findings %v", found)
	}
	e.restore(tables)
	if found := findings(); len(found) > 0 {
		t.Errorf("findings in restored data: %v", found)
	}
	e.execAsSuperuser("DELETE FROM external_accounts")
	if found := findings(); len(found) != 2 || !strings.Contains(found[0], "does not exist") {
		t.Errorf("external accounts deleted: findings %v", found)
	}
	e.execAsSuperuser("UPDATE customers SET deleted_at = now()")
	if found := findings(); len(found) > 0 {
		t.Errorf("external accounts erased with their customers: findings %v", found)
	}
}

// restore puts back what newPaidEnv had.
func (e *paidEnv) restore(tables []string) {
	e.t.Helper()
	for _, table := range tables {
		e.execAsSuperuser("DELETE FROM " + table + "; INSERT INTO " + table + " SELECT * FROM kept_" + table)
	}
}
