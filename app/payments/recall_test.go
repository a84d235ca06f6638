package payments_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/internal/uow"
	"causeway/app/payments"
	"causeway/app/rails"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/rail"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// askingRail is an adapter that asks whether payouts and refunds may leave, and says of those that have what the test has set.
type askingRail struct {
	ports.Rail
	*env
	outcome ports.Outcome
	left    map[string]bool // by kind and id
	refund  ports.Outcome   // of refunds that it is asked about
	// meanwhile happens once, while the rail answers.
	meanwhile func()
}

func (a *askingRail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	keys := make([]ports.RailPaymentKey, len(payouts))
	for i, p := range payouts {
		keys[i] = ports.RailPaymentKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID.UUID(), Kind: rail.Payout}
	}
	return a.ask(ctx, keys)
}

func (a *askingRail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return a.Send(ctx, payouts)
}

func (a *askingRail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	keys := make([]ports.RailPaymentKey, len(refunds))
	for i, r := range refunds {
		keys[i] = ports.RailPaymentKey{Platform: r.Platform, ID: r.ID, Kind: rail.Refund}
	}
	return a.ask(ctx, keys)
}

func (a *askingRail) RefundStatus(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	return slices.Repeat([]ports.Outcome{a.refund}, len(refunds))
}

func (a *askingRail) ask(ctx context.Context, keys []ports.RailPaymentKey) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(keys))
	departures, err := a.Store.LeaveRailPayments(ctx, "bank", keys, a.Clock.Now())
	for i, key := range keys {
		if outcomes[i] = (ports.Outcome{Verdict: ports.Waiting, RetryAt: a.Clock.Now().Add(time.Minute)}); err == nil &&
			departures[i].MayBeSent() {
			outcomes[i], a.left[string(key.Kind)+" "+key.ID.String()] = a.outcome, true
		}
	}
	if meanwhile := a.meanwhile; meanwhile != nil {
		a.meanwhile = nil
		meanwhile()
	}
	return outcomes
}

// recallEnv is an environment whose customer pays 100.00 over ACH for a payout over ACH.
type recallEnv struct {
	*connectedEnv
	t       *testing.T
	adapter *askingRail
	feed    *feedRail
	feeds   *payments.Feeds
	quoted  quote.Quote
}

var operator = rails.Author{Actor: "ana", Note: "test"}

