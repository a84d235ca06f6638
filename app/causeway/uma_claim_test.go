package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/app/payments"
	"causeway/app/receivers"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/transaction"
	rules "causeway/core/uma"
)

func TestUMAInvoice_RefusedQuoteLeavesItPayable(t *testing.T) {
	t.Parallel()
	// A quote that is refused after bo's provider has answered keeps nobody from the invoice: the next one is made at once, in place of
	// that payment, whose Lightning invoice nobody can pay any more.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	made := bo.invoice(ana)
	found, err := ana.lookUpInvoice(made.Text)
	if err != nil {
		t.Fatal(err)
	}
	bo.answerWith(func(path string, body []byte) []byte {
		if strings.HasPrefix(path, "/uma/payreq/") {
			return []byte(strings.Replace(string(body), `"amount":2500`, `"amount":2400`, 1))
		}
		return body
	})
	if _, err := ana.payments.CreateQuote(t.Context(), ana.payInvoice(dollars, found), nil); !fault.Is(err, fault.PayreqRequestFailed) {
		t.Fatalf("a changed answer: %v", err)
	}
	bo.answerWith(nil)
	refused := bo.incoming()[0]
	bo.wantInvoice(made.Invoice.ID, rules.InvoiceProcessing)
	ana.wantInvoice(made.Invoice.ID, rules.InvoicePending)

	second, err := ana.payments.CreateQuote(t.Context(), ana.payInvoice(dollars, found), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ended := bo.waitFor(refused.ID, transaction.Failed); ended.State.Reason != transaction.QuoteExpired {
		t.Errorf("the first one: %+v", ended.State)
	}
	if cancelled := ana.network.cancelled(); cancelled != 1 {
		t.Errorf("%d Lightning invoices are cancelled", cancelled)
	}
	if _, err := ana.payments.ExecuteQuote(t.Context(), ana.Platform.ID, second.Quote.ID, nil); err != nil {
		t.Fatal(err)
	}
	ana.waitFor(second.Quote.Transaction, transaction.Completed)
	for _, side := range []*umaSide{ana, bo} {
		side.wantInvoice(made.Invoice.ID, rules.InvoicePaid)
		side.wantExplained()
	}
	if paid := ana.network.paid(); paid != 1 {
		t.Errorf("%d payments", paid)
	}
}

func TestUMAInvoice_PayRequestsReplaceEachOther(t *testing.T) {
	t.Parallel()
	// Who asks again gets another Lightning invoice, and the one before is cancelled. Somebody else does not, until that has expired, and
	// nobody when it was paid. A payment that is replaced while its Lightning invoice is made has none.
	_, bo := newUMASides(t)
	made := bo.invoice(nil)
	request := func(sender string) (payments.UMAInvoice, error) {
		return bo.payments.InvoiceUMAPayment(t.Context(), bo.Platform, payments.UMAPayRequest{Sender: sender,
			Receiver: bo.Customer.UMAAddress, Ask: rules.Ask{Currency: "EUR", Amount: 25_00}, Facts: map[string]string{"FULL_NAME": "Ana"},
			Invoice: made.Invoice.ID})
	}
	wantRefused := func(what string, err error) {
		t.Helper()
		if refused, is := errors.AsType[*rules.Refusal](err); !is || refused.Reason != rules.InvalidInvoice {
			t.Errorf("%s: %v", what, err)
		}
	}
	first, err := request("$ana@bank.test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = request("$eve@bank.test")
	wantRefused("somebody else", err)

	second, err := request("$ana@bank.test")
	if err != nil {
		t.Fatal(err)
	}
	bo.waitFor(first.Transaction, transaction.Failed)

	var inner payments.UMAInvoice
	bo.mu.Lock()
	bo.beforeInvoice = func() { inner, err = request("$ana@bank.test") }
	bo.mu.Unlock()
	_, outer := request("$ana@bank.test")
	wantRefused("replaced meanwhile", outer)
	if err != nil || inner.Invoice.Request == "" {
		t.Fatalf("%+v, %v", inner, err)
	}
	bo.waitFor(second.Transaction, transaction.Failed)
	if open := len(bo.network.invoices) - bo.network.cancelled(); open != 1 {
		t.Errorf("%d Lightning invoices can be paid", open)
	}

	bo.Clock.Advance(inner.Invoice.ExpiresAt.Sub(bo.Clock.Now()))
	last, err := request("$eve@bank.test")
	if err != nil {
		t.Fatalf("somebody else, after it has expired: %v", err)
	}
	bo.network.receive(t, last.Invoice.Request)
	bo.waitFor(last.Transaction, transaction.Completed)
	_, err = request("$eve@bank.test")
	wantRefused("after it was paid", err)
	if status := bo.wantInvoice(made.Invoice.ID, rules.InvoicePaid); status.Payment != last.Transaction {
		t.Errorf("%+v", status)
	}
	bo.wantExplained()
}

func TestUMAInvoice_RefusedPayRequestCancelsNothing(t *testing.T) {
	t.Parallel()
	// Who asks again and is refused, because the price is out of the limits now, can still pay the Lightning invoice before.
	_, bo := newUMASides(t)
	made := bo.invoice(nil)
	request := func(on platform.Platform) (payments.UMAInvoice, error) {
		return bo.payments.InvoiceUMAPayment(t.Context(), on, payments.UMAPayRequest{Sender: "$ana@bank.test",
			Receiver: bo.Customer.UMAAddress, Ask: rules.Ask{Currency: "EUR", Amount: 25_00}, Facts: map[string]string{"FULL_NAME": "Ana"},
			Invoice: made.Invoice.ID})
	}
	first, err := request(bo.Platform)
	if err != nil {
		t.Fatal(err)
	}
	limited := bo.Platform
	limited.Currencies = slices.Clone(limited.Currencies)
	for i := range limited.Currencies {
		limited.Currencies[i].MaxAmount = 24_99
	}

	_, err = request(limited)

	if refused, is := errors.AsType[*rules.Refusal](err); !is || refused.Reason != rules.AmountOutOfRange {
		t.Fatalf("above the maximum: %v", err)
	}
	if !bo.network.receive(t, first.Invoice.Request) {
		t.Fatal("the first Lightning invoice cannot be paid any more")
	}
	bo.waitFor(first.Transaction, transaction.Completed)
	bo.wantInvoice(made.Invoice.ID, rules.InvoicePaid)
}

func TestUMAInvoice_NodeFailsAtEachCall(t *testing.T) {
	t.Parallel()
	// Pay requests of one sender for a UMA invoice run beside each other and again, while the node fails in one of its calls, before or after
	// that has taken effect. Then the sender pays every Lightning invoice that it got: one payment is taken, and credited.
	errAway := errors.New("the node is away")
	for _, takesEffect := range []bool{false, true} {
		for failing := range 8 {
			t.Run(fmt.Sprintf("%d %v", failing, takesEffect), func(t *testing.T) {
				t.Parallel()
				_, bo := newUMASides(t)
				made := bo.invoice(nil)
				var mu sync.Mutex
				var given []string
				request := func() {
					answer, err := bo.payments.InvoiceUMAPayment(t.Context(), bo.Platform, payments.UMAPayRequest{Sender: "$ana@bank.test",
						Receiver: bo.Customer.UMAAddress, Ask: rules.Ask{Currency: "EUR", Amount: 25_00}, Facts: map[string]string{"FULL_NAME": "Ana"},
						Invoice: made.Invoice.ID})
					if err == nil {
						mu.Lock()
						given = append(given, answer.Invoice.Request)
						mu.Unlock()
					}
				}
				// The second request has asked the node about the payment of the first when that gets its Lightning invoice, and goes on
				// after it.
				asked, goesOn, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
				calls := 0
				bo.mu.Lock()
				bo.call = func(do func() error) (err error) {
					mu.Lock()
					call := calls
					calls++
					mu.Unlock()
					if call != failing || takesEffect {
						err = do()
					}
					if call == 0 {
						close(asked)
						<-goesOn
					}
					if call == failing {
						err = errAway
					}
					return err
				}
				bo.beforeInvoice = func() {
					go func() {
						defer close(second)
						request()
					}()
					<-asked
				}
				bo.mu.Unlock()
				request()
				close(goesOn)
				<-second
				request()
				bo.mu.Lock()
				bo.call = nil
				bo.mu.Unlock()
				request()

				taken, credited := 0, 0
				for _, text := range given {
					if bo.network.receive(t, text) {
						taken++
					}
				}
				for _, payment := range bo.incoming() {
					if payment.State.Status == transaction.Completed {
						credited++
					}
				}
				if taken != 1 || credited != 1 {
					t.Errorf("of %d Lightning invoices %d were paid, and %d credited", len(given), taken, credited)
				}
				bo.wantInvoice(made.Invoice.ID, rules.InvoicePaid)
				bo.wantExplained()
			})
		}
	}
}

func TestUMAInvoice_QuoteThatIsMadeKeepsOthersAway(t *testing.T) {
	t.Parallel()
	// While the other provider is asked for the Lightning invoice of a quote, no second quote asks it too. If the process is killed then,
	// the next quote is possible after a minute.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	made := bo.invoice(ana)
	found, err := ana.lookUpInvoice(made.Text)
	if err != nil {
		t.Fatal(err)
	}
	create := func(found receivers.LookupResult) error {
		_, err := ana.payments.CreateQuote(t.Context(), ana.payInvoice(dollars, found), nil)
		return err
	}
	bo.mu.Lock()
	bo.beforeInvoice = func() { err = create(found) }
	bo.mu.Unlock()
	if first := create(found); first != nil || !fault.Is(err, fault.Conflict) {
		t.Errorf("%v, and meanwhile %v", first, err)
	}
	if len(bo.incoming()) != 1 {
		t.Errorf("bo's provider was asked %d times", len(bo.incoming()))
	}

	other := bo.invoice(ana)
	if found, err = ana.lookUpInvoice(other.Text); err != nil {
		t.Fatal(err)
	}
	// As a process leaves it that is killed.
	err = ana.Exec(`UPDATE uma_invoices SET asked_until = '` + ana.Clock.Now().Add(time.Minute).Format(time.RFC3339Nano) +
		`' WHERE transaction_id IS NULL`)
	if err != nil {
		t.Fatal(err)
	}
	if err := create(found); !fault.Is(err, fault.Conflict) {
		t.Errorf("reserved: %v", err)
	}
	ana.Clock.Advance(time.Minute)
	bo.Clock.Advance(time.Minute)
	if err := create(found); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// answerWith changes the answers of this provider; nil for none.
func (s *umaSide) answerWith(change func(path string, body []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change = change
}

// cancelled returns how many invoices were cancelled.
func (n *lightningNetwork) cancelled() (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, invoice := range n.invoices {
		if invoice.cancelled {
			count++
		}
	}
	return count
}
