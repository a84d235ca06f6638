package payments_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// internalPayout is a payout of 12.50 dollars from a second customer to Ana, who has paid it by RTP. It is in
// transit, and no job delivers it.
func (env *env) internalPayout(names ...string) ports.Payout {
	name := append(names, "ben")[0]
	ben := env.NewCustomer(name, func(c *customer.Customer) { c.FullName = "Ben Berg" })
	sent := transaction.Transaction{ID: ident.NewTransaction(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: ben.ID,
		Type: transaction.Outgoing, State: transaction.State{Status: transaction.Processing, Stage: transaction.Converted},
		SourceAccount: "rails/RTP", DestinationRail: transaction.UMARail, DestinationAccount: "rails/UMA",
		Destination: transaction.Endpoint{UMA: env.Customer.UMAAddress}, Pricing: transaction.AtPar(money.Amount{Minor: 12_50, Currency: "USD"}),
		SourceRail: "RTP", Funded: money.Amount{Minor: 12_50, Currency: "USD"},
		CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon}
	sent.Payee = sent.PayeeDigest(nil)
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{sent})
	})
	header := func(kind ledger.Kind) ledger.Header {
		return ledger.Header{ID: ledger.DerivedID(sent.ID.UUID(), kind, 0), Platform: env.Platform.ID, Transaction: sent.ID,
			Effective: apptest.Noon}
	}
	env.Post(ledger.JITReceived(header(ledger.KindJITReceived), sent.SourceAccount, sent.Pricing.Sent),
		ledger.TransferOut(header(ledger.KindTransferOut), ledger.OutgoingFunds{From: ledger.FundingJIT, To: ledger.TransitPayouts,
			Amount: sent.Pricing.Sent}))
	return ports.Payout{Transaction: sent}
}

func TestReceiveInternal_CreditsReceiver(t *testing.T) {
	t.Parallel()
	// A payment from one customer to another is received like any other: its platform must approve
	// it. Repeated calls are about the same payment.
	for what, c := range map[string]struct {
		status  int
		want    transaction.Status
		outcome ports.Outcome
	}{
		"approved": {200, transaction.Completed, ports.Outcome{Verdict: ports.Done}},
		"rejected": {403, transaction.Failed, ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: transaction.CounterpartyPostFailed}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			env.approvals.set(c.status, "")
			sent := env.internalPayout()

			first, ours, err := env.ReceiveInternal(t.Context(), sent.Transaction)
			if err != nil || !ours || first.Verdict != ports.Waiting || !first.Accepted || !first.RetryAt.After(apptest.Noon) {
				t.Fatalf("%+v, %v, %v", first, ours, err)
			}
			received := env.waitForStatus(transaction.CounterpartID(sent.Transaction.ID), c.want)
			repeated, ours, err := env.ReceiveInternal(t.Context(), sent.Transaction)

			if err != nil || !ours || repeated != c.outcome {
				t.Errorf("%+v, %v, %v", repeated, ours, err)
			}
			if received.Source.UMA != "$ben@uma.test" || received.Counterparty["FULL_NAME"] != "Ben Berg" || len(env.approvals.all()) != 1 {
				t.Errorf("%+v, %d requests for approval", received, len(env.approvals.all()))
			}
			if c.want == transaction.Completed {
				env.WantBalances(map[string]int64{"rails/RTP USD": 12_50, env.dollars.LedgerPath() + " USD": -12_50})
			} else {
				env.WaitForState(sent.Transaction.ID, "FAILED (refund COMPLETED)")
				env.WantBalances(nil)
			}
		})
	}
}

// payAna pays 12.50 dollars from the balance of Ben to the UMA address of Ana, and returns the ids of both
// transactions when the second exists.
func (env *env) payAna(t *testing.T) (sent, received ident.Transaction) {
	t.Helper()
	ben := env.NewCustomer("ben", func(c *customer.Customer) { c.FullName = "Ben Berg" })
	from := env.account(ben.ID, "USD", 100_00)
	lookup := quote.Lookup{ID: ident.NewLookup(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: ben.ID,
		SenderUMA:   ben.UMAAddress,
		ReceiverUMA: env.Customer.UMAAddress, Currencies: []money.Currency{"USD"}, CreatedAt: apptest.Noon,
		ExpiresAt: apptest.Noon.Add(quote.LookupValidity)}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateLookup(ctx, lookup) })
	created, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: from.ID},
		Destination: quote.Destination{UMA: env.Customer.UMAAddress}, Lookup: lookup.ID, Side: quote.Sending, Amount: 12_50,
		ExecuteImmediately: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sent, received = created.Quote.Transaction, transaction.CounterpartID(created.Quote.Transaction)
	ctx, cancel := context.WithTimeout(t.Context(), apptest.WaitTimeout)
	defer cancel()
	for {
		if _, err = env.Store.Transaction(ctx, env.Platform.ID, received); err == nil {
			return sent, received
		} else if !fault.Is(err, fault.TransactionNotFound) {
			t.Fatal(err)
		}
	}
}

