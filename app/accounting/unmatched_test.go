package accounting_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// listUnmatched reads the whole list, oldest first, in pages of two.
func (e *env) listUnmatched(t *testing.T, assigned *bool) []transaction.Unmatched {
	t.Helper()
	var all []transaction.Unmatched
	f := ports.UnmatchedFilter{Assigned: assigned, Limit: 2, Ascending: true}
	for {
		page, err := e.accounting.Unmatched(t.Context(), e.Admin.Platform, f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
		if !page.More {
			return all
		}
		f.After = page.Items[len(page.Items)-1].Posting
	}
}

func (e *env) wantBalances(t *testing.T, want map[string]string) {
	t.Helper()
	got := e.balances(t)
	for key, w := range want {
		if got[key] != w {
			t.Errorf("%s: %q, want %s", key, got[key], w)
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("and %v", got)
	}
}

func TestUnmatched_ListsAll(t *testing.T) {
	t.Parallel()
	// Every unmatched payment is listed with its assignment, also several of one millisecond;
	// matched payments are not.
	env := newEnv(t)
	var want []ident.Receipt
	for range 5 {
		want = append(want, env.receivePayment(t, "unknown", 100))
	}
	env.receivePayment(t, env.createQuote(t, "spark1good", 10050).Reference, 10050)
	account := env.NewInternalAccount(env.Customer.ID, "USD", 0)

	if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, ana(env.Admin), accounting.AssignCommand{Receipt: want[2],
		Account: account.ID, Note: "rent"}, nil); err != nil {
		t.Fatal(err)
	}

	yes, no := true, false
	for name, c := range map[string]struct {
		assigned *bool
		want     []ident.Receipt
	}{
		"all": {nil, want}, "assigned": {&yes, want[2:3]}, "not yet": {&no, []ident.Receipt{want[0], want[1], want[3], want[4]}},
	} {
		got := env.listUnmatched(t, c.assigned)
		if len(got) != len(c.want) {
			t.Fatalf("%s: %+v, want %v", name, got, c.want)
		}
		for i, u := range got {
			if u.Receipt.ID != c.want[i] || u.Receipt.Amount.Minor != 100 || u.Receipt.Reference != "unknown" ||
				u.Kind != ledger.KindUnmatchedReceived {
				t.Errorf("%s: at %d %+v, want %s", name, i, u, c.want[i])
			}
			if a := u.Assignment; (a != nil) != (u.Receipt.ID == want[2]) || a != nil && (a.Note != "rent" || a.By != ana(env.Admin) ||
				a.Account != account.ID) {
				t.Errorf("%s: at %d assigned %+v", name, i, a)
			}
		}
	}
	if others, err := env.accounting.Unmatched(t.Context(), newPlatformID(), ports.UnmatchedFilter{Limit: 5}); err != nil ||
		len(others.Items) > 0 {
		t.Errorf("another platform sees %v, %v", others, err)
	}
}

func TestCountUnmatched(t *testing.T) {
	t.Parallel()
	// Those that wait are counted up to a limit, whatever was assigned before or after them.
	env := newEnv(t)
	account := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	want := func(when string, n int) {
		t.Helper()
		if got, err := env.accounting.CountUnmatched(t.Context(), env.Admin.Platform, 3); err != nil || got != n {
			t.Errorf("%s: %d, %v; want %d", when, got, err, n)
		}
	}
	want("none", 0)
	var receipts []ident.Receipt
	for range 4 {
		receipts = append(receipts, env.receivePayment(t, "unknown", 100))
	}
	for assigned, r := range []int{3, 2, 0, 1} {
		want(fmt.Sprint(assigned, " are assigned"), min(4-assigned, 3))
		if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, ana(env.Admin), accounting.AssignCommand{
			Receipt: receipts[r], Account: account.ID, Note: "rent"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	want("all are assigned", 0)
}

func TestAssignUnmatched_AnyReference(t *testing.T) {
	t.Parallel()
	// A payment is kept with whatever its payer wrote, and is assigned to an account or sent back like
	// any other. In memos the text is one line, cut.
	env := newEnv(t)
	noise := make([]byte, 10_000)
	for i := range noise {
		noise[i] = byte(i * i * 31 >> 7) // does not compress, and is not UTF-8
	}
	account := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	for i, reference := range []string{"two\nlines\r\n", "control \x01\x1b\u0085\x00", "emoji 🙂🙂", strings.Repeat("long ", 2000),
		string(noise)} {
		for _, to := range []ident.InternalAccount{account.ID, {}} {
			receipt := env.receivePayment(t, reference, 100)
			if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(),
				accounting.AssignCommand{Receipt: receipt, Account: to, Note: "it is"}, nil); err != nil {
				t.Fatalf("reference %d: %v", i, err)
			}
			stored, err := env.Store.Receipts(t.Context(), env.Platform.ID, []ident.Receipt{receipt})
			if err != nil || len(stored) != 1 || stored[0].Reference != (transaction.Receipt{Reference: reference}).Storable().Reference {
				t.Errorf("reference %d is stored as %.40q, %v", i, stored[0].Reference, err)
			}
		}
	}
	env.WaitForNoJobs(transaction.StepSendBack)
	env.wantBalances(t, map[string]string{"rails/RTP USD": "500", account.LedgerPath() + " USD": "500"})
	env.checkLedger(t)
}

func TestAssignUnmatched_FundsQuote(t *testing.T) {
	t.Parallel()
	// A pending quote of exactly this amount executes, and its timeline shows the assignment.
	env := newEnv(t)
	receipt, q := env.receivePayment(t, "", 10050), env.createQuote(t, "spark1good", 10050)
	env.Clock.Advance(time.Second)

	if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), accounting.AssignCommand{Receipt: receipt,
		Transaction: q.Transaction, Note: "the payer called"}, nil); err != nil {
		t.Fatal(err)
	}

	env.WaitForState(q.Transaction, "COMPLETED")
	got := env.balances(t)
	if got["rails/RTP USD"] != "10050" || got["funding/unmatched USD"] != "" || got["funding/jit USD"] != "" {
		t.Errorf("%v", got)
	}
	env.checkLedger(t)
	// The clock does not move, so both events come last among those of the same time.
	env.wantTimeline(t, q.Transaction, "REQUESTED QUOTED EVENT ASSIGNED POSTED POSTED RAIL_REPLIED POSTED EVENT EVENT")
}