func newRecallEnv(t *testing.T) *recallEnv {
	t.Helper()
	e := &recallEnv{t: t, feed: &feedRail{}}
	e.connectedEnv = newIdleConnectedEnv(t, func(r ports.Rail, of *env) ports.Rail {
		e.adapter = &askingRail{Rail: r, env: of, left: map[string]bool{}}
		return e.adapter
	})
	e.adapter.outcome = e.waiting()
	e.feeds = e.NewFeeds(payments.FeedConfig{Feeds: e.Store, Receipts: e.Store, Balances: e.Store, Statements: e.Store, Received: e.Store,
		Ledger: e.Store.Finance(), CallAgain: e.CallAgain})
	to := e.NewExternalAccount(account.External{Customer: e.Customer.ID, Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": "000123456", "routingNumber": "021000021"}, Rails: []corridor.Rail{corridor.ACH}})
	e.quoted = e.quote(t, "USD", 50_00, to)
	return e
}

func (e *recallEnv) waiting() ports.Outcome {
	return ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: e.Clock.Now().Add(time.Minute)}
}

func (e *recallEnv) report(r ports.RailReport) {
	e.t.Helper()
	e.feed.add(r)
	live := ports.LiveConnection{Connection: rail.Connection{Name: "bank", Rails: []corridor.Rail{corridor.ACH}, Platforms: nil},
		Adapter: e.feed}
	live.Platforms = append(live.Platforms, e.Platform.ID)
	if err := e.feeds.Read(e.t.Context(), live); err != nil {
		e.t.Fatal(err)
	}
}

// pay reports money for the quote, with an id of the partner.
func (e *recallEnv) pay(partnerID string, minor int64) {
	e.t.Helper()
	receipt := ports.RailReceipt{Receipt: e.receipt(e.quoted, corridor.ACH, minor)}
	receipt.PartnerID = partnerID
	e.report(ports.RailReport{Receipts: []ports.RailReceipt{receipt}})
}

func (e *recallEnv) recall(partnerID string) {
	e.t.Helper()
	e.report(ports.RailReport{Reversals: []ports.ReceiptReversal{{Rail: corridor.ACH, Receipt: partnerID, PartnerID: "REV-" + partnerID,
		Code: "FOCR", At: e.Clock.Now()}}})
}

func (e *recallEnv) pause(paused bool) {
	e.t.Helper()
	if err := e.operators.Pause(e.t.Context(), "bank", paused, operator); err != nil {
		e.t.Fatal(err)
	}
}

// settle has the partner say what became of everything, and runs what is due for an hour.
func (e *recallEnv) settle(o ports.Outcome) {
	e.t.Helper()
	e.adapter.outcome = o
	for range 4 {
		e.runDue(e.t)
		if err := e.rail.SendQueued(e.t.Context()); err != nil {
			e.t.Fatal(err)
		}
		e.Clock.Advance(20 * time.Minute)
	}
	e.runDue(e.t)
}

func (e *recallEnv) state() string { return e.Transaction(e.quoted.Transaction).State.String() }

func (e *recallEnv) owed() (receivable.Receivable, bool) {
	e.t.Helper()
	found, exists, err := e.Store.ReceivableOf(e.t.Context(), e.Platform.ID, e.quoted.Transaction)
	if err != nil {
		e.t.Fatal(err)
	}
	return found.Receivable, exists
}

// waitingPayouts are the places in which a payout waits before it leaves.
var waitingPayouts = map[string]func(*recallEnv){
	"before the first call": func(e *recallEnv) {},
	"handed over, and the connection is paused": func(e *recallEnv) {
		e.pause(true)
		e.runDue(e.t)
		e.pause(false)
	},
	"held by its adapter": func(e *recallEnv) {
		if err := e.Store.SaveRailPause(e.t.Context(), ports.RailPause{Name: "ACH", Paused: true, By: "ana", Note: "test",
			At: e.Clock.Now()}); err != nil {
			e.t.Fatal(err)
		}
		e.runDue(e.t)
	},
	"withdrawn by an operator": func(e *recallEnv) {
		e.pause(true)
		e.runDue(e.t)
		if _, err := e.operators.Cancel(e.t.Context(), e.quoted.Transaction.UUID(), operator); err != nil {
			e.t.Fatal(err)
		}
	},
}

func TestRecall_BeforeThePayoutLeaves(t *testing.T) {
	t.Parallel()
	// Money that is taken back before the payout that it paid for has left ends that payout, wherever it waits. Nothing is paid
	// out then or later, nothing is sent back to the payer, who has the money again, and nobody owes anything.
	for name, before := range waitingPayouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newRecallEnv(t)
			e.pay("in-1", 50_00)
			before(e)

			e.recall("in-1")
			e.recall("in-1")
			_ = e.Store.SaveRailPause(t.Context(), ports.RailPause{Name: "bank", Paused: false, By: "ana", Note: "test", At: e.Clock.Now()})
			_ = e.Store.SaveRailPause(t.Context(), ports.RailPause{Name: "ACH", Paused: false, By: "ana", Note: "test", At: e.Clock.Now()})
			e.settle(ports.Outcome{Verdict: ports.Done})

			if len(e.adapter.left) != 0 {
				t.Errorf("%v left", e.adapter.left)
			}
			if e.state() != "FAILED (refund COMPLETED)" {
				t.Errorf("the payment is %s", e.state())
			}
			if owed, exists := e.owed(); !exists || owed.State != receivable.Settled || owed.Amount.Minor != 50_00 {
				t.Errorf("owed is %+v", owed)
			}
			e.WantBalances(nil)
		})
	}
}

