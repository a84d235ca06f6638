package simulation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// bank is the world outside: what rails have really done, whatever they have answered.
type bank struct {
	world *world
	// orders are the payouts, collections and refunds that reached the rails, by their ids.
	payouts, collections, refunds map[uuid.UUID]*order
	// balances are the funds of the platforms at the rails, by ledger path and currency.
	balances map[holding]int64
}

type holding struct {
	platform ident.Platform
	path     string
	currency money.Currency
}

// order is what a rail was asked to do once, and what came of it.
type order struct {
	request  string // as it was first made; a repeat must be equal
	verdict  ports.Verdict
	waits    int // answers of Waiting before the verdict
	settled  bool
	returns  bool // a payout is returned later, or a collection over a connection
	returned bool
	lost     bool // it never gets an answer, and nothing is done
}

func (o *order) done() bool { return o != nil && o.settled && o.verdict == ports.Done }

// rails is the connection of a process to the rails.
type rails struct{ *process }

func (r rails) RailFor(p ident.Platform) (ports.Rail, error) {
	if p == r.world.connected {
		return r.overConnections, nil
	}
	return r, nil
}

func (rails) Carries(rail.Route) error { return nil }

func (rails) Instructions(ident.Platform, string, money.Currency, string) ([]account.Instruction, error) {
	return nil, nil
}

func (rails) Funding(ident.Platform, string, string, money.Currency) ([]account.Instruction, error) {
	return nil, nil
}

func (r rails) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return callBank(ctx, r, "send", payouts, r.send)
}

func (r rails) send(p ports.Payout) ports.Outcome {
	t, b := p.Transaction, r.world.bank
	if r.world.isInternal(t.Platform, t.Destination.UMA) {
		r.world.fail("%s is sent to another provider, and is for a customer", t.ID)
	}
	o := b.order(b.payouts, t.ID.UUID(), fmt.Sprintf("%s to %s %s", t.Pricing.Received, p.Account.ID, t.Destination.UMA),
		ports.CancelledByUser)
	if !o.settled && b.refunds[t.ID.UUID()].done() {
		r.world.fail("%s is paid out after its refund", t.ID)
	}
	outcome := b.settle(o, func() { b.move(t.Platform, t.DestinationAccount, t.Pricing.Received, -1) })
	outcome.Accepted = true
	if outcome.Verdict == ports.Done && (o.returns || r.world.chance(4)) {
		outcome.RetryAt = r.world.now.Add(time.Minute)
	}
	return outcome
}

func (r rails) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return callBank(ctx, r, "status", payouts, func(p ports.Payout) ports.Outcome {
		t, b := p.Transaction, r.world.bank
		o := b.payouts[t.ID.UUID()]
		if !o.done() { // it has ended otherwise
			if t.State.IsDelivered() {
				r.world.fail("the status of %s is asked, which was not paid out", t.ID)
			}
			return ports.Outcome{Verdict: ports.Unknown}
		}
		if !o.returns {
			return ports.Outcome{Verdict: ports.Done, Accepted: true}
		}
		if !o.returned {
			o.returned = true
			b.move(t.Platform, t.DestinationAccount, t.Pricing.Received, 1)
		}
		return ports.Outcome{Verdict: ports.Returned, Accepted: true}
	})
}

func (r rails) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return callBank(ctx, r, "collect", collections, r.collect)
}

func (r rails) collect(c ports.Collection) ports.Outcome {
	t, b := c.Transaction, r.world.bank
	o := b.order(b.collections, t.ID.UUID(), fmt.Sprintf("%s from %s", t.Pricing.Sent, c.Account.ID))
	outcome := b.settle(o, func() { b.move(t.Platform, t.SourceAccount, t.Pricing.Sent, 1) })
	if outcome.Verdict == ports.Done && o.returns && t.Platform == r.world.connected {
		outcome.RetryAt = r.world.now.Add(time.Minute)
	}
	return outcome
}

// CollectionStatus says that some collections over connections were taken back.
func (r rails) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return callBank(ctx, r, "status of collections", collections, func(c ports.Collection) ports.Outcome {
		t, b := c.Transaction, r.world.bank
		o := b.collections[t.ID.UUID()]
		if !o.done() {
			return ports.Outcome{Verdict: ports.Unknown}
		}
		if !o.returns || t.Platform != r.world.connected {
			return ports.Outcome{Verdict: ports.Done}
		}
		if !o.returned && !t.State.IsFinal() && !r.world.chance(5) { // mostly after what it was to pay has ended
			return ports.Outcome{Verdict: ports.Done, RetryAt: r.world.now.Add(time.Minute)}
		}
		if !o.returned {
			o.returned = true
			b.move(t.Platform, t.SourceAccount, t.Pricing.Sent, -1)
		}
		return ports.Outcome{Verdict: ports.Returned, Code: "R01", ReturnedAt: r.world.now}
	})
}