func TestAssignUnmatched_DepositsToAccount(t *testing.T) {
	t.Parallel()
	// The payment is deposited as a completed incoming transaction.
	env := newEnv(t)
	receipt, account := env.receivePayment(t, "rent of March", 700), env.NewInternalAccount(env.Customer.ID, "USD", 0)

	outcome, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(),
		accounting.AssignCommand{Receipt: receipt, Account: account.ID, Note: "Ana's"}, nil)

	done := outcome.Done
	if err != nil || done.Assignment == nil || done.Assignment.Transaction.IsZero() {
		t.Fatalf("%+v, %v", done, err)
	}
	deposit := env.WaitForState(done.Assignment.Transaction, "COMPLETED")
	if deposit.Type != transaction.Incoming || deposit.Pricing.Received.Minor != 700 || deposit.Customer != env.Customer.ID ||
		deposit.PlatformCustomerID != "ana" {
		t.Errorf("%+v", deposit)
	}
	env.wantBalances(t, map[string]string{"rails/RTP USD": "700", account.LedgerPath() + " USD": "700"})
	env.checkLedger(t)
}

func TestAssignUnmatched_OwnerDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	// An assignment to an account that waits while its customer is deleted is refused, and the payment
	// stays unmatched.
	env := newEnv(t)
	receipt, to := env.receivePayment(t, "rent", 700), env.NewInternalAccount(env.Customer.ID, "USD", 0)
	assigned := make(chan error, 1)

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		owner, err := tx.LockCustomer(ctx, env.Platform.ID, env.Customer.ID)
		if err != nil {
			return err
		}
		if _, err := tx.LockCustomerFunds(ctx, env.Platform.ID, env.Customer.ID); err != nil {
			return err
		}
		go func() {
			_, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), accounting.AssignCommand{Receipt: receipt,
				Account: to.ID, Note: "Ana's"}, nil)
			assigned <- err
		}()
		env.AwaitLockWait()
		owner.DeletedAt = env.Clock.Now()
		return tx.UpdateCustomer(ctx, owner)
	})

	apptest.WantFault(t, "assigned", <-assigned, fault.CustomerDeleted)
	env.wantBalances(t, map[string]string{"rails/RTP USD": "700", "funding/unmatched USD": "700"})
}