func TestRecall_AfterThePayoutLeft(t *testing.T) {
	t.Parallel()
	// Money that is taken back after the payout has left is owed by the customer. If the payout fails after all, its refund pays
	// what is owed, and nothing is sent to the payer.
	for name, tt := range map[string]struct {
		outcomes []ports.Outcome
		state    string
		owed     int64
	}{
		"delivered": {[]ports.Outcome{{Verdict: ports.Done}}, "COMPLETED", 50_00},
		"rejected": {[]ports.Outcome{{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: "AC04"}},
			"FAILED (refund COMPLETED)", 0},
		"returned": {[]ports.Outcome{{Verdict: ports.Returned, Code: "AC04"}}, "FAILED (refund COMPLETED)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newRecallEnv(t)
			e.pay("in-1", 50_00)
			e.runDue(t)
			if len(e.adapter.left) != 1 {
				t.Fatalf("%v left, want the payout", e.adapter.left)
			}

			e.recall("in-1")
			for _, o := range tt.outcomes {
				e.settle(o)
			}

			if len(e.adapter.left) != 1 {
				t.Errorf("%v left, want only the payout", e.adapter.left)
			}
			if e.state() != tt.state {
				t.Errorf("the payment is %s, want %s", e.state(), tt.state)
			}
			if owed, _ := e.owed(); owed.Owed() != tt.owed || owed.Amount.Minor != 50_00 {
				t.Errorf("owed is %+v, want %d", owed, tt.owed)
			}
		})
	}
}

func TestRecall_TwoProcessesAskAboutTheRefund(t *testing.T) {
	t.Parallel()
	// The partner refuses a refund whose money was taken back, and two processes have asked at the same time. The first answer pays
	// what is owed; the second one says nothing else, so that nobody has to ask the partner.
	e := newRecallEnv(t)
	e.pay("in-1", 40_00)
	e.runDue(t)
	e.recall("in-1")
	e.adapter.meanwhile = func() { e.news(t, e.quoted.Transaction) }

	e.settle(ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed})

	if e.adapter.meanwhile != nil || len(e.adapter.left) != 1 || e.state() != "FAILED (refund COMPLETED)" {
		t.Errorf("%v left, and the payment is %s", e.adapter.left, e.state())
	}
	if found := e.contradictions(t, e.quoted.Transaction); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

func TestRecall_AfterTheWriteOff(t *testing.T) {
	t.Parallel()
	// If what is owed was written off, a payout that fails later does not give the customer the money: it is unmatched.
	e := newRecallEnv(t)
	e.pay("in-1", 50_00)
	e.runDue(t)
	e.recall("in-1")
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		details, _, err := tx.LockReceivableOf(ctx, e.Platform.ID, e.quoted.Transaction)
		if err != nil {
			return err
		}
		after, change, _ := details.WriteOff(platform.Author{Actor: "ana"}, "Gone", len(details.Changes), e.Clock.Now())
		if err := tx.UpdateReceivable(ctx, after); err != nil {
			return err
		}
		w := uow.NewWork(e.Clock.Now(), e.IDs, 0)
		w.Post(after.PostingFor(change))
		if err := tx.AddReceivableChange(ctx, after, change); err != nil {
			return err
		}
		return w.Write(ctx, e.Tx(tx))
	})

	e.settle(ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed})

	if e.state() != "FAILED (refund FAILED)" {
		t.Errorf("the payment is %s", e.state())
	}
	e.WantBalances(map[string]int64{"funding/unmatched USD": -50_00, "expense/write-offs USD": 50_00})
	if err := e.sendRefundAgain(); !fault.Is(err, fault.Conflict) {
		t.Errorf("sent to who has the money: %v", err)
	}
}

func TestRecall_OfMoneyThatIsSentBack(t *testing.T) {
	t.Parallel()
	// A payment of a wrong amount is refunded, and a second one sent back, unless they are taken back before that leaves. What
	// left before that is owed, or lost if it is nobody's.
	for name, tt := range map[string]struct {
		surplus bool
		leaves  bool
		want    map[string]int64
	}{
		"refund that waits":       {false, false, nil},
		"refund that has left":    {false, true, map[string]int64{"rails/ACH USD": -40_00, "customer-receivables": 40_00}},
		"send-back that waits":    {true, false, nil},
		"send-back that has left": {true, true, map[string]int64{"rails/ACH USD": -40_00, "expense/chargebacks USD": 40_00}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newRecallEnv(t)
			if tt.surplus {
				e.pay("in-0", 50_00)
				e.settle(ports.Outcome{Verdict: ports.Done})
				clear(e.adapter.left)
			}
			before := e.balances()
			if !tt.leaves {
				e.pause(true)
			}
			e.adapter.outcome = e.waiting()
			e.pay("in-1", 40_00)
			e.runDue(t)

			e.recall("in-1")
			if !tt.leaves {
				e.pause(false)
			}
			e.settle(ports.Outcome{Verdict: ports.Done})

			if (len(e.adapter.left) == 1) != tt.leaves {
				t.Errorf("%v left", e.adapter.left)
			}
			want := before
			for path, minor := range tt.want {
				if path == "customer-receivables" {
					owed, _ := e.owed()
					path = "customer-receivables/" + owed.Account.String() + " USD"
				}
				want[path] += minor
			}
			maps.DeleteFunc(want, func(_ string, minor int64) bool { return minor == 0 })
			e.WantBalances(want)
		})
	}
}

