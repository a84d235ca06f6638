package payments_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/app/accounting"
	"causeway/app/internal/apptest"
	"causeway/app/receivables"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// fakePartner answers with an outcome that the test sets, and counts the calls by kind.
type fakePartner struct {
	mu      sync.Mutex
	outcome ports.Outcome
	calls   map[ports.RailCall]int
	refunds []ports.Refund
	// during is called within the next call, before it returns its outcome of before.
	during func()
}

func (p *fakePartner) set(o ports.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcome = o
}

func (p *fakePartner) count(call ports.RailCall) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[call]
}

func answer[T any](p *fakePartner, call ports.RailCall) func(context.Context, []T) []ports.Outcome {
	return func(_ context.Context, items []T) []ports.Outcome {
		p.mu.Lock()
		outcome, during := p.outcome, p.during
		p.calls[call] += len(items)
		p.during = nil
		for _, item := range items {
			if r, isRefund := any(item).(ports.Refund); isRefund {
				p.refunds = append(p.refunds, r)
			}
		}
		p.mu.Unlock()
		if during != nil {
			during()
		}
		return slices.Repeat([]ports.Outcome{outcome}, len(items))
	}
}

// newPartnerEnv builds an environment without running workers, whose rail is the partner.
func newPartnerEnv(t *testing.T) (*env, *fakePartner) {
	t.Helper()
	e, p := newIdleEnv(t), &fakePartner{calls: map[ports.RailCall]int{}}
	e.Rail.OnSend, e.Rail.OnStatus = answer[ports.Payout](p, ports.CallSend), answer[ports.Payout](p, ports.CallStatus)
	e.Rail.OnCollect, e.Rail.OnCollectionStatus = answer[ports.Collection](p, ports.CallCollect),
		answer[ports.Collection](p, ports.CallCollectionStatus)
	e.Rail.OnRefund = answer[ports.Refund](p, ports.CallRefund)
	e.dollars = e.NewInternalAccount(e.Customer.ID, "USD", 0)
	return e, p
}