func TestAssignUnmatched_LaterDepositIsListedByItsTime(t *testing.T) {
	t.Parallel()
	// A deposit has the id of its receipt, which may be weeks older. The list of the transactions that
	// were created since yesterday has it all the same, once, and that of the days before does not.
	env := newEnv(t)
	receipt := env.receivePayment(t, "unknown", 100)
	env.Clock.Advance(20 * 24 * time.Hour)
	to := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), accounting.AssignCommand{Receipt: receipt,
		Account: to.ID, Note: "rent"}, nil); err != nil {
		t.Fatal(err)
	}
	yesterday := env.Clock.Now().Add(-24 * time.Hour)
	for name, c := range map[string]struct {
		created period.Interval
		want    int64
	}{
		"since yesterday":    {period.Interval{From: yesterday}, 1},
		"in twenty-one days": {period.Interval{From: yesterday.Add(-20 * 24 * time.Hour)}, 1},
		"before yesterday":   {period.Interval{To: yesterday}, 0},
	} {
		page, err := env.Store.Transactions(t.Context(), env.Admin.Platform, ports.TransactionFilter{Created: c.created,
			Customer: env.Customer.ID, Paging: ports.Paging{Limit: 10}})
		if err != nil || int64(len(page.Items)) != c.want || page.Total != c.want {
			t.Errorf("%s: %d of %d, %v, want %d", name, len(page.Items), page.Total, err, c.want)
		}
	}
}

func TestAssignUnmatched_ReturnsToPayer(t *testing.T) {
	t.Parallel()
	// The rail sends it to its payer; if the rail refuses, the payment is unmatched again
	// and only an account can have it.
	for name, refuses := range map[string]bool{"sent": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, func(e *apptest.Env) {
				if refuses {
					e.Rail.OnRefund = apptest.AllOutcomes[ports.Refund](ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed})
				}
			})
			receipt := env.receivePayment(t, "", 700)
			back := accounting.AssignCommand{Receipt: receipt, Note: "unknown payer"}

			if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), back, nil); err != nil {
				t.Fatal(err)
			}

			settled := map[string]string{}
			if refuses {
				settled["rails/RTP USD"], settled["funding/unmatched USD"] = "700", "700"
			}
			env.waitForBalances(t, settled)
			env.checkLedger(t)
			if !refuses {
				return
			}
			if got := env.listUnmatched(t, nil); len(got) != 2 || got[0].Assignment == nil || got[1].Assignment != nil || !got[1].IsFailedRefund() {
				t.Fatalf("%+v", got)
			}
			if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), back,
				nil); !fault.Is(err, fault.Conflict) {
				t.Errorf("sent back again: %v", err)
			}
			account := env.NewInternalAccount(env.Customer.ID, "USD", 0)
			if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(),
				accounting.AssignCommand{Receipt: receipt, Account: account.ID, Note: "found"}, nil); err != nil {
				t.Fatal(err)
			}
			env.wantBalances(t, map[string]string{"rails/RTP USD": "700", account.LedgerPath() + " USD": "700"})
			env.checkLedger(t)
			replies, err := env.Store.RailReplies(t.Context(), env.Admin.Platform, receipt.UUID(), 10)
			if err != nil || len(replies) != 1 || replies[0].Verdict != ports.Refused || replies[0].Call != ports.CallSendBack {
				t.Errorf("%+v, %v", replies, err)
			}
		})
	}
}