func TestRecall_OfARefundThatFailedIsShownAsSentBack(t *testing.T) {
	t.Parallel()
	// The payer's bank takes back money whose refund had failed: that is when it went back.
	e := newRecallEnv(t)
	e.pay("in-1", 40_00)
	e.settle(ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: "AC04"})
	e.recall("in-1")

	got, err := e.finance().UnmatchedOf(t.Context(), e.Platform.ID, e.refundOfQuote())
	if err != nil || got.Assignment == nil || got.SentBackAt.IsZero() {
		t.Fatalf("%+v, %v", got, err)
	}
	if posting, found, err := e.Store.Finance().RecordedPosting(t.Context(), e.Platform.ID, got.Paid); err != nil || !found ||
		posting.Kind != ledger.KindRefundPaid {
		t.Errorf("%+v, %v", posting, err)
	}
	if got := e.Transaction(e.quoted.Transaction); got.RefundStatus() != transaction.RefundCompleted {
		t.Errorf("the payment shows %+v", got.Refund)
	}
}

func TestRecall_OfARefundThatFailedTwice(t *testing.T) {
	t.Parallel()
	// The payer's bank takes back money that could not be sent back twice: the payment shows that its payer has it.
	e := newRecallEnv(t)
	refused := ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: "AC04"}
	e.pay("in-1", 40_00)
	e.settle(refused)
	if err := e.sendRefundAgain(); err != nil {
		t.Fatal(err)
	}
	e.settle(refused)
	if got := e.Transaction(e.quoted.Transaction); got.Refund.Again != transaction.RefundUnpaid {
		t.Fatalf("after the second refusal: %+v", got.Refund)
	}

	e.recall("in-1")

	if got := e.Transaction(e.quoted.Transaction); got.RefundStatus() != transaction.RefundCompleted {
		t.Errorf("the payment shows %+v", got.Refund)
	}
	e.checkLedger(t)
}

func (e *recallEnv) finance() *accounting.Service {
	return accounting.New(accounting.Config{Store: e.Store, Ledger: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
}

// refundOfQuote is the id by which the money of the quote's refund is unmatched.
func (e *recallEnv) refundOfQuote() (id ident.Receipt) {
	id.SetUUID(e.quoted.Transaction.UUID())
	return id
}

// sendRefundAgain assigns the money of the refund that failed to its payer, as finance does.
func (e *recallEnv) sendRefundAgain() error {
	_, err := e.finance().AssignUnmatched(e.t.Context(), e.Platform.ID, e.Admin.Author(),
		accounting.AssignCommand{Receipt: e.refundOfQuote(), Note: "their account is open again"}, nil)
	return err
}

func TestRecall_OfARefundThatIsSentAgain(t *testing.T) {
	t.Parallel()
	// A refund that failed is sent again unless its money is taken back before that leaves. What left before that is lost; if the bank
	// refuses it after all, it is not, and the payer has the money once.
	refused := ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: "AC04"}
	for name, tt := range map[string]struct {
		leaves bool
		then   ports.Outcome
		want   map[string]int64
	}{
		"waits": {false, ports.Outcome{Verdict: ports.Done}, nil},
		"has left": {true, ports.Outcome{Verdict: ports.Done}, map[string]int64{"rails/ACH USD": -40_00,
			"expense/chargebacks USD": 40_00}},
		"has left, and is refused": {true, refused, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newRecallEnv(t)
			before := e.balances()
			e.pay("in-1", 40_00)
			e.settle(refused)
			if e.state() != "FAILED (refund FAILED)" {
				t.Fatalf("the payment is %s", e.state())
			}
			clear(e.adapter.left)
			if !tt.leaves {
				e.pause(true)
			}
			e.adapter.outcome = e.waiting()
			if err := e.sendRefundAgain(); err != nil {
				t.Fatal(err)
			}
			e.runDue(t)

			e.recall("in-1")
			e.recall("in-1")
			if !tt.leaves {
				e.pause(false)
			}
			e.settle(tt.then)

			if _, owes := e.owed(); (len(e.adapter.left) == 1) != tt.leaves || owes {
				t.Errorf("%v left, owed %t", e.adapter.left, owes)
			}
			if got := e.Transaction(e.quoted.Transaction); got.RefundStatus() != transaction.RefundCompleted || got.Refund.SettledAt.IsZero() {
				t.Errorf("its payer has the money, and the refund is %+v", got.Refund)
			}
			want := before
			maps.Copy(want, tt.want)
			e.WantBalances(want)
			e.checkLedger(t)
		})
	}
}

