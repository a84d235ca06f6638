package connections

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// minWaitDelay and maxWaitDelay bound when the job of a payment that waits looks at it again. The call that its release
	// makes due comes first; the job is for what follows, which the partner may not report by itself.
	minWaitDelay = 10 * time.Second
	maxWaitDelay = 15 * time.Minute
	// notOpenDelay is when a payment is called about again whose connection could not be opened.
	notOpenDelay = time.Minute
)

// callAll calls the adapters about the items that were handed over, and records what that has changed. If it starts
// payments, it records first those that are new. It returns one outcome for each item.
func callAll[T any](ctx context.Context, r *Rail, items []T, starts bool, paymentOf func(T) wanted,
	call func(ports.Rail, context.Context, []T) []ports.Outcome) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(items))
	for i := range outcomes {
		outcomes[i].Verdict = ports.Unknown
	}
	if len(items) == 0 {
		return outcomes
	}
	ctx = ports.ForAllPlatforms(ctx)
	asked := make([]wanted, len(items))
	for i, item := range items {
		asked[i] = paymentOf(item)
	}
	recorded, err := r.dispatch(ctx, asked, starts)
	if err != nil {
		r.Log.WithError(err).Error("cannot record which connections payments take; will retry")
		return outcomes
	}
	byConnection := map[string][]int{}
	for i, w := range asked {
		switch p, known := recorded[w.key()]; {
		case !known: // and not started by this call
		case !p.MayHaveLeft() || starts && p.State == rail.Cancelled:
			outcomes[i] = r.notCalled(p)
		default:
			byConnection[p.Connection] = append(byConnection[p.Connection], i)
		}
	}
	var calls sync.WaitGroup
	for name, indexes := range byConnection {
		calls.Go(func() {
			batch, platforms := make([]T, len(indexes)), make([]ident.Platform, len(indexes))
			for n, i := range indexes {
				batch[n], platforms[n] = items[i], asked[i].Platform
			}
			for n, o := range r.callOne(name, platforms, func(adapter ports.Rail) []ports.Outcome { return call(adapter, ctx, batch) }) {
				o.Connection = name
				outcomes[indexes[n]] = o
			}
		})
	}
	calls.Wait()
	if err := r.record(ctx, asked, recorded, outcomes); err != nil {
		// Called again, the adapters return the same outcomes.
		r.Log.WithError(err).Error("cannot record the outcomes of payments; will retry")
		for i := range outcomes {
			outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
		}
	}
	for i, w := range asked {
		if o := &outcomes[i]; w.Kind == rail.Payout && o.ExpectedAt.IsZero() && (o.Verdict == ports.Waiting || o.Verdict == ports.Unknown) {
			o.ExpectedAt = r.expectedAt(recorded[w.key()], w.expected)
		}
	}
	return outcomes
}

// expectedAt returns when a payout is expected to settle by the schedule of its connection, from when it was handed over, or
// from now if it waits. It is zero if that is not known, or not later than what was said before: the partner may have named
// a later day, and the day of a payout that waits moves on.
func (r *Rail) expectedAt(p rail.Payment, before time.Time) time.Time {
	l, known := r.named(p.Connection)
	if !known || l.times == nil {
		return time.Time{}
	}
	from := p.HandedOverAt
	if from.IsZero() { // handed over by an earlier program
		from = p.SentAt
	}
	if p.State.IsWaiting() {
		from = r.Clock.Now()
	}
	if expected := l.times.SettlesAt(l.ScheduleOf(p.Rail), from); expected.After(before) {
		return expected
	}
	return time.Time{}
}

// notCalled is the outcome of a payment that was not handed over.
func (c *Connections) notCalled(p rail.Payment) ports.Outcome {
	now := c.Clock.Now()
	if p.State == rail.Cancelled {
		switch p.Kind {
		case rail.SendBack:
			return ports.Outcome{Verdict: ports.TakenBack, NotCalled: true, Text: p.Reason}
		case rail.Refund: // called again, it pays what is owed for the money
			return ports.Outcome{Verdict: ports.Waiting, NotCalled: true, Text: p.Reason, RetryAt: now.Add(minWaitDelay)}
		default:
			return ports.Outcome{Verdict: ports.Refused, NotCalled: true, Reason: transaction.QuoteExecutionFailed,
				Text: cmp.Or(p.Reason, "cancelled by an operator")}
		}
	}
	retryAt := now.Add(waitDelay(p, now))
	if l, known := c.named(p.Connection); known && p.Wait == rail.WaitsForOpening {
		if opens, closed := l.opens(p.Rail, now); closed && retryAt.Before(opens) {
			retryAt = opens.Add(minWaitDelay)
		}
	}
	return ports.Outcome{Verdict: ports.Waiting, NotCalled: true, InReview: p.State == rail.InReview, Text: p.Reason, RetryAt: retryAt}
}