func TestAssignUnmatched_FailedRefund(t *testing.T) {
	t.Parallel()
	// A refund that failed becomes unmatched funds, which can be deposited once and cannot fund a quote.
	env := newEnv(t)
	account := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	q := env.createQuote(t, "spark1nobody007", 10050)
	env.receivePayment(t, q.Reference, 10050)
	failed := env.WaitForState(q.Transaction, "FAILED (refund FAILED)")

	listed := env.listUnmatched(t, nil)
	if len(listed) != 1 {
		t.Fatalf("%+v", listed)
	}
	u := listed[0]
	if u.RefundOf != failed.ID || u.Receipt.Amount != failed.Pricing.Sent || u.Receipt.Rail != "RTP" || u.SourceAccount != "rails/RTP" ||
		u.Receipt.Reference != q.Reference || u.Receipt.At.IsZero() || !u.IsFailedRefund() {
		t.Errorf("%+v", u)
	}
	toQuote := accounting.AssignCommand{Receipt: u.Receipt.ID, Transaction: env.createQuote(t, "spark1good", 10050).Transaction, Note: "x"}
	if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), toQuote,
		nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("to a quote: %v", err)
	}
	for _, again := range []bool{false, true} {
		_, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(),
			accounting.AssignCommand{Receipt: u.Receipt.ID, Account: account.ID, Note: "they have one here"}, nil)
		if again != fault.Is(err, fault.Conflict) || again != (err != nil) {
			t.Errorf("again %t: %v", again, err)
		}
	}

	listed = env.listUnmatched(t, nil)
	if len(listed) != 1 || listed[0].Assignment == nil || listed[0].Assignment.Account != account.ID {
		t.Fatalf("%+v", listed)
	}
	env.WaitForState(listed[0].Assignment.Transaction, "COMPLETED")
	env.wantTimeline(t, listed[0].Assignment.Transaction, "REQUESTED ASSIGNED POSTED EVENT")
	env.wantBalances(t, map[string]string{"rails/RTP USD": "10050", account.LedgerPath() + " USD": "10050"})
	env.checkLedger(t)
}

func TestAssignUnmatched_FailedRefundSentAgain(t *testing.T) {
	t.Parallel()
	// A refund that failed is sent to its payer again, once and as a payment of its own; a second press moves nothing. If the rail refuses it
	// too, the money is unmatched again, and only an account can have it.
	for name, refuses := range map[string]bool{"sent": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mutex sync.Mutex
			var refunds []ports.Refund
			env := newEnv(t, func(e *apptest.Env) {
				e.Rail.OnRefund = func(ctx context.Context, batch []ports.Refund) []ports.Outcome {
					mutex.Lock()
					defer mutex.Unlock()
					refunds = append(refunds, batch...)
					verdict := ports.Outcome{Verdict: ports.Done}
					if refuses || batch[0].Payout != nil {
						verdict = ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed}
					}
					return apptest.AllOutcomes[ports.Refund](verdict)(ctx, batch)
				}
			})
			q := env.createQuote(t, "spark1nobody002", 10050)
			env.receivePayment(t, q.Reference, 10050)
			failed := env.WaitForState(q.Transaction, "FAILED (refund FAILED)")
			again := func(receipt ident.Receipt) error {
				_, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(),
					accounting.AssignCommand{Receipt: receipt, Note: "their account is open again"}, nil)
				return err
			}
			u := env.listUnmatched(t, nil)[0]

			if err := again(u.Receipt.ID); err != nil {
				t.Fatal(err)
			}

			if err := again(u.Receipt.ID); !fault.Is(err, fault.Conflict) {
				t.Errorf("pressed again: %v", err)
			}
			settled := map[string]string{}
			if refuses {
				settled["rails/RTP USD"], settled["funding/unmatched USD"] = "10050", "10050"
			}
			env.waitForBalances(t, settled)
			env.checkLedger(t)
			outcome := "COMPLETED"
			if refuses {
				outcome = "FAILED"
			}
			timeline, err := env.accounting.Timeline(t.Context(), env.Admin.Platform, q.Transaction)
			if err != nil {
				t.Fatal(err)
			}
			var shown []string
			for _, e := range timeline.Events {
				if e.Type == accounting.TimelineWebhookEvent {
					if _, status, isRefund := strings.Cut(e.Delivery.Name, ".REFUND_"); isRefund {
						shown = append(shown, status)
					}
				}
			}
			if want := "PENDING FAILED PENDING " + outcome; strings.Join(shown, " ") != want {
				t.Errorf("webhooks of the refund %s, want %s", shown, want)
			}
			mutex.Lock()
			defer mutex.Unlock()
			if last := refunds[len(refunds)-1]; len(refunds) != 2 || last.ID != failed.Receipt.UUID() || last.Amount != failed.Funded {
				t.Errorf("sent %+v", refunds)
			}
			if got := env.WaitForState(q.Transaction, "FAILED (refund FAILED)"); got.Refund.Reference != failed.Refund.Reference ||
				string(got.RefundStatus()) != outcome || got.Refund.SettledAt.IsZero() != refuses {
				t.Errorf("%+v", got.Refund)
			}
			if got, err := env.accounting.UnmatchedOf(t.Context(), env.Admin.Platform, u.Receipt.ID); err != nil ||
				got.SentBackAt.IsZero() != refuses || (len(got.Replies) > 0) != refuses || len(got.Refund) != 1 || got.SaidPaid {
				t.Errorf("became %+v, %v", got, err)
			}
			found, err := env.accounting.UnmatchedOf(t.Context(), env.Admin.Platform, failed.Receipt)
			if !refuses {
				if !fault.Is(err, fault.NotFound) {
					t.Errorf("%+v, %v", found, err)
				}
				return
			}
			if err != nil || found.Assignment != nil || !found.IsFailedRefund() {
				t.Fatalf("%+v, %v", found, err)
			}
			if err := again(failed.Receipt); !fault.Is(err, fault.Conflict) {
				t.Errorf("sent a third time: %v", err)
			}
		})
	}
}