func (r rails) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return callBank(ctx, r, "refund", refunds, r.refund)
}

func (r rails) refund(f ports.Refund) ports.Outcome {
	b := r.world.bank
	o := b.order(b.refunds, f.ID, fmt.Sprintf("%s over %s, %s, internal %t", f.Amount, f.Rail, f.Reference, f.Internal))
	if paid := b.payouts[f.ID]; paid.done() && !paid.returned {
		r.world.fail("%s is refunded although it was paid out", f.ID)
	}
	if f.Rail == corridor.Lightning && !f.Internal && !o.settled { // nobody knows who has paid
		o.verdict = ports.Refused
	}
	return b.settle(o, func() {
		if !f.Internal {
			b.move(f.Platform, f.Rail.LedgerPath(), f.Amount, -1)
		}
	})
}

func callBank[T any](ctx context.Context, r rails, name string, items []T, act func(T) ports.Outcome) []ports.Outcome {
	fate := r.pause(ctx, name, railFates)
	outcomes := make([]ports.Outcome, len(items))
	for i, item := range items {
		outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
		if fate != failBefore {
			outcomes[i] = act(item)
		}
		if fate == loseAnswer {
			outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
		}
	}
	if fate == answerLater {
		r.pause(ctx, name+" answered", nil)
	}
	return outcomes
}

// simulated is the rail of the platforms without connections, whose payments can be stopped until they are done. Nobody moves its time on.
type simulated struct{ rails }

func (s simulated) WithoutDelays() ports.Rail { return s.rails }

func (simulated) TransactionHash(uuid.UUID, corridor.Rail) string { return "" }
func (s simulated) Returning() ports.Rail                         { return s.rails }

func (s simulated) Waits(p ports.Payout) bool {
	return s.world.bank.stop(s.world.bank.payouts, p.Transaction.ID.UUID())
}

func (s simulated) WaitsToCollect(c ports.Collection) bool {
	return s.world.bank.stop(s.world.bank.collections, c.Transaction.ID.UUID())
}

// stop reports whether an order has come and is not done, and never does it then.
func (b *bank) stop(orders map[uuid.UUID]*order, id uuid.UUID) bool {
	o, known := orders[id]
	if !known || o.settled {
		return false
	}
	o.settled, o.waits, o.verdict = true, 0, ports.CancelledByUser
	return true
}

// order returns the order with an id, which it makes if there is none: its verdict is Done, Refused
// or one of others.
func (b *bank) order(orders map[uuid.UUID]*order, id uuid.UUID, request string, others ...ports.Verdict) *order {
	o, known := orders[id]
	if !known {
		verdicts := append([]ports.Verdict{ports.Done, ports.Done, ports.Done, ports.Refused}, others...)
		o = &order{request: request, verdict: verdicts[b.world.random.IntN(len(verdicts))], waits: b.world.random.IntN(3),
			returns: b.world.chance(choose(b.world.ofPulls, 2, 5))}
		if _, pulled := b.collections[id]; b.world.ofPulls && pulled && b.world.chance(2) { // what it was to pay, or its refund
			o.verdict = ports.Refused
		}
		orders[id] = o
	}
	if o.request != request {
		b.world.fail("the order %s is repeated as %q, and was %q", id, request, o.request)
	}
	return o
}

// settle returns the outcome of an order, and moves its money once.
func (b *bank) settle(o *order, move func()) ports.Outcome {
	if o.waits > 0 || o.lost {
		o.waits--
		return ports.Outcome{Verdict: ports.Waiting, RetryAt: b.world.now.Add(5 * time.Second)}
	}
	if !o.settled {
		o.settled = true
		if o.verdict == ports.Done {
			move()
		}
	}
	outcome := ports.Outcome{Verdict: o.verdict}
	if o.verdict == ports.Refused {
		outcome.Reason = transaction.CounterpartyPostFailed
	}
	return outcome
}

// move adds an amount to the funds of a platform at a rail, or takes it away.
func (b *bank) move(p ident.Platform, path string, amount money.Amount, sign int64) {
	b.balances[holding{p, path, amount.Currency}] += sign * amount.Minor
}
