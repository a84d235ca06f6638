package simulation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/internal/connections"
	operators "causeway/app/rails"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// manner is how a connection makes payments leave.
type manner string

const (
	file    manner = "file"    // collects payments, and all that may leave do at a cut
	chain   manner = "chain"   // signs when it is called, unless there is no gas
	batch   manner = "batch"   // as file, of some payments at a time
	partner manner = "partner" // records that a payment has left, and then asks the partner to take it
)

// receivablesPath begins the paths of what customers owe.
const receivablesPath = "customer-receivables/"

// addConnections makes the payments of one platform take connections: two for each rail, of any manner.
func (w *world) addConnections() {
	w.connected = sortedKeys(w.platforms)[w.random.IntN(len(w.platforms))]
	rails := append(corridor.Rails(), transaction.UMARail)
	for i := range 4 {
		c := rail.Connection{Name: fmt.Sprintf("%s-%d", pick(w, []manner{file, chain, batch, partner}), i), Adapter: rail.Partner, Version: 1,
			Priority: i / 2, Currencies: money.Currencies(),
			Limits: []rail.Limit{{Currency: money.USD, PerPayout: 300_00}}}
		for n, r := range rails {
			if n%2 == i%2 {
				c.Rails = append(c.Rails, r)
			}
		}
		w.connections = append(w.connections, ports.RailConnectionVersion{Connection: c})
	}
	w.held, w.refusing = map[heldPayment]bool{}, map[heldPayment]bool{}
}

func (c connector) manner() manner {
	name, _, _ := strings.Cut(c.name, "-")
	return manner(name)
}

// connect opens the connections of a process.
func (p *process) connect(s store, log *logrus.Entry) {
	open := func(c rail.Connection) (ports.ConnectedRail, error) {
		return connector{rails: rails{p}, name: c.Name}, nil
	}
	opened := connections.New(connections.Config{Store: s, Open: open, Bound: func(r ports.Rail) ports.Rail { return r },
		Clock: p, IDs: p, Log: log})
	if err := opened.Refresh(context.Background()); err != nil {
		p.world.fail("opening connections: %v", err)
	}
	p.overConnections = connections.NewRail(opened, s, receiptConnections{store: s})
	p.operators = operators.New(operators.Config{Store: s, Connections: railConnections{store: s}, Clock: p, IDs: p})
}

// receiptConnections knows over which connection money came.
type receiptConnections struct {
	connections.RailReceiptStore
	store
}

func (r receiptConnections) RailReceiptConnections(ctx context.Context,
	keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]string, error) {
	return r.store.RailReceiptConnections(ctx, keys)
}

// heldPayment is a payment that waits in a connection.
type heldPayment struct {
	connection string
	ports.RailPaymentKey
}

// connector is the adapter of a connection in a process.
type connector struct {
	rails
	name string
}

func (connector) Test(context.Context) ([]string, error) { return nil, nil }

func (connector) Close() error { return nil }

func (connector) Instructions(ident.Platform, string, money.Currency, string) ([]account.Instruction, error) {
	return []account.Instruction{{Notes: "simulated"}}, nil
}

func (c connector) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return callConnector(ctx, c, "send", payouts, func(p ports.Payout) ports.RailPaymentKey {
		return ports.RailPaymentKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID.UUID(), Kind: rail.Payout}
	}, c.send, c.world.bank.payouts)
}

func (c connector) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return callConnector(ctx, c, "collect", collections, func(p ports.Collection) ports.RailPaymentKey {
		return ports.RailPaymentKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID.UUID(), Kind: rail.Collection}
	}, c.collect, c.world.bank.collections)
}

func (c connector) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return callConnector(ctx, c, "refund", refunds, func(p ports.Refund) ports.RailPaymentKey {
		return ports.RailPaymentKey{Platform: p.Platform, ID: p.ID, Kind: choose(p.Payout != nil, rail.Refund, rail.SendBack)}
	}, c.refund, c.world.bank.refunds)
}