// waitDelay is as long as the payment has waited: so its job is never much later than the release, and rare for one that
// waits for days.
func waitDelay(p rail.Payment, now time.Time) time.Duration {
	return min(max(now.Sub(p.RecordedAt), minWaitDelay), maxWaitDelay)
}

// dispatch returns the recorded payments. If they start, it records those that are new in one unit of work.
func (r *Rail) dispatch(ctx context.Context, asked []wanted, starts bool) (map[ports.RailPaymentKey]rail.Payment, error) {
	keys := make([]ports.RailPaymentKey, 0, len(asked))
	for _, w := range asked {
		if keys = append(keys, w.key()); w.collected != nil {
			keys = append(keys, *w.collected)
		}
	}
	recorded, err := r.payments.RailPayments(ctx, keys)
	if err != nil || !starts {
		return recorded, err
	}
	fresh, err := r.routeNew(ctx, asked, recorded)
	if err != nil || len(fresh) == 0 {
		return recorded, err
	}
	freshKeys := make([]ports.RailPaymentKey, len(fresh))
	for i, p := range fresh {
		freshKeys[i] = keyOf(p)
	}
	return recorded, ports.Do(ctx, r.payments, func(ctx context.Context, tx Tx) error {
		state, err := r.lock(ctx, tx, fresh)
		if err != nil {
			return err
		}
		meanwhile, err := tx.LockRailPayments(ctx, freshKeys)
		if err != nil {
			return err
		}
		var created []rail.Payment
		for i, p := range fresh {
			decided, known := meanwhile[freshKeys[i]]
			if !known {
				decided = state.decide(p)
				created = append(created, decided)
				meanwhile[freshKeys[i]] = decided // an item may be in the batch twice
			}
			recorded[freshKeys[i]] = decided
		}
		if err := tx.CreateRailPayments(ctx, created); err != nil {
			return err
		}
		return tx.SaveRailAccounts(ctx, state.accounts, handedOver(created), state.now)
	})
}

// routeNew returns the payments that are not recorded, each with its connection.
func (r *Rail) routeNew(ctx context.Context, asked []wanted, recorded map[ports.RailPaymentKey]rail.Payment) ([]rail.Payment, error) {
	var fresh []wanted
	var receipts []ports.RailReceiptKey
	for _, w := range asked {
		if _, known := recorded[w.key()]; known {
			continue
		}
		if fresh = append(fresh, w); w.received != nil {
			receipts = append(receipts, *w.received)
		}
	}
	var received map[ports.RailReceiptKey]string
	if len(receipts) > 0 {
		var err error
		if received, err = r.receipts.RailReceiptConnections(ctx, receipts); err != nil {
			return nil, err
		}
	}
	connections, now := r.routes(), r.Clock.Now()
	payments := make([]rail.Payment, len(fresh))
	for i, w := range fresh {
		switch {
		case w.collected != nil:
			w.Connection = recorded[*w.collected].Connection
		case w.received != nil:
			w.Connection = received[*w.received]
		}
		if payments[i] = w.Payment; w.Connection == "" {
			payments[i] = route(w.Payment, connections, now)
		}
	}
	return payments, nil
}

// route chooses the connection of a payment. Without one, the payment waits.
func route(p rail.Payment, connections routes, now time.Time) rail.Payment {
	c, err := connections.choose(p.Route)
	if err != nil {
		p.State, p.Wait, p.RecordedAt = rail.Queued, rail.WaitsForConnection, now
		p.Reason, _ = rail.WhyNone(connections.all, p.Route)
		return p
	}
	p.Connection = c.Name
	return p
}

func handedOver(payments []rail.Payment) []rail.Payment {
	var found []rail.Payment
	for _, p := range payments {
		if p.State == rail.HandedOver {
			found = append(found, p)
		}
	}
	return found
}

// decisions decides about payments whose accounts are locked.
type decisions struct {
	now      time.Time
	accounts map[rail.AccountKey]*rail.Account
	paused   map[string]bool
	lost     time.Time // when commits were last found to be lost; zero if never
	named    func(string) (live, bool)
	all      []rail.Connection
}

// lock locks the accounts of payments, and reads what is paused.
func (r *Rail) lock(ctx context.Context, tx Tx, payments []rail.Payment) (decisions, error) {
	d := decisions{now: r.Clock.Now(), paused: map[string]bool{}, named: r.named, all: r.routes().all}
	var keys []rail.AccountKey
	for _, p := range payments {
		if p.Connection != "" {
			keys = append(keys, p.Account())
		}
	}
	var err error
	if d.accounts, err = tx.LockRailAccounts(ctx, keys, d.now); err != nil {
		return d, err
	}
	pauses, err := tx.RailPausesNow(ctx)
	for _, p := range pauses {
		if p.Name == "" {
			d.lost = p.At
			continue
		}
		d.paused[p.Name] = p.Paused
	}
	return d, err
}