func TestAssignUnmatched_FailedRefundOfAReceiptThatWasRefused(t *testing.T) {
	t.Parallel()
	// A rail has refused to send back a payment, which funds a quote then. If its refund fails too, nothing is sent under the id that
	// the rail has refused: the money can only be assigned to an account.
	env := newEnv(t, func(e *apptest.Env) {
		e.Rail.OnRefund = apptest.AllOutcomes[ports.Refund](ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed})
	})
	assign := func(a accounting.AssignCommand) error {
		a.Note = "x"
		_, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), a, nil)
		return err
	}
	receipt := env.receivePayment(t, "", 10050)
	if err := assign(accounting.AssignCommand{Receipt: receipt}); err != nil {
		t.Fatal(err)
	}
	env.waitForBalances(t, map[string]string{"rails/RTP USD": "10050", "funding/unmatched USD": "10050"})
	q := env.createQuote(t, "spark1nobody002", 10050)
	if err := assign(accounting.AssignCommand{Receipt: receipt, Transaction: q.Transaction}); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Transaction, "FAILED (refund FAILED)")
	var refund ident.Receipt
	refund.SetUUID(q.Transaction.UUID())

	if err := assign(accounting.AssignCommand{Receipt: refund}); !fault.Is(err, fault.Conflict) {
		t.Errorf("sent back twice: %v", err)
	}
	env.wantBalances(t, map[string]string{"rails/RTP USD": "10050", "funding/unmatched USD": "10050"})
	env.checkLedger(t)
}

