package connections_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/internal/connections"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

// chainBank is a connection that is the chain of embedded wallets.
type chainBank struct{ *bank }

func (chainBank) Settlement(context.Context) (*wallet.Settlement, error) {
	return &wallet.Settlement{Network: "BASE"}, nil
}

func (chainBank) Debit(_ context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	return make([]ports.Outcome, len(transfers))
}

func (chainBank) Credit(_ context.Context, credits []ports.WalletCredit) []ports.Outcome {
	return make([]ports.Outcome, len(credits))
}

func TestWalletChain_IsThatOfTheConnectionForWallets(t *testing.T) {
	t.Parallel()
	// The chain of the wallets of a platform is the connection for USDB that serves it. One that is retired or was not tested, or is not
	// open, takes no new payments; a retired one still carries those that were begun.
	var mine, other ident.Platform
	mine.SetUUID(uuid.UUID{15: 1})
	other.SetUUID(uuid.UUID{15: 2})
	connection := func(name string, edit func(*rail.Connection)) rail.Connection {
		c := rail.Connection{Name: name, Version: 1, Rails: []corridor.Rail{corridor.Base}, Currencies: []money.Currency{money.USDB}}
		edit(&c)
		return c
	}
	for name, test := range map[string]struct {
		edit    func(*rail.Connection)
		exists  bool
		closed  bool       // no call is possible
		refuses fault.Code // new payments
	}{
		"open":           {func(*rail.Connection) {}, true, false, ""},
		"of coins":       {func(c *rail.Connection) { c.Currencies = []money.Currency{money.USDC} }, false, false, ""},
		"of another one": {func(c *rail.Connection) { c.Platforms = []ident.Platform{other} }, false, false, ""},
		"retired":        {func(c *rail.Connection) { c.Retired = true }, true, false, fault.ServiceUnavailable},
		"untested":       {func(c *rail.Connection) { c.Untested = true }, true, false, fault.ServiceUnavailable},
		"broken":         {func(c *rail.Connection) { c.Name = "broken" }, true, true, ""},
	} {
		s := &store{}
		s.set(connection("wallets", test.edit))
		log := logrus.New()
		log.SetOutput(io.Discard)
		c := connections.New(connections.Config{Store: s, Bound: func(r ports.Rail) ports.Rail { return r },
			BoundChain: func(c ports.WalletChain) ports.WalletChain { return c }, Clock: portstest.NewFakeClock(noon),
			Log: logrus.NewEntry(log), Open: func(c rail.Connection) (ports.ConnectedRail, error) {
				if c.Name == "broken" {
					return nil, errors.New("not available")
				}
				return chainBank{&bank{}}, nil
			}})
		refresh(t, c)
		chain, exists, err := c.WalletChain(mine)
		if exists != test.exists || fault.Is(err, fault.ServiceUnavailable) != test.closed {
			t.Errorf("%s: exists %t, %v", name, exists, err)
		}
		if chain == nil {
			continue
		}
		if again, _, _ := c.WalletChain(mine); again != chain {
			t.Errorf("%s: two chains of one connection differ", name)
		}
		via, err := chain.Settlement(t.Context())
		if fault.Is(err, fault.ServiceUnavailable) != (test.refuses != "") || err == nil && via.Network != "BASE" {
			t.Errorf("%s: via %+v, %v", name, via, err)
		}
		if got := chain.Debit(t.Context(), make([]ports.WalletTransfer, 1)); len(got) != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