// decide decides whether a payment is handed over. One that its connection no longer carries waits; money that is sent back
// leaves over the connection that it came over.
func (d decisions) decide(p rail.Payment) rail.Payment {
	if p.Connection == "" {
		return p
	}
	l, known := d.named(p.Connection)
	paused := d.pausedBy(p.Connection, p.Rail)
	if !known {
		paused = "this version of the connections has no " + p.Connection
	}
	if known && !p.Back && (!slices.Contains(l.Rails, p.Rail) || !slices.Contains(l.Currencies, p.Currency)) {
		p.State, p.Wait, p.Reason = rail.Queued, rail.WaitsForConnection, fmt.Sprintf("%s no longer carries %s over %s", p.Connection,
			p.Currency, p.Rail)
		if p.RecordedAt.IsZero() {
			p.RecordedAt = d.now
		}
		return p
	}
	return d.accounts[p.Account()].Dispatch(p, l.Connection, rail.Holds{Doubt: p.Doubt(d.all, d.lost, d.now), Paused: paused,
		Closed: l.closed(p.Rail, d.now)}, d.now)
}

// pausedBy returns why a payment of a connection and rail is paused; empty if it is not.
func (d decisions) pausedBy(connection string, r corridor.Rail) string {
	switch {
	case d.paused[connection]:
		return "the connection " + connection + " is paused"
	case d.paused[string(r)]:
		return "the rail " + string(r) + " is paused"
	}
	return ""
}

// record stores what calls have changed, in one unit of work; it opens none if nothing has. The answer about a payment that was taken away
// from its connection meanwhile changes nothing: its outcome is then that it is called about again.
func (r *Rail) record(ctx context.Context, asked []wanted, recorded map[ports.RailPaymentKey]rail.Payment, outcomes []ports.Outcome) error {
	changed := map[ports.RailPaymentKey]ports.Outcome{}
	var before []rail.Payment
	var keys []ports.RailPaymentKey
	for i, w := range asked {
		p := recorded[w.key()]
		if _, changes := after(p, outcomes[i], r.Clock.Now()); changes {
			changed[w.key()], before, keys = outcomes[i], append(before, p), append(keys, w.key())
		}
	}
	if len(keys) == 0 {
		return nil
	}
	var takenAway map[ports.RailPaymentKey]rail.Payment
	if err := ports.Do(ctx, r.payments, func(ctx context.Context, tx Tx) error {
		takenAway = map[ports.RailPaymentKey]rail.Payment{}
		state, err := r.lock(ctx, tx, before)
		if err != nil {
			return err
		}
		locked, err := tx.LockRailPayments(ctx, keys)
		if err != nil {
			return err
		}
		var updated []rail.Payment
		for key, p := range locked {
			if p.TakenAway(recorded[key]) {
				takenAway[key] = p
				continue
			}
			if next, changes := after(p, changed[key], state.now); changes {
				if p.Connection != "" {
					state.accounts[p.Account()].Settle(p, next)
				}
				updated = append(updated, next)
			}
		}
		if err := tx.UpdateRailPayments(ctx, updated); err != nil {
			return err
		}
		return tx.SaveRailAccounts(ctx, state.accounts, nil, state.now)
	}); err != nil {
		return err
	}
	for i, w := range asked {
		if p, taken := takenAway[w.key()]; taken {
			recorded[w.key()], outcomes[i] = p, r.takenAway(p, outcomes[i])
		}
	}
	return nil
}

// takenAway is the outcome of a payment that was taken away from the connection that has answered.
func (r *Rail) takenAway(p rail.Payment, answered ports.Outcome) ports.Outcome {
	log := r.Log.WithFields(logrus.Fields{"payment": rail.EndToEndID(p.ID), "connection": answered.Connection, "now": p.Connection})
	if answered.Verdict == ports.Done {
		log.Error("a connection says that it has done a payment that was taken away from it before it left: ask its partner")
	} else {
		log.Infof("the answer %s comes after the payment was taken away; it is not taken", answered.Verdict)
	}
	return r.notCalled(p)
}

// verdicts are the states that verdicts of adapters lead to.
var verdicts = map[ports.Verdict]rail.State{ports.Done: rail.Done, ports.Refused: rail.Refused, ports.CancelledByUser: rail.Refused,
	ports.Returned: rail.Returned}

// after returns a payment after the outcome of a call about it, and whether that changes it.
func after(p rail.Payment, o ports.Outcome, now time.Time) (rail.Payment, bool) {
	changes := false
	if o.PartnerID != "" && o.PartnerID != p.PartnerID {
		p.PartnerID, changes = transaction.Receipt{PartnerID: o.PartnerID}.Storable().PartnerID, true
	}
	state, final := verdicts[o.Verdict]
	if next, err := p.To(state, now); final && err == nil {
		return next, true
	}
	return p, changes
}