func TestAssignUnmatched_FailedRefundOfInternalAccount(t *testing.T) {
	t.Parallel()
	// A failed refund of a payment from an internal account names that account, as does its
	// deposit.
	env := newEnv(t)
	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 10050)
	request := env.QuoteRequest("USD", 10050, env.NewWallet("spark1nobody007"))
	request.Source = quote.Source{Internal: dollars.ID}
	q, err := env.payments.CreateQuote(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.payments.ExecuteQuote(t.Context(), env.Platform.ID, q.Quote.ID, nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Quote.Transaction, "FAILED (refund FAILED)")

	listed := env.listUnmatched(t, nil)
	if len(listed) != 1 || listed[0].Receipt.Rail != "" || listed[0].SourceAccount != dollars.LedgerPath() {
		t.Fatalf("%+v", listed)
	}
	outcome, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(),
		accounting.AssignCommand{Receipt: listed[0].Receipt.ID, Account: dollars.ID, Note: "back to the account"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := outcome.Done
	if deposit := env.WaitForState(done.Assignment.Transaction, "COMPLETED"); deposit.SourceAccount != dollars.LedgerPath() {
		t.Errorf("%+v", deposit)
	}
}

// waitForBalances waits until the balances are as given.
func (e *env) waitForBalances(t *testing.T, want map[string]string) {
	t.Helper()
	deadline := time.After(apptest.WaitTimeout)
	for {
		got := e.balances(t)
		same := len(got) == len(want)
		for key, w := range want {
			same = same && got[key] == w
		}
		if same {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("balances %v, want %v", got, want)
		}
	}
}

func TestAssignUnmatched_Refused(t *testing.T) {
	t.Parallel()
	// An invalid assignment is refused with its reason, and the payment stays unmatched.
	env := newEnv(t)
	receipt, euros := env.receivePayment(t, "", 700), env.NewInternalAccount(env.Customer.ID, "EUR", 0)
	owned := env.receivePayment(t, env.createQuote(t, "spark1good", 10050).Reference, 10050)
	other := env.createQuote(t, "spark1fine", 10050)
	otherAdmin := env.Admin
	otherAdmin.Platform = newPlatformID()
	for name, c := range map[string]struct {
		a    accounting.AssignCommand
		code fault.Code
	}{
		"no note":            {accounting.AssignCommand{Receipt: receipt}, fault.InvalidInput},
		"a long note":        {accounting.AssignCommand{Receipt: receipt, Note: strings.Repeat("é", 101)}, fault.InvalidInput},
		"an unknown receipt": {accounting.AssignCommand{Receipt: newReceiptID(), Note: "x"}, fault.NotFound},
		"a matched receipt":  {accounting.AssignCommand{Receipt: owned, Note: "x"}, fault.NotFound},
		"no such transaction": {accounting.AssignCommand{Receipt: receipt, Transaction: ident.NewTransaction(env.IDs.New, apptest.Noon),
			Note: "x"}, fault.TransactionNotFound},
		"another amount": {accounting.AssignCommand{Receipt: receipt, Transaction: other.Transaction, Note: "x"}, fault.Conflict},
		"no such account": {accounting.AssignCommand{Receipt: receipt, Account: ident.NewInternalAccount(env.IDs.New, apptest.Noon),
			Note: "x"}, fault.InternalAccountNotFound},
		"an account in euros": {accounting.AssignCommand{Receipt: receipt, Account: euros.ID, Note: "x"}, fault.InvalidCurrency},
	} {
		if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(), c.a, nil); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := env.accounting.AssignUnmatched(t.Context(), otherAdmin.Platform, otherAdmin.Author(),
		accounting.AssignCommand{Receipt: receipt, Note: "x"}, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("another platform: %v", err)
	}
	if got := env.balances(t)["funding/unmatched USD"]; got != "700" {
		t.Errorf("%s is unmatched, want 700", got)
	}
}

func TestAssignUnmatched_AccountAtMaximum(t *testing.T) {
	t.Parallel()
	// An account at its maximum balance is refused, and the payment stays unmatched.
	env := newEnv(t)
	full := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	for _, minor := range []int64{account.MaxBalance, 700} {
		_, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, env.Admin.Author(),
			accounting.AssignCommand{Receipt: env.receivePayment(t, "", minor), Account: full.ID, Note: "Ana's"}, nil)
		if refused := minor == 700; fault.Is(err, fault.AmountOutOfRange) != refused || err != nil != refused {
			t.Errorf("%d: %v", minor, err)
		}
	}
	if got := env.balances(t)["funding/unmatched USD"]; got != "700" {
		t.Errorf("%s is unmatched, want 700", got)
	}
	env.checkLedger(t)
}

func TestAssignUnmatched_ConcurrentCallers(t *testing.T) {
	t.Parallel()
	// Of several concurrent assignments of one payment one succeeds, and the others get CONFLICT.
	env := newEnv(t)
	receipt, account := env.receivePayment(t, "", 700), env.NewInternalAccount(env.Customer.ID, "USD", 0)
	refusals := make([]error, 8)
	var all sync.WaitGroup
	for i := range refusals {
		all.Go(func() {
			_, refusals[i] = env.accounting.AssignUnmatched(context.WithoutCancel(t.Context()), env.Admin.Platform, env.Admin.Author(),
				accounting.AssignCommand{Receipt: receipt, Account: account.ID, Note: "mine"}, nil)
		})
	}
	all.Wait()

	done := 0
	for _, err := range refusals {
		if err == nil {
			done++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if done != 1 {
		t.Errorf("%d succeeded", done)
	}
	env.wantBalances(t, map[string]string{"rails/RTP USD": "700", account.LedgerPath() + " USD": "700"})
	env.checkLedger(t)
}

func newPlatformID() (p ident.Platform) {
	p.SetUUID(newReceiptID().UUID())
	return p
}