func TestRefundAgain_PartnerSaysMeanwhileThatItWasPaid(t *testing.T) {
	t.Parallel()
	// The bank has refused a refund, and says later that it was paid. Nothing is sent to the payer beside that until a person has asked the
	// bank, and closes what stands about it. A reason that nobody knows is no doubt about where the money is.
	for _, paid := range []bool{true, false} {
		e := newRecallEnv(t)
		e.pay("in-1", 40_00)
		e.settle(ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: "XX99"})
		clear(e.adapter.left)
		e.adapter.outcome = e.waiting()
		if paid {
			e.adapter.refund = ports.Outcome{Verdict: ports.Done, Accepted: true, PartnerID: "TRX-1"}
		}
		e.news(t, e.quoted.Transaction)
		stands := e.openContradictions()
		if want := map[bool]int{true: 2, false: 1}[paid]; len(stands) != want {
			t.Fatalf("paid %t: %+v", paid, stands)
		}

		err := e.sendRefundAgain()
		if paid != fault.Is(err, fault.Conflict) || !paid && err != nil {
			t.Errorf("paid %t: %v", paid, err)
		}
		e.runDue(t)
		if !paid {
			continue
		}
		if len(e.adapter.left) != 0 {
			t.Errorf("%v left", e.adapter.left)
		}
		for _, item := range stands {
			if _, err := e.Store.DiscardRailFeedItem(t.Context(), item.ID, e.Admin.Author(), "It was not", e.Clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.sendRefundAgain(); err != nil {
			t.Errorf("closed: %v", err)
		}
		e.checkLedger(t)
	}
}

func TestRefundAgain_LocksTheReceiptFirst(t *testing.T) {
	t.Parallel()
	// Taking back a receipt locks it and then the money of the refund that failed; sending that again has the same order, so neither waits
	// for the other.
	e := newRecallEnv(t)
	e.pay("in-1", 40_00)
	e.settle(ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: "AC04"})
	failed := e.Transaction(e.quoted.Transaction)
	sent := make(chan error, 1)
	if err := ports.Do(t.Context(), e.Store, func(ctx context.Context, tx payments.Tx) error {
		if _, _, err := tx.LockUnmatched(ctx, e.Platform.ID, failed.Receipt); err != nil {
			return err
		}
		go func() { sent <- e.sendRefundAgain() }()
		for waits := false; !waits; {
			if err := e.Store.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
				WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted)`).Scan(&waits); err != nil {
				return err
			}
		}
		var free bool
		err := e.Store.Pool().QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(uuid_hash_extended($1, 7))`, failed.ID.UUID()).Scan(&free)
		if err == nil && !free {
			t.Error("it has locked the money of the refund before the receipt")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

func (e *recallEnv) openContradictions() []ports.RailFeedItem {
	e.t.Helper()
	items, err := e.Store.OpenContradictions(e.t.Context(), e.Platform.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	return items
}

// balances are what the ledger has now, as WantBalances compares it.
func (e *recallEnv) balances() map[string]int64 {
	e.t.Helper()
	found := map[string]int64{}
	if err := e.Store.LedgerReader().TrialBalance(e.t.Context(), e.Platform.ID, func(line ports.AccountBalance) error {
		balance := line.Balance
		if !line.Class.IsDebitNormal() {
			balance = -balance
		}
		found[line.Account.Path+" "+string(line.Account.Currency)] = balance
		return nil
	}); err != nil {
		e.t.Fatal(err)
	}
	return found
}