func TestInternalPayment_BothSidesInOneCommit(t *testing.T) {
	t.Parallel()
	// However a payment between two customers is decided, both sides are settled in one commit, without any account at
	// a partner, and each sends its own events.
	for what, c := range map[string]struct {
		status int
		decide func(*testing.T, *env, ident.Transaction)
		want   transaction.Status
	}{
		"approved by the endpoint": {status: 200, want: transaction.Completed},
		"approved later": {status: 202, want: transaction.Completed, decide: func(t *testing.T, env *env, id ident.Transaction) {
			other := newService(env.Env, env.Store, env.approvals)
			if _, err := other.Approve(t.Context(), env.Platform.ID, id, nil, nil); err != nil {
				t.Error(err)
			}
		}},
		"rejected by the endpoint": {status: 403, want: transaction.Failed},
		"rejected later": {status: 202, want: transaction.Failed, decide: func(t *testing.T, env *env, id ident.Transaction) {
			if _, err := env.Reject(t.Context(), env.Platform.ID, id, "no", nil); err != nil {
				t.Error(err)
			}
		}},
		"timed out": {status: 202, want: transaction.Failed, decide: func(_ *testing.T, env *env, _ ident.Transaction) {
			env.Clock.Advance(transaction.ApprovalTimeout)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			env.approvals.set(c.status, "")
			sentID, receivedID := env.payAna(t)
			if c.decide != nil {
				env.waitForIncomingState(t, receivedID, transaction.ApprovalPending)
				c.decide(t, env, receivedID)
			}

			received := env.waitForStatus(receivedID, c.want)

			sent := env.Transaction(sentID)
			if sent.State.Status != c.want || received.SentBy != sentID {
				t.Errorf("received: %+v\nsent: %+v", received, sent)
			}
			from := sent.SourceAccount + " USD"
			if c.want == transaction.Failed {
				env.WaitForState(sentID, "FAILED (refund COMPLETED)")
				env.wantOutgoingEvents(sentID, "PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
				env.WantBalances(map[string]int64{"rails/WIRE USD": 100_00, from: -100_00})
				return
			}
			env.wantOutgoingEvents(sentID, "PENDING", "PROCESSING", "COMPLETED")
			env.wantIncomingEvents(t, receivedID, "INCOMING_PAYMENT.COMPLETED")
			env.WantBalances(map[string]int64{"rails/WIRE USD": 100_00, from: -87_50, env.dollars.LedgerPath() + " USD": -12_50})
			env.WantEntries(receivedID, "deposit transit/internal "+env.dollars.LedgerPath()+" 1250 USD")
			if commits := env.QueryStrings("SELECT count(DISTINCT xmin::text)::text FROM ledger_postings WHERE kind IN ('delivered', 'deposit') " +
				"AND transaction_id IS NOT NULL"); commits[0] != "1" {
				t.Errorf("settled in %s commits", commits[0])
			}
		})
	}
}

func TestInternalPayment_OfEarlierRelease(t *testing.T) {
	t.Parallel()
	// A payment that an earlier release received does not name its sender. It is settled as before, in two commits
	// through the rail, whichever release decides it.
	env := newReceivingEnv(t)
	env.approvals.set(202, "")
	sent := env.internalPayout()
	if _, _, err := env.ReceiveInternal(t.Context(), sent.Transaction); err != nil {
		t.Fatal(err)
	}
	received := env.waitForIncomingState(t, transaction.CounterpartID(sent.Transaction.ID), transaction.ApprovalPending)
	received.SentBy = ident.Transaction{}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.UpdateTransactions(ctx, []transaction.Transaction{received})
	})

	if _, err := env.Approve(t.Context(), env.Platform.ID, received.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	if between := env.Transaction(sent.Transaction.ID); !between.State.InTransit() {
		t.Errorf("the sender's payment is %s", between.State)
	}
	env.WantBalances(map[string]int64{"rails/RTP USD": 12_50, "rails/UMA USD": 12_50, "transit/payouts USD": -12_50,
		env.dollars.LedgerPath() + " USD": -12_50})
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.AddJobs(ctx, []ports.Job{{ID: env.IDs.New(apptest.Noon), Platform: env.Platform.ID, Step: transaction.StepDeliver,
			Due: apptest.Noon, Subjects: []uuid.UUID{sent.Transaction.ID.UUID()}}})
	})
	env.waitForStatus(sent.Transaction.ID, transaction.Completed)

	env.WantBalances(map[string]int64{"rails/RTP USD": 12_50, env.dollars.LedgerPath() + " USD": -12_50})
}