// callConnector asks whether payments may leave, in the manner of the connection, and lets the bank act on those that have left.
func callConnector[T any](ctx context.Context, c connector, name string, items []T, keyOf func(T) ports.RailPaymentKey,
	act func(T) ports.Outcome, orders map[uuid.UUID]*order) []ports.Outcome {
	waiting := ports.Outcome{Verdict: ports.Waiting, RetryAt: c.world.now.Add(5 * time.Second)}
	outcomes := make([]ports.Outcome, len(items))
	for i := range outcomes {
		outcomes[i].Verdict = ports.Unknown
	}
	if c.manner() == partner {
		fate := c.pause(ctx, name+" leaves over "+c.name, railFates)
		if fate == failBefore {
			return outcomes
		}
		for _, item := range items {
			c.world.leave(c.name, keyOf(item), c.world.now)
		}
		if fate == loseAnswer {
			return outcomes
		}
	}
	fate := c.pause(ctx, name+" over "+c.name, railFates)
	if fate == failBefore {
		return outcomes
	}
	for i, item := range items {
		key := keyOf(item)
		w, order := c.world, orders[key.ID]
		hasLeft := w.railPayments[key].State == rail.Sent || order != nil
		switch refusing := (heldPayment{c.name, key}); {
		case c.manner() != partner && !hasLeft && key.Kind == rail.Payout && (w.refusing[refusing] || w.chance(4)):
			// The destination is not found before it leaves.
			w.refusing[refusing] = true
			outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed}
		case c.manner() == chain && !hasLeft && (w.chance(3) || !w.leave(c.name, key, w.now).MayBeSent()), c.manner() == partner && !hasLeft:
			outcomes[i] = waiting
		case (c.manner() == file || c.manner() == batch) && !hasLeft:
			w.held[heldPayment{c.name, key}], outcomes[i] = true, waiting
		case c.manner() == partner && order == nil && w.railPayments[key].State == rail.Sent && !w.calm && w.chance(5):
			w.railPayments[key] = w.railPayments[key].NotTaken(c.name, w.now)
			w.notTaken++
			outcomes[i] = waiting
		default:
			if order == nil && w.railPayments[key].State != rail.Sent {
				w.fail("%s %s leaves, and is %s", key.Kind, key.ID, w.railPayments[key].State)
			}
			outcomes[i] = act(item)
		}
		if fate == loseAnswer {
			outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
		}
	}
	if fate == answerLater || slices.ContainsFunc(outcomes, func(o ports.Outcome) bool { return o.Verdict == ports.Refused }) {
		c.pause(ctx, name+" answered over "+c.name, nil)
	}
	for i, item := range items {
		if p := c.world.railPayments[keyOf(item)]; outcomes[i].Verdict == ports.Refused && (p.Connection != c.name || p.State.IsWaiting()) {
			c.world.seen["refusal of a payment that was taken away"]++
		}
	}
	return outcomes
}

// cut makes payments leave that connections hold: all, or some of a batch.
func (w *world) cut() {
	for _, c := range w.connections {
		for _, p := range w.sortedRailPayments(func(p rail.Payment) bool { return w.held[heldPayment{c.Name, railKey(p)}] }) {
			if strings.HasPrefix(c.Name, string(batch)) && w.chance(2) {
				continue
			}
			if !w.leave(c.Name, railKey(p), w.now).IsHeld() {
				delete(w.held, heldPayment{c.Name, railKey(p)})
			}
		}
	}
}

// changeRails changes something about connections, their payments, or money that they have brought.
func (w *world) changeRails() {
	p := pick(w, w.processes)
	switch w.random.IntN(10) {
	case 0:
		w.pause(pick(w, w.connections).Name, !w.chance(3))
	case 1:
		w.pause(string(pick(w, pick(w, w.connections).Rails)), w.chance(3))
	case 2, 3:
		w.record("files are cut")
		w.cut()
	case 4:
		w.call("the queues are sent", p, p.overConnections.SendQueued)
	case 5:
		w.markNotSent(p)
	case 6, 7:
		w.recall()
		w.reportRecall(p)
	default:
		w.decide(p)
	}
}

func (w *world) pause(name string, paused bool) {
	w.record("%s is paused: %t", name, paused)
	w.pauses[name] = ports.RailPause{Name: name, Paused: paused, At: w.now}
}

