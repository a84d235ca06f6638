package lightning_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/adapters/rails/crashtest"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/account"
	"causeway/ports"
)

// anyWorld is a world in which anything happens to payouts.
type anyWorld struct {
	*world
	host   *host
	ledger int64 // what the node held at first, less what was paid and the fees that were reported
	fees   int   // that were counted
	n      int   // payouts
}

// draw is one draw: a few payouts, and what happens to them.
type draw struct {
	*anyWorld
	payouts []ports.Payout
	last    []ports.Outcome
	given   sync.Mutex
	texts   map[string]bool // invoices that may be paid
}

func TestSend_AnyOrderOfFailuresPaysOnce(t *testing.T) {
	t.Parallel()
	// Whatever fails and is repeated: calls of processes that crash at any step, a node that is away or loses its answer, payments that
	// are stuck or fail, an empty channel, time that passes. In the end each payout is done and was paid once, under one hash, or is
	// refused and was not paid, and its verdict never changes. The fees are booked once, and the channels hold what the ledger has.
	bothNodes(t, payAnything)
}

func payAnything(t *testing.T, w *world) {
	t.Helper()
	a := &anyWorld{world: w}
	a.host = newHost(a.world)
	a.node.SetBalance(1_000_000_000)
	a.mustPoll()
	a.ledger, a.opened = a.balance(), nil
	rapid.Check(t, func(rt *rapid.T) {
		d := &draw{anyWorld: a, texts: map[string]bool{}}
		d.host.invoice = func(answer map[string]any) {
			d.given.Lock()
			defer d.given.Unlock()
			d.texts[answer["pr"].(string)] = true //nolint:forcetypeassert // the host writes it
		}
		for range rapid.IntRange(1, 3).Draw(rt, "payouts") {
			d.add(rt)
		}
		d.last = make([]ports.Outcome, len(d.payouts))
		for range rapid.IntRange(1, 12).Draw(rt, "events") {
			d.happen(rt)
		}
		d.finish(rt)
		for _, closes := range a.opened {
			closes()
		}
		a.opened = nil
	})
}

func (d *draw) add(rt *rapid.T) {
	d.n++
	satoshis := 4*rapid.Int64Range(1, 10_000).Draw(rt, "satoshis") + int64(len(d.payouts)) // another amount for each
	to := addressAccount(d.host.address())
	if rapid.Bool().Draw(rt, "invoice") {
		text := d.payee.Invoice(fmt.Sprint("any ", d.n), satoshis, d.clock.Now(),
			time.Duration(rapid.SampledFrom([]int{1, 10, 600}).Draw(rt, "minutes"))*time.Minute)
		to, d.texts[text] = invoiceAccount(text), true
		d.node.SetFate(text, rapid.SampledFrom([]lndtest.Fate{lndtest.Arrives, lndtest.Arrives, lndtest.Stuck, lndtest.NoRoute}).Draw(rt, "fate"))
	}
	d.payouts = append(d.payouts, d.payoutTo(1000+d.n, satoshis, to))
}

func (d *draw) happen(rt *rapid.T) {
	instant := rapid.Bool().Draw(rt, "instant")
	d.node.SetRouting(rapid.Int64Range(0, 3_000).Draw(rt, "fee"), instant)
	switch rapid.SampledFrom([]string{"send", "send", "crash", "crash", "lose", "away", "empty", "time", "network", "feed"}).Draw(rt,
		"event") {
	case "send":
		d.send(rt, d.rail())
	case "crash":
		c := crashtest.New(rapid.IntRange(0, 12).Draw(rt, "effects"))
		d.handover().Rail(d.openOn(c.Pool(d.db.Pool()), c.Gate(pays))).Send(d.t.Context(), d.payouts)
	case "lose":
		d.mu.Lock()
		d.lose = true
		d.mu.Unlock()
		d.send(rt, d.rail())
	case "away":
		d.setSilent(true)
		d.send(rt, d.rail())
		d.setSilent(false)
	case "empty":
		held := d.node.Balance() / 1000
		rest := d.node.Balance() % 1000
		d.node.SetBalance(0)
		d.send(rt, d.rail())
		d.node.AddBalance(held*1000 + rest)
	case "time":
		d.clock.Advance(time.Duration(rapid.SampledFrom([]int{20, 100, 4000}).Draw(rt, "seconds")) * time.Second)
	case "network":
		d.node.Step()
	case "feed":
		d.read(rt)
	}
}

// send sends the payouts, and checks that what is final stays so.
func (d *draw) send(rt *rapid.T, r ports.Rail) {
	for i, o := range r.Send(d.t.Context(), d.payouts) {
		final := o.Verdict == ports.Done || o.Verdict == ports.Refused
		if before := d.last[i].Verdict; (before == ports.Done || before == ports.Refused) && o.Verdict != before && o.Verdict != ports.Unknown {
			rt.Fatalf("payout %d was %+v, and is %+v", i, d.last[i], o)
		}
		if final || d.last[i].Verdict == "" {
			d.last[i] = o
		}
	}
}

func (d *draw) read(rt *rapid.T) {
	if _, err := d.poll(d.t.Context()); err != nil {
		rt.Fatal(err)
	}
}

// finish lets everything end, and compares what was paid with the outcomes.
func (d *draw) finish(rt *rapid.T) {
	for text := range d.texts {
		d.node.SettleFate(text)
	}
	for range 12 {
		d.clock.Advance(2 * time.Minute)
		d.node.Step()
		d.read(rt)
		d.send(rt, d.rail())
	}
	for i, p := range d.payouts {
		paid := d.paidFor(rt, p)
		o := d.last[i]
		switch {
		case o.Verdict == ports.Done && paid == 1:
			d.ledger -= p.Transaction.Pricing.Received.Minor
		case o.Verdict == ports.Refused && paid == 0:
		default:
			rt.Fatalf("payout %d to %v is %+v, and was paid %d times", i, p.Account.Fields, o, paid)
		}
	}
	for ; d.fees < len(d.seen.Fees); d.fees++ {
		d.ledger -= d.seen.Fees[d.fees].Amount.Minor
	}
	if len(d.seen.Contradictions) > 0 {
		rt.Fatalf("payments that no record has: %+v", d.seen.Contradictions)
	}
	if got := d.balance(); got != d.ledger {
		rt.Fatalf("the channels hold %d, the ledger has %d", got, d.ledger)
	}
}

// paidFor returns how often a payout was paid: its invoice, or those that its address has given for the amount.
func (d *draw) paidFor(rt *rapid.T, p ports.Payout) (times int) {
	if p.Account.Type != account.LightningType {
		return 0
	}
	for text := range d.texts {
		paid, _ := d.node.Paid(hashOf(rt, text))
		if len(paid) > 1 {
			rt.Fatalf("%.40s was paid %d times", text, len(paid))
		}
		own := p.Account.Fields["invoice"] == text || p.Account.Fields["invoice"] == "" && d.wasGivenFor(p, text)
		if own {
			times += len(paid)
		}
	}
	return times
}

// wasGivenFor reports whether an address has given an invoice for a payout; the amounts of the payouts of a draw differ.
func (d *draw) wasGivenFor(p ports.Payout, text string) bool {
	for _, other := range d.payouts {
		if other.Account.Fields["invoice"] == text {
			return false
		}
	}
	return strings.HasPrefix(text, fmt.Sprintf("lnbcrt%dp1", p.Transaction.Pricing.Received.Minor*10_000))
}
