package connections

import (
	"context"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/wallet"
	"causeway/ports"
)

// Rail is the rail of platforms whose payments take connections. Before the first call about a payment it records which
// connection it takes and whether it waits; only payments that were handed over are called about, each with the adapter of
// its recorded connection.
type Rail struct {
	*Connections
	payments Store
	receipts RailReceiptStore
}

var _ ports.Rail = (*Rail)(nil)

// NewRail returns the rail of connections, which records payments in a store, and knows over which connection money was
// received.
func NewRail(c *Connections, payments Store, receipts RailReceiptStore) *Rail {
	return &Rail{Connections: c, payments: payments, receipts: receipts}
}

// Carries returns NOT_IMPLEMENTED if no connection carries payments of a route. Why connections that would carry it are held
// back is for the operator, and only logged.
func (r *Rail) Carries(route rail.Route) error {
	connections := r.routes()
	_, err := connections.choose(route)
	if reason, heldBack := rail.WhyNone(connections.all, route); err != nil && heldBack {
		r.Log.WithFields(logrus.Fields{"platform": route.Platform, "rail": route.Rail, "currency": route.Currency}).Warn(
			"a payment was refused: " + reason)
	}
	return err
}

// CheckAccount returns INVALID_INPUT for an account that none of the connections that carry its rails can ever pay to. An
// account that no connection carries yet is accepted.
func (r *Rail) CheckAccount(a account.External) error {
	var refused error
	for _, l := range *r.current.Load() {
		carried := slices.ContainsFunc(a.Rails, func(on corridor.Rail) bool {
			return l.Serves(rail.Route{Platform: a.Platform, Rail: on, Currency: a.Currency, Country: a.Country()})
		})
		if !carried {
			continue
		}
		checker, checks := l.Adapter.(ports.AccountChecker)
		if !checks {
			return nil
		}
		if err := checker.CheckAccount(a); err == nil {
			return nil
		} else if refused == nil {
			refused = err
		}
	}
	return refused
}

// named returns the connection with a name, or false.
func (c *Connections) named(name string) (live, bool) {
	current := *c.current.Load()
	i := slices.IndexFunc(current, func(l live) bool { return l.Name == name })
	if i < 0 {
		return live{}, false
	}
	return current[i], true
}

// receiving returns the connections that payers of a platform are asked to pay a currency over, in the order in which they are
// chosen.
func (c *Connections) receiving(p ident.Platform, currency money.Currency) []live {
	found := slices.DeleteFunc(slices.Clone(*c.current.Load()), func(l live) bool {
		return !l.TakesNew() || !l.ServesPlatform(p) || !slices.Contains(l.Currencies, currency)
	})
	slices.SortFunc(found, func(a, b live) int { return rail.Compare(a.Connection, b.Connection) })
	return found
}

// Instructions returns the ways to pay of every connection that receives the currency.
func (r *Rail) Instructions(p ident.Platform, reference string, currency money.Currency, network string) ([]account.Instruction, error) {
	var all []account.Instruction
	var closed error
	chain := corridor.RailNamed(network)
	for _, l := range r.receiving(p, currency) {
		if network != "" && !slices.Contains(l.Rails, chain) {
			continue
		}
		if l.Adapter == nil {
			closed = notOpen(l) // the others can be paid over
			continue
		}
		instructions, err := l.Adapter.Instructions(p, reference, currency, network)
		if fault.Is(err, fault.InvalidCurrency) {
			continue // the connection only sends
		}
		if err != nil {
			return nil, err
		}
		all = append(all, instructions...)
	}
	switch {
	case len(all) > 0:
		return all, nil
	case closed != nil:
		return nil, closed
	case network != "":
		return nil, rail.NoConnection(rail.Route{Platform: p, Rail: chain, Currency: currency})
	}
	return nil, fault.New(fault.NotImplemented, "No connection receives %s for this platform. Ask the operator of the service to connect a "+
		"partner, or pay from an internal account.", currency)
}

// notOpen is the temporary fault of a connection whose adapter could not be opened.
func notOpen(l live) error {
	return fault.New(fault.ServiceUnavailable, "The connection %s is not available. Repeat the request later.", l.Name)
}

// Funding returns the ways to pay into an internal account of every connection that receives the currency.
func (r *Rail) Funding(p ident.Platform, owner, reference string, currency money.Currency) ([]account.Instruction, error) {
	var all []account.Instruction
	for _, l := range r.receiving(p, currency) {
		if l.Adapter == nil {
			return nil, notOpen(l)
		}
		instructions, err := l.Adapter.Funding(p, owner, reference, currency)
		if err != nil {
			return nil, err
		}
		all = append(all, instructions...)
	}
	return all, nil
}

// LightningFor implements ports.LightningNodes: the node of the connection that new payments of the platform take.
func (c *Connections) LightningFor(_ context.Context, p ident.Platform) (ports.Lightning, error) {
	var closed error
	for _, l := range c.receiving(p, money.BTC) {
		if !slices.Contains(l.Rails, corridor.Lightning) {
			continue
		}
		if l.Adapter == nil {
			closed = notOpen(l)
		} else if node, makes := l.Adapter.(ports.LightningNode); makes {
			return node.Invoices(p), nil
		}
	}
	if closed != nil {
		return nil, closed
	}
	return nil, rail.NoConnection(rail.Route{Platform: p, Rail: corridor.Lightning, Currency: money.BTC})
}