// call runs something of a process that fails only for faults that the simulation makes, or as the operator sees it.
func (w *world) call(what string, p *process, do func(context.Context) error) {
	w.record("%s in process %d", what, slices.Index(w.processes, p))
	w.working++
	w.runs++
	ctx := context.WithValue(ports.ForAllPlatforms(context.Background()), causeKey{}, w.runs)
	go func() {
		err := do(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.working--
		if err != nil && !strings.Contains(err.Error(), errRolledBack.Message) && !fault.Is(err, fault.InvalidInput) {
			w.fail("%s: %v", what, err)
		}
	}()
}

// refused returns the payments that their connection refuses, of which nobody knows yet.
func (w *world) refused() []rail.Payment {
	if len(w.refusing) == 0 {
		return nil
	}
	return w.sortedRailPayments(func(p rail.Payment) bool {
		return p.State == rail.HandedOver && w.refusing[heldPayment{p.Connection, railKey(p)}]
	})
}

// decide makes an operator decide about a payment that has not ended.
func (w *world) decide(p *process) {
	open := w.sortedRailPayments(func(p rail.Payment) bool { return p.State.CanBeStopped() || p.State == rail.Sent })
	if len(open) == 0 {
		return
	}
	if refused := w.refused(); len(refused) > 0 {
		open = refused
	}
	payment, by := pick(w, open), operators.Author{Actor: "ana", Note: "simulated"}
	to := pick(w, w.connections).Name
	decision := pick(w, []string{"release", "cancel", "withdraw", "move"})
	w.call(fmt.Sprintf("%s of the %s %s", decision, payment.Kind, payment.ID), p, func(ctx context.Context) (err error) {
		switch decision {
		case "release":
			_, err = p.operators.Release(ctx, payment.ID, by)
		case "cancel":
			_, err = p.operators.Cancel(ctx, payment.ID, by)
		case "withdraw":
			_, err = p.operators.Withdraw(ctx, payment.ID, by)
		default:
			_, err = p.operators.Move(ctx, payment.ID, to, by)
		}
		return err
	})
}

// markNotSent loses a payout that has left and of which nothing was done, and makes two operators say so.
func (w *world) markNotSent(p *process) {
	for _, payment := range w.sortedRailPayments(func(p rail.Payment) bool { return p.State == rail.Sent && p.Kind == rail.Payout }) {
		o := w.bank.payouts[payment.ID]
		if o == nil || o.settled || !o.lost && (w.calm || !w.chance(3)) {
			continue
		}
		o.lost = true
		w.call(fmt.Sprintf("the payout %s is not sent", payment.ID), p, func(ctx context.Context) error {
			for _, actor := range []string{"ana", "ben"} {
				if _, err := p.operators.MarkNotSent(ctx, payment.ID, operators.Author{Actor: actor, Note: "simulated"}); err != nil &&
					!fault.Is(err, fault.InvalidInput) {
					return err
				}
			}
			return nil
		})
	}
}

// recall makes the payer's bank take a receipt back: often one whose money is on its way.
func (w *world) recall() {
	for _, id := range sortedKeys(w.receipts) {
		r := w.receipts[id]
		if r.Platform != w.connected || w.recalled[id] || r.Rail == corridor.Lightning || !w.chance(choose(w.useOf(r) == "", 12, 2)) {
			continue
		}
		w.record("%s of %s is taken back", r.ID, r.Amount)
		w.recalled[id] = true
		w.bank.move(r.Platform, r.Rail.LedgerPath(), r.Amount, -1)
		w.recalls = append(w.recalls, id)
		return
	}
}

// reportRecall reports a receipt that was taken back, or one that was reported before.
func (w *world) reportRecall(p *process) {
	if len(w.recalls) == 0 {
		if reported := sortedKeys(w.reversals); len(reported) > 0 {
			w.recalls = append(w.recalls, pick(w, reported))
		}
		return
	}
	id := w.recalls[0]
	w.recalls = w.recalls[1:]
	r := w.receipts[id]
	before, reversal := w.useOf(r), transaction.NewReceiptReversal(r, "REV-"+r.PartnerID, "FOCR", "", w.now, w.now)
	w.call("a recall of "+id.String(), p, func(ctx context.Context) error {
		err := p.service.ReverseReceipt(ports.ForPlatform(ctx, r.Platform), reversal)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil {
			w.recalls = append(w.recalls, id) // reported again
		} else if before != "" {
			w.seen["recall "+before]++
		}
		return err
	})
}

// useOf says what was made with a receipt and has not ended.
func (w *world) useOf(r transaction.Receipt) string {
	if p, exists := w.railPayments[ports.RailPaymentKey{Platform: r.Platform, ID: r.ID.UUID(), Kind: rail.SendBack}]; exists &&
		p.State.CanBeStopped() {
		return "before the send-back left"
	}
	for _, id := range sortedKeys(w.transactions) {
		t := w.transactions[id]
		if t.Receipt != r.ID || r.ID.IsZero() {
			continue
		}
		payout := w.railPayments[ports.RailPaymentKey{Platform: r.Platform, ID: id.UUID(), Kind: rail.Payout}]
		refund := w.railPayments[ports.RailPaymentKey{Platform: r.Platform, ID: id.UUID(), Kind: rail.Refund}]
		switch {
		case t.State.Refund == transaction.RefundPending && refund.State.CanBeStopped():
			return "before the refund left"
		case payout.State.CanBeStopped():
			return "before the payout left"
		case payout.State == rail.Sent:
			return "after the payout left"
		}
	}
	return ""
}

// finishRails lets everything go on that connections hold.
func (w *world) finishRails() {
	p := pick(w, w.processes)
	for name := range w.pauses {
		delete(w.pauses, name)
	}
	w.cut()
	for range w.recalls {
		w.reportRecall(p)
	}
	w.markNotSent(p)
	for _, payment := range w.sortedRailPayments(func(p rail.Payment) bool { return p.State == rail.InReview }) {
		w.call("release of "+payment.ID.String(), p, func(ctx context.Context) error {
			_, err := p.operators.Release(ctx, payment.ID, operators.Author{Actor: "ana", Note: "simulated"})
			return err
		})
	}
	w.call("the queues are sent", p, p.overConnections.SendQueued)
}

// isRefundedInside reports whether no rail is asked for the refund of a transaction: an account gets it, or it pays what is owed.
func (w *world) isRefundedInside(t transaction.Transaction) bool {
	_, owed := w.receivables[t.ID]
	return t.Platform == w.connected && (owed || t.Flow().Funding == transaction.Balance || t.RefundsInside(t.Refundable()))
}

// checkTakenBack checks that of money that was taken back nothing is owed that has not left, that what has left is owed or was paid
// by a balance, and that accounts of what customers owe have what the receivables say.
func (w *world) checkTakenBack() {
	owed := map[ledger.Account]int64{}
	for id, details := range w.receivables {
		t, r := w.transactions[id], details.Receivable
		owed[ledger.Account{Platform: r.Platform, Path: receivablesPath + r.Account.String(), Currency: r.Amount.Currency}] += r.Owed()
		if err := r.CheckChanges(details.Changes); err != nil {
			w.fail("the receivable of %s: %v", id, err)
		}
		payout := w.bank.payouts[id.UUID()]
		// Coins are refunded to an account of the customer, and finance can assign what could not be refunded.
		kept := t.State.Refund == transaction.RefundCompleted && r.Amount.Currency.IsCrypto() || t.State.Refund == transaction.RefundUnpaid
		gone := kept || t.Type == transaction.Incoming || t.Flow().Internal || payout.done() && !payout.returned ||
			w.bank.refunds[id.UUID()].done() || t.Destination.UMA != "" && t.State.Status == transaction.Completed
		if !gone && r.Owed() != 0 {
			w.fail("%s is %s, and %d of %s is owed although nothing has left", id, t.State, r.Owed(), r.Amount)
		}
		if r.State == receivable.Settled {
			w.seen["recall that a failed payout pays"]++
		}
	}
	for a, balance := range w.balances {
		if strings.HasPrefix(a.Path, receivablesPath) && balance != owed[a] {
			w.fail("%s has the balance %d, and %d is owed", a, balance, owed[a])
		}
	}
	for id := range w.recalled {
		if _, known := w.reversals[id]; !known {
			w.fail("that %s was taken back is not recorded", id)
		}
	}
	for id, o := range w.bank.collections {
		var t ident.Transaction
		t.SetUUID(id)
		_, known := w.receivables[t]
		a, assigned := w.assignments[ledger.DerivedID(id, ledger.KindRefundFailed, 0)]
		wentBack, unmatched := assigned && a.IsSentBack(), w.transactions[t].State.Refund == transaction.RefundUnpaid && !assigned
		switch {
		case o.returned && !known && !wentBack:
			w.fail("the collection of %s was taken back, and nobody owes it", t)
		case known && wentBack:
			w.fail("the collection of %s was taken back once, and twice from the books", t)
		case known && unmatched:
			w.fail("the collection of %s was taken back, and is owed although it is unmatched", t)
		case wentBack:
			w.seen["recall after the refund failed"]++
		}
	}
	for _, p := range w.railPayments {
		if p.State.CanBeStopped() || p.State == rail.Sent {
			w.fail("the %s %s is still %s", p.Kind, p.ID, p.State)
		}
	}
	for key, a := range w.railAccounts {
		if a.InFlight != 0 {
			w.fail("%d %s are in flight over %s", a.InFlight, key.Currency, key.Connection)
		}
	}
}

// railOutcomes counts what has become of the payments of connections.
func (w *world) railOutcomes(counts map[string]int) {
	for _, p := range w.railPayments {
		counts["payment "+string(p.State)]++
	}
	for _, decisions := range w.railDecisions {
		for _, d := range decisions {
			counts["decision "+string(d.Decision)]++
		}
	}
	for _, o := range w.bank.collections {
		counts["returned collection"] += choose(o.returned, 1, 0)
	}
	for what, n := range w.seen {
		counts[what] += n
	}
	counts["payment that was not taken"] += w.notTaken
}