func TestReceiveInternal_OtherReceivers(t *testing.T) {
	t.Parallel()
	// Payouts to others are not internal. A payment to a customer who cannot receive is refused.
	env := newReceivingEnv(t)
	sent := env.internalPayout()
	elsewhere, closed := sent, sent
	elsewhere.Transaction.Destination.UMA = "$success.usd@sandbox.uma.test"
	pending := env.NewCustomer("eve", func(c *customer.Customer) { c.Status = customer.Pending })
	closed.Transaction.Destination.UMA = pending.UMAAddress

	if _, ours, err := env.ReceiveInternal(t.Context(), elsewhere.Transaction); err != nil || ours {
		t.Errorf("elsewhere: %v, %v", ours, err)
	}
	refused, ours, err := env.ReceiveInternal(t.Context(), closed.Transaction)
	if err != nil || !ours || refused.Verdict != ports.Refused || refused.Reason != transaction.CounterpartyPostFailed {
		t.Errorf("not ready: %+v, %v, %v", refused, ours, err)
	}

	// Once it is refused, a process that found the receiver ready before does not pay it either.
	if outcome, _, err := env.ReceiveInternal(t.Context(), sent.Transaction); err == nil {
		t.Errorf("a refused payment is received: %+v", outcome)
	}
}

func TestReceiveInternal_ReceiverWithoutAddressMeanwhile(t *testing.T) {
	t.Parallel()
	// A payment that waits for its approval stays the same payment if its receiver is deleted or gets
	// another address: it is not sent to another provider as well.
	for what, change := range map[string]string{
		"deleted":         "UPDATE customers SET deleted_at = now() WHERE uma_address = ",
		"another address": "UPDATE customers SET uma_address = '$anna@uma.test' WHERE uma_address = ",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			sent := env.internalPayout()
			if _, ours, err := env.ReceiveInternal(t.Context(), sent.Transaction); err != nil || !ours {
				t.Fatalf("%v, %v", ours, err)
			}
			if err := env.Exec(change + "'" + env.Customer.UMAAddress + "'"); err != nil {
				t.Fatal(err)
			}

			outcome, ours, err := env.ReceiveInternal(t.Context(), sent.Transaction)

			if err != nil || !ours || outcome.Verdict != ports.Waiting {
				t.Errorf("%+v, %v, %v", outcome, ours, err)
			}
		})
	}
}

// failingStore cannot read the customer at one UMA address.
type failingStore struct{ payments.Store }

func (s failingStore) Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	switch f.UMAAddress {
	case "$down@uma.test":
		return ports.Page[customer.Customer]{}, errors.New("unexpected EOF")
	case "$full@uma.test":
		return ports.Page[customer.Customer]{}, fmt.Errorf("read: %w", ports.ErrStoreUnavailable)
	}
	return s.Store.Customers(ctx, p, f)
}

func TestSend_OutcomesInOrder(t *testing.T) {
	t.Parallel()
	// Payouts to customers of the platform are delivered within the service, all others by the
	// rail, and each has its own outcome. After a failed read the rail is not called, and while the store
	// is not available the payment waits.
	env := newReceivingEnv(t)
	service := newService(env.Env, failingStore{env.Store}, env.approvals)
	first, second, account := env.internalPayout(), env.internalPayout("benno"), ports.Payout{}
	to := func(address string) (p ports.Payout) {
		p.Transaction.Destination.UMA, p.Transaction.Platform = address, env.Platform.ID
		return p
	}
	other, failing, unavailable := to("$bo@other.test"), to("$down@uma.test"), to("$full@uma.test")
	var sent []ports.Payout
	env.Rail.OnSend = func(_ context.Context, payouts []ports.Payout) []ports.Outcome {
		sent = payouts
		return apptest.AllOutcomes[ports.Payout](ports.Outcome{Verdict: ports.Done})(nil, payouts)
	}

	got := service.Send(t.Context(), env.Rail, []ports.Payout{first, other, failing, account, second, unavailable})

	done, waiting := ports.Outcome{Verdict: ports.Done}, ports.Outcome{Verdict: ports.Waiting, Accepted: true,
		RetryAt: apptest.Noon.Add(time.Second)}
	later := ports.Outcome{Verdict: ports.Waiting, RetryAt: apptest.Noon.Add(5 * time.Second)}
	if want := []ports.Outcome{waiting, done, {Verdict: ports.Unknown}, done, waiting, later}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := []ports.Payout{other, account}; !reflect.DeepEqual(sent, want) {
		t.Errorf("the rail sent %+v, want %+v", sent, want)
	}
}

func TestSend_WrongNumberOfOutcomesIsNone(t *testing.T) {
	t.Parallel()
	// If the rail returns fewer or more outcomes than it was sent payouts, it is unknown which belongs
	// to which, and none is used.
	env := newReceivingEnv(t)
	internal, other := env.internalPayout(), ports.Payout{}
	other.Transaction.Destination.UMA, other.Transaction.Platform = "$bo@other.test", env.Platform.ID
	for n := range 4 {
		if n == 2 {
			continue // the right number
		}
		env.Rail.OnSend = func(context.Context, []ports.Payout) []ports.Outcome {
			return slices.Repeat([]ports.Outcome{{Verdict: ports.Done}}, n)
		}
		if got := env.Send(t.Context(), env.Rail, []ports.Payout{internal, other, other}); len(got) != 0 {
			t.Errorf("%d outcomes of the rail became %+v", n, got)
		}
	}
}
