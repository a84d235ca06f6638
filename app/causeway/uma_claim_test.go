package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/payments"
	"causeway/app/receivers"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	rules "causeway/core/uma"
	"causeway/ledger"
	"causeway/ports"
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

// keyed is a request with an idempotency key.
func (s *umaSide) keyed(key string) *ports.IdempotentRequest {
	render := func(_ any, err error) (int, []byte) {
		if f, is := fault.As(err); is {
			return f.Code.Status(), []byte(f.Message)
		}
		return http.StatusCreated, nil
	}
	return &ports.IdempotentRequest{Platform: s.Platform.ID, Token: s.Admin.Token, Key: key, Fingerprint: [32]byte{1}, Render: render}
}

// invoicedTo returns an invoice of 25.00, and a request of a customer that pays it at once: of ana at the other provider, or of somebody at
// that of bo.
func invoicedTo(ana, bo *umaSide, minor int64, within bool) (of *umaSide, id uuid.UUID, from account.Internal, request quote.Request) {
	of, payer := ana, ana.Customer
	if within {
		of, payer = bo, bo.NewCustomer("cleo")
	}
	made := bo.invoice(nil)
	from = of.NewInternalAccount(payer.ID, of.Platform.Currencies[0].Code, minor)
	found, err := of.receivers.LookupUMAAddress(of.t.Context(), of.Platform.ID, made.Text, receivers.Sender{Customer: payer.ID})
	if err != nil {
		of.t.Fatal(err)
	}
	request = of.payInvoice(from, found)
	request.Source.Customer, request.ExecuteImmediately = payer.ID, true
	return of, made.Invoice.ID, from, request
}

func TestUMAInvoice_ImmediateExecutionIsRepeated(t *testing.T) {
	t.Parallel()
	// The process that has quoted an invoice is killed before it executes the quote. The same request, sent again, executes that quote.
	// Another request is refused meanwhile, and the invoice is paid once.
	for name, within := range map[string]bool{"another provider": false, "the same platform": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ana, bo := newUMASides(t)
			of, id, _, request := invoicedTo(ana, bo, 1_000_00, within)
			quotes := func() string {
				return of.QueryStrings(`SELECT count(*)::text FROM transactions WHERE direction = 'OUTGOING'`)[0]
			}
			of.mu.Lock()
			of.loses = func() bool { return quotes() != "0" }
			of.mu.Unlock()
			if _, err := of.payments.CreateQuote(t.Context(), request, of.keyed("one")); !fault.Is(err, fault.ServiceUnavailable) {
				t.Fatalf("the first attempt: %v", err)
			}
			of.mu.Lock()
			of.loses = nil
			of.mu.Unlock()
			if _, err := of.payments.CreateQuote(t.Context(), request, of.keyed("two")); !fault.Is(err, fault.Conflict) {
				t.Errorf("another request: %v", err)
			}

			created, err := of.payments.CreateQuote(t.Context(), request, of.keyed("one"))

			if err != nil || created.Status != quote.Processing && created.Status != quote.Completed {
				t.Fatalf("the same request: %s, %v", created.Status, err)
			}
			var replay *ports.Replay
			if _, err := of.payments.CreateQuote(t.Context(), request, of.keyed("one")); !errors.As(err, &replay) {
				t.Errorf("once more: %v", err)
			}
			of.waitFor(created.Quote.Transaction, transaction.Completed)
			bo.wantInvoice(id, rules.InvoicePaid)
			if n := quotes(); n != "1" {
				t.Errorf("%s quotes", n)
			}
			of.wantExplained()
		})
	}
}

