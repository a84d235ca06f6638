package lightning

import (
	"context"
	"fmt"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what a connection to a node needs.
type Config struct {
	Connection rail.Connection
	Store      *Store
	Secrets    ports.Secrets
	Clock      ports.Clock
}

// Rail is the connection to one node.
type Rail struct {
	Config
	settings settings
	node     node
	payees   *payees
}

var (
	_ ports.ConnectedRail = (*Rail)(nil)
	_ ports.RailFeed      = (*Rail)(nil)
	_ ports.RailBalances  = (*Rail)(nil)

	_ ports.AccountChecker = (*Rail)(nil)
	_ ports.ExclusiveRail  = (*Rail)(nil)
	_ ports.LightningNode  = (*Rail)(nil)
)

// New returns the adapter of a connection. It checks the settings, and calls nothing.
func New(c Config) (*Rail, error) {
	s, err := parseSettings(c.Connection)
	if err != nil {
		return nil, err
	}
	r := &Rail{Config: c, settings: s, payees: newPayees(isLocal(s.network))}
	if s.phoenixd {
		r.node = newPhoenixd(s, c.Secrets)
	} else {
		r.node = newLND(s, c.Secrets)
	}
	return r, nil
}

// Close implements ports.ConnectedRail.
func (r *Rail) Close() error {
	r.node.close()
	r.payees.transport.CloseIdleConnections()
	return nil
}

// Exclusive implements ports.ExclusiveRail: two connections of one node would each report what it receives.
func (r *Rail) Exclusive() []string { return []string{"the Lightning node at " + r.settings.url} }

// Instructions implements ports.Rail. Only the node can make an invoice, so none is known without asking it.
func (r *Rail) Instructions(ident.Platform, string, money.Currency, string) ([]account.Instruction, error) {
	return nil, fault.New(fault.InvalidCurrency, "Quotes cannot be paid over %s.", corridor.Lightning)
}

// Funding implements ports.Rail.
func (r *Rail) Funding(ident.Platform, string, string, money.Currency) ([]account.Instruction, error) {
	return nil, nil
}

// CheckAccount implements ports.AccountChecker: what can never be paid is refused before.
func (r *Rail) CheckAccount(a account.External) error {
	if a.Type != account.LightningType {
		return nil
	}
	if a.Fields["bolt12"] != "" {
		return fault.Invalid(fault.Field{Field: "accountInfo.bolt12", Message: "is an offer, which is not paid: use an invoice or a Lightning " +
			"address"})
	}
	if text := a.Fields["invoice"]; text != "" {
		i, err := lightning.ParseInvoice(text)
		if err == nil {
			err = r.checkInvoice(i)
		}
		if err != nil {
			return fault.Invalid(fault.Field{Field: "accountInfo.invoice", Message: err.Error()})
		}
	}
	return nil
}

// checkInvoice returns what is wrong with an invoice, whatever is paid with it.
func (r *Rail) checkInvoice(i lightning.Invoice) error {
	switch {
	case i.Network != r.settings.network:
		return fmt.Errorf("must be an invoice of the network %s, on which payments are sent", nameOf(r.settings.network))
	case !i.ExpiresAt.After(r.Clock.Now()):
		return fmt.Errorf("has expired at %s", i.ExpiresAt.Format("2006-01-02 15:04:05 UTC"))
	}
	return nil
}

// Send implements ports.Rail.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return r.pay(ctx, payouts, true)
}

// Status implements ports.Rail.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return r.pay(ctx, payouts, false)
}

// Refund implements ports.Rail. Nobody can see on the network who has paid an invoice.
func (r *Rail) Refund(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(refunds))
	for i, refund := range refunds {
		outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.LightningFailed, Code: codeNoPayer,
			Text: "It is not known who has paid the invoice."}
		if refund.Internal {
			outcomes[i] = ports.Outcome{Verdict: ports.Done}
		}
	}
	return outcomes
}

// Collect implements ports.Rail. Nothing can be collected.
func (r *Rail) Collect(_ context.Context, collections []ports.Collection) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(collections))
	for i := range outcomes {
		outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed, Code: codeRefused,
			Text: "Nothing can be collected over Lightning."}
	}
	return outcomes
}

// CollectionStatus implements ports.Rail.
func (r *Rail) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return r.Collect(ctx, collections)
}

// Test implements ports.RailTester.
func (r *Rail) Test(ctx context.Context) (checked []string, err error) {
	a, err := r.node.about(ctx)
	switch {
	case err != nil:
		return nil, err
	case a.network != r.settings.network:
		return nil, fmt.Errorf("the node is on the network %q and not on %s", nameOf(a.network), nameOf(r.settings.network))
	case !a.synced:
		return nil, fmt.Errorf("the node has not all blocks yet; wait until it has")
	case a.channels == 0 && !a.opensChannels:
		return nil, fmt.Errorf("the node has no active channel; open one")
	}
	checked = append(checked, fmt.Sprintf("the node %s answers, version %s, with %d active channels on %s", a.key, a.version, a.channels,
		nameOf(a.network)))
	if err := r.node.checkRights(ctx); err != nil {
		return checked, err
	}
	may := "the service may do what it needs, and no more"
	if r.settings.phoenixd {
		may = "the service may pay" // and everything else
	}
	checked = append(checked, may)
	held, _, err := r.node.balance(ctx)
	if err != nil {
		return checked, err
	}
	return append(checked, fmt.Sprintf("the channels hold %s", money.Amount{Minor: held / milli, Currency: money.BTC})), nil
}