func (e *env) runDue(t *testing.T) {
	t.Helper()
	if err := e.RunDue(ports.ForAllPlatforms(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// news runs the jobs of a report about a subject.
func (e *env) news(t *testing.T, subjects ...ident.Transaction) {
	t.Helper()
	var about []ports.RailSubject
	for _, s := range subjects {
		about = append(about, ports.RailSubject{Platform: e.Platform.ID, Subject: s.UUID()})
	}
	if err := e.CallAgain(t.Context(), about); err != nil {
		t.Fatal(err)
	}
	e.runDue(t)
}

// transferIn starts a transfer of 25.00 from a bank account.
func (e *env) transferIn(t *testing.T) transaction.Transaction {
	t.Helper()
	started, err := e.TransferIn(t.Context(), transaction.TransferIn{Platform: e.Platform.ID, From: e.NewBankAccount("1234567001").ID,
		To: e.dollars.ID, Amount: 25_00}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.runDue(t)
	return started
}

// transferOut starts a transfer of 25.00 to a bank account.
func (e *env) transferOut(t *testing.T) transaction.Transaction {
	t.Helper()
	from := e.account(ident.Customer{}, "USD", 100_00)
	started, err := e.TransferOut(t.Context(), transaction.TransferOut{Platform: e.Platform.ID, From: from.ID, To: e.newOwnBank().ID,
		Amount: 25_00}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.runDue(t)
	return started
}

// newOwnBank stores a bank account of the platform.
func (e *env) newOwnBank() account.External {
	own := e.NewBankAccount("1234567001")
	own.Customer = ident.Customer{}
	return e.NewExternalAccount(own)
}

func waiting(e *env, d time.Duration) ports.Outcome {
	return ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: e.Clock.Now().Add(d)}
}

func TestCallAgain_CallsBeforeTheJobIsDue(t *testing.T) {
	t.Parallel()
	// A partner will be asked about a payout tomorrow. Its report makes it be asked now; reports that bring nothing new
	// add no further calls, and the job of tomorrow finds the payment settled.
	env, partner := newPartnerEnv(t)
	partner.set(waiting(env, 24*time.Hour))
	payout := env.transferOut(t)

	env.news(t, payout.ID, payout.ID)
	env.news(t, payout.ID)

	if n := partner.count(ports.CallSend); n != 3 || env.CountJobs(transaction.StepCallAgain) != 0 ||
		env.CountJobs(transaction.StepDeliver) != 1 {
		t.Errorf("%d calls, %d jobs of news, %d jobs", n, env.CountJobs(transaction.StepCallAgain), env.CountJobs(transaction.StepDeliver))
	}
	partner.set(ports.Outcome{Verdict: ports.Done, PartnerID: "TRX-1"})
	env.news(t, payout.ID)
	if got := env.Transaction(payout.ID); got.State.Status != transaction.Completed {
		t.Errorf("it is %s", got.State)
	}
	env.Clock.Advance(25 * time.Hour)
	env.runDue(t)
	if n := partner.count(ports.CallSend); n != 4 || env.CountJobs(transaction.StepDeliver) != 0 {
		t.Errorf("%d calls, %d jobs", n, env.CountJobs(transaction.StepDeliver))
	}
	env.wantOutgoingEvents(payout.ID, "PENDING", "PROCESSING", "COMPLETED")
}

func TestCallAgain_ReportDuringTheCallIsNotLost(t *testing.T) {
	t.Parallel()
	// The partner accepts a payout, settles it while it answers, and reports that at once. The job, which has the
	// older answer, will ask tomorrow; that of the report settles the payment.
	env, partner := newPartnerEnv(t)
	partner.set(waiting(env, 24*time.Hour))
	var reported atomic.Bool
	partner.during = func() {
		partner.set(ports.Outcome{Verdict: ports.Done})
		listed, err := env.Store.ListJobs(ports.ForAllPlatforms(context.Background()), ports.JobFilter{Step: transaction.StepDeliver, Limit: 10})
		if err != nil || len(listed) != 1 {
			t.Errorf("%d jobs, %v", len(listed), err)
			return
		}
		reported.Store(true)
		if err := env.CallAgain(t.Context(), []ports.RailSubject{{Platform: env.Platform.ID, Subject: listed[0].Subjects[0]}}); err != nil {
			t.Error(err)
		}
	}

	payout := env.transferOut(t)
	env.runDue(t)

	if got := env.Transaction(payout.ID); !reported.Load() || got.State.Status != transaction.Completed {
		t.Errorf("it is %s", got.State)
	}
}

func TestCallAgain_UnreachableRailIsCalledLater(t *testing.T) {
	t.Parallel()
	// A report is not lost if the rail cannot be called then: its job is tried again.
	env, partner := newPartnerEnv(t)
	partner.set(waiting(env, 24*time.Hour))
	payout := env.transferOut(t)
	partner.set(ports.Outcome{Verdict: ports.Unknown})

	env.news(t, payout.ID)

	if n := env.CountJobs(transaction.StepCallAgain); n != 1 {
		t.Fatalf("%d jobs of news, want 1", n)
	}
	partner.set(ports.Outcome{Verdict: ports.Done})
	env.Clock.Advance(time.Minute)
	env.runDue(t)
	if got := env.Transaction(payout.ID); got.State.Status != transaction.Completed || env.CountJobs(transaction.StepCallAgain) != 0 {
		t.Errorf("it is %s", got.State)
	}
}

func TestCallAgain_TemporaryRefusalIsNeverRefunded(t *testing.T) {
	t.Parallel()
	// A partner that is closed, busy or without funds answers Waiting, however often it is asked: nothing is refunded.
	env, partner := newPartnerEnv(t)
	o := waiting(env, time.Hour)
	o.Code, o.Text = "AM04", "Insufficient funds"
	partner.set(o)
	payout := env.transferOut(t)

	for range 5 {
		env.news(t, payout.ID)
	}

	if got := env.Transaction(payout.ID); got.State.Status != transaction.Processing || got.State.Refund != transaction.NoRefund {
		t.Errorf("it is %s", got.State)
	}
	replies, err := env.Store.RailReplies(t.Context(), env.Platform.ID, payout.ID.UUID(), 10)
	if err != nil || len(replies) != 6 || replies[5].Code != "AM04" || replies[5].Text != "Insufficient funds" {
		t.Errorf("%+v, %v", replies, err)
	}
}

func TestCallAgain_DeliveredPayoutIsReturned(t *testing.T) {
	t.Parallel()
	// A payout was delivered, and the rail said nothing of later. It is returned, and the report makes that known; the
	// refund carries no original payment, because the platform's balance has paid.
	env, partner := newPartnerEnv(t)
	partner.set(ports.Outcome{Verdict: ports.Done})
	payout := env.transferOut(t)
	if n := env.CountJobs(transaction.StepCheckReturn); n != 0 {
		t.Fatalf("%d jobs check for a return", n)
	}
	env.news(t, payout.ID) // of nothing
	partner.set(ports.Outcome{Verdict: ports.Returned, Code: "AC04"})

	env.news(t, payout.ID)

	if got := env.Transaction(payout.ID); got.State.Status != transaction.Failed || got.State.Stage != transaction.Delivered {
		t.Errorf("it is %s", got.State)
	}
}

func TestDeliver_ReturnedBeforeItWasKnownToBeDelivered(t *testing.T) {
	t.Parallel()
	// The first answer after a time of silence is that a payout was returned: it was delivered before that, and is
	// refunded once.
	env, partner := newPartnerEnv(t)
	partner.set(ports.Outcome{Verdict: ports.Returned, Code: "AC04", PartnerID: "TRX-1"})
	env.Rail.OnRefund = apptest.AllOutcomes[ports.Refund](ports.Outcome{Verdict: ports.Done})

	payout := env.transferOut(t)

	if got := env.Transaction(payout.ID); got.State.String() != "FAILED (refund COMPLETED)" {
		t.Errorf("it is %s", got.State)
	}
	env.wantOutgoingEvents(payout.ID, "PENDING", "PROCESSING", "COMPLETED", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
}

func TestCallAgain_UnknownSubjects(t *testing.T) {
	t.Parallel()
	// Nothing is asked about what nobody knows, and about a receipt that is not to be sent back.
	env, partner := newPartnerEnv(t)
	partner.set(ports.Outcome{Verdict: ports.Done})
	receipt := env.NewReceipt("RTP", "", money.Amount{Minor: 7_00, Currency: "USD"})
	if _, err := env.Receive(t.Context(), receipt, nil); err == nil {
		t.Fatal("the receipt has an owner")
	}

	env.news(t, ident.NewTransaction(env.IDs.New, env.Clock.Now()), receipt.DepositID())

	if len(partner.calls) != 0 || env.CountJobs(transaction.StepCallAgain) != 0 {
		t.Errorf("calls %v", partner.calls)
	}
	env.WantBalances(map[string]int64{"rails/RTP USD": 7_00, "funding/unmatched USD": -7_00})
}

func TestCallAgain_ReceiptThatIsSentBack(t *testing.T) {
	t.Parallel()
	// A second payment for a quote is sent back over days. A report that it has arrived settles it, once.
	env, partner := newPartnerEnv(t)
	q := env.quote(t, "USD", 100_00, env.NewWallet("spark1good"))
	first, second := env.receipt(q, "RTP", 100_00), env.receipt(q, "RTP", 100_00)
	partner.set(ports.Outcome{Verdict: ports.Done})
	for _, r := range []transaction.Receipt{first, second} {
		if _, err := env.Receive(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	partner.set(waiting(env, 24*time.Hour))
	env.runDue(t)
	if n := partner.count(ports.CallRefund); n != 1 || partner.refunds[0].Original.PartnerID != second.PartnerID {
		t.Fatalf("%d refunds, %+v", n, partner.refunds)
	}
	partner.set(ports.Outcome{Verdict: ports.Done, PartnerID: "BACK-1"})

	env.news(t, second.DepositID())
	env.news(t, second.DepositID())
	env.Clock.Advance(25 * time.Hour)
	env.runDue(t)

	if got := env.QueryStrings(`SELECT count(*)::text FROM ledger_postings WHERE kind = 'refund_paid'`); got[0] != "1" {
		t.Errorf("%s postings of the refund", got[0])
	}
	if n, jobs := partner.count(ports.CallRefund), env.CountJobs(transaction.StepSendBack)+env.CountJobs(transaction.StepCallAgain); n != 2 ||
		jobs != 0 {
		t.Errorf("%d calls, %d jobs are left", n, jobs)
	}
}

func TestRefund_CarriesTheOriginalPayment(t *testing.T) {
	t.Parallel()
	// A refund names what it sends back: the receipt by the partner's id, and a collection by that id, its transaction
	// and the account.
	env, partner := newPartnerEnv(t)
	bank, to := env.NewBankAccount("1234567001"), env.NewWallet("spark1good")
	partner.set(ports.Outcome{Verdict: ports.Done, PartnerID: "COLL-1"})
	collected := env.quoteFrom(t, quote.Source{External: bank.ID}, 100_00, quote.Destination{External: to.ID})
	env.execute(t, collected)
	paid := env.quote(t, "USD", 100_00, to)
	receipt := env.receipt(paid, "RTP", 90_00) // not the amount
	if _, err := env.Receive(t.Context(), receipt, nil); err != nil {
		t.Fatal(err)
	}
	env.Rail.OnSend = apptest.AllOutcomes[ports.Payout](ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed,
		Code: "AC04"})

	env.runDue(t)

	if len(partner.refunds) != 2 {
		t.Fatalf("%d refunds", len(partner.refunds))
	}
	for _, r := range partner.refunds {
		switch r.ID {
		case collected.Transaction.UUID():
			if o := r.Original; o.PartnerID != "COLL-1" || o.Collection != collected.Transaction || o.Payer == nil || o.Payer.ID != bank.ID ||
				o.Payer.Identifier() != bank.Identifier() {
				t.Errorf("of the collection: %+v", o)
			}
		case paid.Transaction.UUID():
			if o := r.Original; o.PartnerID != receipt.PartnerID || !o.Collection.IsZero() {
				t.Errorf("of the receipt: %+v", o)
			}
		}
	}
}

// wantReceivable returns the receivable of a transaction.
func (e *env) wantReceivable(t *testing.T, id ident.Transaction) ports.ReceivableDetails {
	t.Helper()
	details, found, err := e.Store.ReceivableOf(t.Context(), e.Platform.ID, id)
	if err != nil || !found {
		t.Fatalf("no receivable: %v", err)
	}
	return details
}

func TestCheckCollection_ReturnedDaysLater(t *testing.T) {
	t.Parallel()
	// A collection is done, and checked as long as the rail says. After days the payer's bank takes it back: the customer
	// owes it, as if finance had recorded the return, and it is recorded once.
	env, partner := newPartnerEnv(t)
	partner.set(ports.Outcome{Verdict: ports.Done, RetryAt: env.Clock.Now().Add(24 * time.Hour), PartnerID: "COLL-1"})
	in := env.transferIn(t)
	env.WantBalances(map[string]int64{env.dollars.LedgerPath() + " USD": -25_00, "rails/ACH USD": 25_00})
	for range 3 {
		env.Clock.Advance(24 * time.Hour)
		partner.set(ports.Outcome{Verdict: ports.Done, RetryAt: env.Clock.Now().Add(24 * time.Hour), PartnerID: "COLL-1"})
		env.runDue(t)
	}
	if n, jobs := partner.count(ports.CallCollectionStatus), env.CountJobs(transaction.StepCheckCollection); n != 3 || jobs != 1 {
		t.Errorf("%d checks, %d jobs", n, jobs)
	}
	at := env.Clock.Now().Add(-time.Hour).UTC()
	partner.set(ports.Outcome{Verdict: ports.Returned, Code: "R01", Text: "Insufficient Funds", PartnerID: "RET-1", ReturnedAt: at})

	env.Clock.Advance(24 * time.Hour)
	env.runDue(t)
	env.news(t, in.ID)
	env.news(t, in.ID)

	d := env.wantReceivable(t, in.ID)
	if d.ReasonCode != "R01" || d.PartnerID != "RET-1" || !d.ReturnedAt.Equal(at) || d.Note != "Insufficient Funds" ||
		d.By != platform.Service || d.Owed() != 0 || len(d.Changes) != 2 {
		t.Errorf("%+v", d)
	}
	env.WantBalances(nil)
	if names := env.QueryStrings(`SELECT name FROM webhook_events WHERE subject_id = $1 ORDER BY id`, d.ID.UUID()); !slices.Equal(names,
		[]string{"RECEIVABLE.OPENED", "RECEIVABLE.COLLECTED"}) {
		t.Errorf("events %v", names)
	}
	if n := env.CountJobs(transaction.StepCheckCollection); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	if ids, err := env.Store.RailPartnerIDs(t.Context(), []ports.TransactionKey{{Platform: env.Platform.ID, ID: in.ID}},
		ports.CallCollect); err != nil || len(ids) != 1 {
		t.Errorf("partner's ids %v, %v", ids, err)
	}
}

func TestCheckCollection_TakenBackInTransit(t *testing.T) {
	t.Parallel()
	// A collection is taken back while its payout is in transit, which the rail cannot stop. The customer owes it at once, and
	// once, although the payment is delivered later.
	env, partner := newPartnerEnv(t)
	partner.set(ports.Outcome{Verdict: ports.Done})
	q := env.quoteFrom(t, quote.Source{External: env.NewBankAccount("1234567001").ID}, 100_00,
		quote.Destination{External: env.NewWallet("spark1good").ID})
	env.Rail.OnSend = apptest.AllOutcomes[ports.Payout](waiting(env, time.Hour))
	env.execute(t, q)
	env.runDue(t)
	partner.set(ports.Outcome{Verdict: ports.Returned, Code: "R10"})

	env.news(t, q.Transaction)

	if _, found, err := env.Store.ReceivableOf(t.Context(), env.Platform.ID, q.Transaction); !found || err != nil {
		t.Fatalf("recorded: %t, %v", found, err)
	}
	env.Rail.OnSend = apptest.AllOutcomes[ports.Payout](ports.Outcome{Verdict: ports.Done})
	env.Clock.Advance(2 * time.Hour)
	env.runDue(t)
	env.Clock.Advance(2 * time.Hour)
	env.runDue(t)

	if d := env.wantReceivable(t, q.Transaction); d.Amount.Minor != 100_00 || d.ReasonCode != "R10" || d.Owed() != 100_00 {
		t.Errorf("%+v", d)
	}
	if n := env.CountJobs(transaction.StepCheckCollection); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestCheckCollection_TakenBackAfterTheRefundFailed(t *testing.T) {
	t.Parallel()
	// A payout and its refund are refused, so what was collected for it is unmatched. When the payer's bank takes the collection back, that
	// money pays the partner: the payer has it, and the customer, who has other money, owes nothing. Money that was assigned to an account is
	// not here any more, so the customer owes it. What is reported or recorded again changes nothing.
	for name, tt := range map[string]struct {
		assigned, byFinance bool
		want                transaction.RefundStatus
	}{
		"reported":                 {false, false, transaction.RefundCompleted},
		"recorded":                 {false, true, transaction.RefundCompleted},
		"reported, after a credit": {true, false, transaction.RefundUnpaid},
		"recorded, after a credit": {true, true, transaction.RefundUnpaid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, partner := newPartnerEnv(t)
			now := env.Clock.Now()
			env.Post(ledger.Deposit(ledger.Header{ID: env.IDs.New(now), Platform: env.Platform.ID, Effective: now},
				ledger.IncomingFunds{Partner: "rails/WIRE", To: env.dollars.LedgerPath(), Amount: money.Amount{Minor: 500_00, Currency: "USD"}}))
			before := map[string]int64{env.dollars.LedgerPath() + " USD": -500_00, "rails/WIRE USD": 500_00}
			partner.set(ports.Outcome{Verdict: ports.Done})
			env.Rail.OnSend = apptest.AllOutcomes[ports.Payout](ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed})
			env.Rail.OnRefund = apptest.AllOutcomes[ports.Refund](ports.Outcome{Verdict: ports.Refused, Code: "AC04"})
			q := env.quoteFrom(t, quote.Source{External: env.NewBankAccount("1234567001").ID}, 100_00,
				quote.Destination{External: env.NewWallet("spark1good").ID})
			env.execute(t, q)
			env.runDue(t)
			failed := env.Transaction(q.Transaction)
			if failed.State.String() != "FAILED (refund FAILED)" {
				t.Fatalf("the payment is %s", failed.State)
			}
			if tt.assigned {
				var receipt ident.Receipt
				receipt.SetUUID(q.Transaction.UUID())
				finance := accounting.New(accounting.Config{Store: env.Store, Ledger: env.Store.Finance(), Clock: env.Clock, IDs: env.IDs})
				if _, err := finance.AssignUnmatched(t.Context(), env.Platform.ID, env.Admin.Author(), accounting.AssignCommand{Receipt: receipt,
					Account: env.dollars.ID, Note: "the customer wants it there"}, nil); err != nil {
					t.Fatal(err)
				}
			}
			env.Clock.Advance(20 * 24 * time.Hour)
			at := env.Clock.Now().Truncate(time.Microsecond)
			env.Clock.Advance(time.Hour)
			partner.set(ports.Outcome{Verdict: ports.Returned, Code: "R01", Text: "Insufficient Funds", PartnerID: "RET-1", ReturnedAt: at})
			recorded := receivables.New(receivables.Config{Store: env.Store, Clock: env.Clock, IDs: env.IDs})

			for range 2 {
				if tt.byFinance {
					_, err := recorded.Record(t.Context(), env.Platform.ID, q.Transaction, receivable.Return{ReasonCode: "R01", PartnerID: "RET-1",
						ReturnedAt: at, By: env.Admin.Author()}, nil)
					if tt.assigned != (err == nil) || err != nil && !fault.Is(err, fault.Conflict) {
						t.Errorf("recorded: %v", err)
					}
				} else {
					env.news(t, q.Transaction)
				}
			}

			got := env.Transaction(q.Transaction)
			if got.RefundStatus() != tt.want || got.Refund.SettledAt.IsZero() != tt.assigned {
				t.Errorf("the refund is %+v", got.Refund)
			}
			_, owed, err := env.Store.ReceivableOf(t.Context(), env.Platform.ID, q.Transaction)
			if err != nil || owed != tt.assigned {
				t.Errorf("owed %t, %v", owed, err)
			}
			env.WantBalances(before)
			env.checkLedger(t)
		})
	}
}

func TestCollect_ReturnedBeforeItWasKnownToBeDone(t *testing.T) {
	t.Parallel()
	// The first answer about a collection is that it was taken back. Nobody relies on the money yet, so it was never
	// collected, and nothing is owed.
	env, partner := newPartnerEnv(t)
	partner.set(ports.Outcome{Verdict: ports.Returned, Code: "R01"})

	in := env.transferIn(t)

	if got := env.Transaction(in.ID); got.State.Status != transaction.Failed || got.State.Reason != transaction.CollectionFailed {
		t.Errorf("it is %s, %s", got.State, got.State.Reason)
	}
	env.WantBalances(nil)
}

func TestCollect_ReturnReportedWhileItIsSettled(t *testing.T) {
	t.Parallel()
	// A report of a return arrives while the collection is being settled as done, so that the call about it is made for a
	// state that has passed. It is made again, and the return is recorded.
	env, partner := newPartnerEnv(t)
	partner.set(waiting(env, 10*time.Second))
	in := env.transferIn(t)
	partner.set(ports.Outcome{Verdict: ports.Returned, Code: "R01"})
	partner.during = func() { // the job of the step, which has the older answer, settles first
		partner.set(ports.Outcome{Verdict: ports.Done})
		env.Clock.Advance(15 * time.Second) // less than the lease of the job of the report
		env.runDue(t)
		partner.set(ports.Outcome{Verdict: ports.Returned, Code: "R01"})
	}

	env.news(t, in.ID)
	env.runDue(t)

	if got := env.Transaction(in.ID); got.State.Status != transaction.Completed {
		t.Fatalf("it is %s", got.State)
	}
	if d := env.wantReceivable(t, in.ID); d.Owed() != 0 {
		t.Errorf("%+v", d)
	}
}

func TestCallAgain_ReportWhileAReceiptIsSentBack(t *testing.T) {
	t.Parallel()
	// While a rail is called to send a receipt back, the partner reports that it has arrived. The job loses its lease, so
	// that its older answer is dropped, and it is run again.
	env, partner := newPartnerEnv(t)
	q := env.quote(t, "USD", 100_00, env.NewWallet("spark1good"))
	partner.set(ports.Outcome{Verdict: ports.Done})
	if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 100_00), nil); err != nil {
		t.Fatal(err)
	}
	env.runDue(t)
	surplus := env.receipt(q, "RTP", 100_00)
	if _, err := env.Receive(t.Context(), surplus, nil); err != nil {
		t.Fatal(err)
	}
	partner.set(waiting(env, 24*time.Hour))
	partner.during = func() {
		partner.set(ports.Outcome{Verdict: ports.Done})
		if err := env.CallAgain(t.Context(), []ports.RailSubject{{Platform: env.Platform.ID, Subject: surplus.ID.UUID()}}); err != nil {
			t.Error(err)
		}
	}

	env.runDue(t)

	posted := env.QueryStrings(`SELECT count(*)::text FROM ledger_postings WHERE kind = 'refund_paid'`)
	if n, jobs := partner.count(ports.CallRefund), env.CountJobs(transaction.StepSendBack); posted[0] != "1" || n != 2 || jobs != 0 {
		t.Errorf("%s postings, %d calls, %d jobs are left", posted[0], n, jobs)
	}
}
