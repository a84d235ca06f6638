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
	"causeway/ports"
	"causeway/ports/portstest"
)

// nodeBank is a connection to a Lightning node.
type nodeBank struct {
	*bank
	node namedNode
}

func (n nodeBank) Invoices(ident.Platform) ports.Lightning { return n.node }

// namedNode makes invoices that are its name.
type namedNode string

func (n namedNode) Invoice(context.Context, ports.InvoiceRequest) (ports.Invoice, error) {
	return ports.Invoice{Request: string(n)}, nil
}

func (n namedNode) CancelInvoice(context.Context, uuid.UUID) error { return nil }

func TestLightningFor_NodeOfThePlatform(t *testing.T) {
	t.Parallel()
	// The invoices of a platform are those of the node that its payments take. A wallet of another chain makes none, nor does a partner that
	// pays over Lightning, and one that serves only another platform is not taken. A node that could not be opened is unavailable for now.
	var mine, other ident.Platform
	mine.SetUUID(uuid.UUID{15: 1})
	other.SetUUID(uuid.UUID{15: 2})
	connection := func(name string, edit func(*rail.Connection)) rail.Connection {
		c := rail.Connection{Name: name, Version: 1, Rails: []corridor.Rail{corridor.Lightning}, Currencies: []money.Currency{money.BTC},
			Priority: 1}
		edit(&c)
		return c
	}
	unchanged := func(*rail.Connection) {}
	own := connection("own", func(c *rail.Connection) { c.Platforms, c.Priority = []ident.Platform{mine}, 0 })
	all, broken, partner := connection("all", unchanged), connection("broken", unchanged), connection("partner", unchanged)
	wallet := connection("wallet", func(c *rail.Connection) { c.Rails = []corridor.Rail{corridor.Bitcoin} })
	untested := connection("untested", func(c *rail.Connection) { c.Untested = true })
	for name, test := range map[string]struct {
		set      []rail.Connection
		platform ident.Platform
		want     string
		fault    fault.Code
	}{
		"none":             {nil, mine, "", fault.NotImplemented},
		"no node":          {[]rail.Connection{wallet, partner, untested}, mine, "", fault.NotImplemented},
		"its own":          {[]rail.Connection{all, own, wallet}, mine, "own", ""},
		"that of all":      {[]rail.Connection{all, own}, other, "all", ""},
		"of somebody else": {[]rail.Connection{own}, other, "", fault.NotImplemented},
		"not open":         {[]rail.Connection{broken}, mine, "", fault.ServiceUnavailable},
		"another one open": {[]rail.Connection{broken, all}, mine, "all", ""},
	} {
		s := &store{}
		s.set(test.set...)
		log := logrus.New()
		log.SetOutput(io.Discard)
		c := connections.New(connections.Config{Store: s, Bound: func(r ports.Rail) ports.Rail { return r }, Clock: portstest.NewFakeClock(noon),
			Log: logrus.NewEntry(log), Open: func(c rail.Connection) (ports.ConnectedRail, error) {
				switch c.Name {
				case "broken":
					return nil, errors.New("not available")
				case "partner", "wallet":
					return &bank{}, nil
				}
				return nodeBank{&bank{}, namedNode(c.Name)}, nil
			}})
		refresh(t, c)
		node, err := c.LightningFor(t.Context(), test.platform)
		if test.fault != "" {
			if !fault.Is(err, test.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if i, err := node.Invoice(t.Context(), ports.InvoiceRequest{}); err != nil || i.Request != test.want {
			t.Errorf("%s: that of %s, %v", name, i.Request, err)
		}
	}
}