// WalletChain returns the chain of the embedded wallets of a platform, and false if there is none: that of the connection for their
// stablecoin. One that was not tested or is retired carries what was begun, and nothing new.
func (c *Connections) WalletChain(p ident.Platform) (chain ports.WalletChain, exists bool, err error) {
	for _, l := range *c.current.Load() {
		switch {
		case !l.ServesPlatform(p) || !slices.Contains(l.Currencies, money.USDB):
			continue
		case l.Adapter == nil:
			return nil, true, notOpen(l)
		}
		if l.chain != nil {
			return walletChain{l.chain, c, l.Name}, true, nil
		}
	}
	return nil, false, nil
}

// walletChain is the chain of a connection. Two of one connection are equal, so that payments are passed to it together.
type walletChain struct {
	ports.WalletChain
	connections *Connections
	name        string
}

// Settlement returns SERVICE_UNAVAILABLE if the connection takes no new payments.
func (w walletChain) Settlement(ctx context.Context) (*wallet.Settlement, error) {
	if l, open := w.connections.named(w.name); !open || !l.TakesNew() {
		return nil, fault.New(fault.ServiceUnavailable, "The connection %s takes no new payments of wallets now. Repeat the request "+
			"later.", w.name)
	}
	return w.WalletChain.Settlement(ctx)
}

// Send sends payouts over their connections.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return callAll(ctx, r, payouts, true, payoutOf, ports.Rail.Send)
}

// Status returns the outcomes of payouts from their connections.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return callAll(ctx, r, payouts, false, payoutOf, ports.Rail.Status)
}

// Collect collects over the connections of collections.
func (r *Rail) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return callAll(ctx, r, collections, true, collectionOf, ports.Rail.Collect)
}

// CollectionStatus returns the outcomes of collections from their connections.
func (r *Rail) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return callAll(ctx, r, collections, false, collectionOf, ports.Rail.CollectionStatus)
}

// Refund sends refunds over their connections. There is nothing to send to an internal account.
func (r *Rail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(refunds))
	var external []ports.Refund
	var indexes []int
	for i, refund := range refunds {
		if outcomes[i].Verdict = ports.Done; !refund.Internal {
			external, indexes = append(external, refund), append(indexes, i)
		}
	}
	for n, o := range callAll(ctx, r, external, true, refundOf, ports.Rail.Refund) {
		outcomes[indexes[n]] = o
	}
	return outcomes
}

// RefundStatus implements ports.RefundStatusRail: the connections of refunds say it, if they can.
func (r *Rail) RefundStatus(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return callAll(ctx, r, refunds, false, refundOf, func(adapter ports.Rail, ctx context.Context, batch []ports.Refund) []ports.Outcome {
		return ports.RefundStatus(ctx, adapter, batch)
	})
}

// wanted is a payment that a rail is called about, before it is recorded.
type wanted struct {
	rail.Payment
	// collected and received are the collection or the receipt that brought the money of a refund; its connection takes the
	// refund.
	collected *ports.RailPaymentKey
	received  *ports.RailReceiptKey
	// expected is when a payout was expected to settle until now; zero if that was not said yet.
	expected time.Time
}

func payoutOf(p ports.Payout) wanted {
	t := p.Transaction
	return wanted{expected: t.ExpectedSettlementAt, Payment: rail.Payment{ID: t.ID.UUID(), Kind: rail.Payout, Amount: t.Pricing.Received,
		Route: rail.Route{Platform: t.Platform, Rail: t.DestinationRail, Currency: t.Pricing.Received.Currency, Country: p.Account.Country()}}}
}

func collectionOf(c ports.Collection) wanted {
	t := c.Transaction
	return wanted{Payment: rail.Payment{ID: t.ID.UUID(), Kind: rail.Collection, Amount: t.Pricing.Sent,
		Route: rail.Route{Platform: t.Platform, Rail: t.SourceRail, Currency: t.Pricing.Sent.Currency, Country: c.Account.Country()}}}
}

func refundOf(r ports.Refund) wanted {
	w := wanted{Payment: rail.Payment{ID: r.ID, Kind: rail.SendBack, Amount: r.Amount,
		Route: rail.Route{Platform: r.Platform, Rail: r.Rail, Currency: r.Amount.Currency, Back: true}}}
	if r.Payout != nil {
		w.Kind = rail.Refund
	}
	switch original := r.Original; {
	case original.Collection.IsZero() && original.PartnerID != "":
		w.received = &ports.RailReceiptKey{Platform: r.Platform, Rail: r.Rail, PartnerID: original.PartnerID}
	case !original.Collection.IsZero():
		w.collected = &ports.RailPaymentKey{Platform: r.Platform, ID: r.Original.Collection.UUID(), Kind: rail.Collection}
	}
	return w
}

func (w wanted) key() ports.RailPaymentKey { return keyOf(w.Payment) }

func keyOf(p rail.Payment) ports.RailPaymentKey {
	return ports.RailPaymentKey{Platform: p.Platform, ID: p.ID, Kind: p.Kind}
}