func TestUMAInvoice_ImmediateExecutionIsSentAtOnceAgain(t *testing.T) {
	t.Parallel()
	// The same request arrives several times at once, as at several processes. There is one quote with one event, and each gets its response
	// or a temporary fault.
	for name, within := range map[string]bool{"another provider": false, "the same platform": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ana, bo := newUMASides(t)
			of, id, _, request := invoicedTo(ana, bo, 1_000_00, within)
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() {
					_, err := of.payments.CreateQuote(t.Context(), request, of.keyed("one"))
					var replay *ports.Replay
					if errors.As(err, &replay) && replay.Status != http.StatusCreated || err != nil && replay == nil &&
						!fault.Is(err, fault.ServiceUnavailable) {
						t.Error(err)
					}
				})
			}
			wait.Wait()

			if _, err := of.payments.CreateQuote(t.Context(), request, of.keyed("one")); err == nil {
				t.Error("nobody got the response")
			}
			paid := of.QueryStrings(`SELECT id::text FROM transactions WHERE direction = 'OUTGOING'`)
			if len(paid) != 1 {
				t.Fatalf("payments: %v", paid)
			}
			if n := of.QueryStrings(`SELECT count(*)::text FROM quotes WHERE transaction_id = '` + paid[0] + `'`)[0]; n != "1" {
				t.Errorf("%s quotes", n)
			}
			var payment ident.Transaction
			payment.SetUUID(uuid.MustParse(paid[0]))
			of.waitFor(payment, transaction.Completed)
			bo.wantInvoice(id, rules.InvoicePaid)
			of.WantEvents(payment, "OUTGOING_PAYMENT.PENDING", "OUTGOING_PAYMENT.PROCESSING", "OUTGOING_PAYMENT.COMPLETED")
		})
	}
}

func TestUMAInvoice_RefusedImmediateExecutionLeavesItPayable(t *testing.T) {
	t.Parallel()
	// The account holds too little for a quote that is executed at once. Nobody can execute that quote later, so it ends, and the invoice can
	// be paid by the next request.
	for name, within := range map[string]bool{"another provider": false, "the same platform": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ana, bo := newUMASides(t)
			of, id, from, request := invoicedTo(ana, bo, 1, within)

			if _, err := of.payments.CreateQuote(t.Context(), request, of.keyed("one")); !fault.Is(err, fault.InsufficientBalance) {
				t.Fatalf("without money: %v", err)
			}

			if states := of.QueryStrings(`SELECT status FROM transactions WHERE direction = 'OUTGOING'`); !slices.Equal(states, []string{"EXPIRED"}) {
				t.Errorf("payments: %v", states)
			}
			now := of.Clock.Now()
			of.Post(ledger.Deposit(ledger.Header{ID: of.IDs.New(now), Platform: of.Platform.ID, Effective: now}, ledger.IncomingFunds{
				Partner: "rails/WIRE", To: from.LedgerPath(), Amount: money.Amount{Minor: 1_000_00, Currency: from.Currency}}))
			created, err := of.payments.CreateQuote(t.Context(), request, of.keyed("two"))
			if err != nil {
				t.Fatal(err)
			}
			of.waitFor(created.Quote.Transaction, transaction.Completed)
			bo.wantInvoice(id, rules.InvoicePaid)
		})
	}
}

func TestUMAInvoice_QuoteThatIsMadeIsNoFinalAnswer(t *testing.T) {
	t.Parallel()
	// While a quote of an invoice is being made, or was when its process was killed, a request with an idempotency key gets a temporary fault,
	// because its answer would be stored. Sent again after that, it pays.
	ana, bo := newUMASides(t)
	of, id, _, request := invoicedTo(ana, bo, 1_000_00, false)
	err := of.Exec(`UPDATE uma_invoices SET asked_until = '` + of.Clock.Now().Add(time.Minute).Format(time.RFC3339Nano) + `'`)
	if err != nil {
		t.Fatal(err)
	}

	_, err = of.payments.CreateQuote(t.Context(), request, of.keyed("one"))

	if f, is := fault.As(err); !is || f.Code != fault.ServiceUnavailable || f.RetryAfter != time.Minute {
		t.Errorf("reserved: %v", err)
	}
	of.Clock.Advance(time.Minute)
	created, err := of.payments.CreateQuote(t.Context(), request, of.keyed("one"))
	if err != nil {
		t.Fatal(err)
	}
	of.waitFor(created.Quote.Transaction, transaction.Completed)
	bo.wantInvoice(id, rules.InvoicePaid)
}
