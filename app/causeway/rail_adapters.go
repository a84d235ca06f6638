package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	localcustody "causeway/adapters/custody/local"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/bankfile"
	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/localkeys"
	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/timeout"
	"causeway/app/internal/connections"
	"causeway/core/rail"
	"causeway/ports"
)

// railAdapters open the adapters of connections.
type railAdapters struct {
	db      *postgres.DB
	secrets ports.Secrets
	clock   ports.Clock
	ids     ports.IDs
	log     *logrus.Logger
}

// bankFiles is the store of the files of connections to banks.
func (a railAdapters) bankFiles() *bankfile.Store {
	return bankfile.NewStore(a.db.Storage(), a.db.Cipher())
}

// openConnection returns the adapter of a connection. It checks every setting, and calls no partner.
func (a railAdapters) openConnection(c rail.Connection) (ports.ConnectedRail, error) {
	switch c.Adapter {
	case rail.EVM:
		return a.openEVM(c)
	case rail.Bitcoin:
		return bitcoin.New(bitcoin.Config{Connection: c, Store: bitcoin.NewStore(a.db.Storage()), References: a.db, Secrets: a.secrets,
			Clock: a.clock})
	case rail.Lightning:
		return lightning.New(lightning.Config{Connection: c, Store: lightning.NewStore(a.db.Storage()), Secrets: a.secrets, Clock: a.clock})
	case rail.Partner:
		return partner.Open(partner.Config{Connection: c, Secrets: a.secrets, Events: a.db, Departures: a.db, Clock: a.clock, Log: a.log})
	case rail.BankFile:
		return bankfile.Open(bankfile.Config{Connection: c, Store: a.bankFiles(), Secrets: a.secrets, Clock: a.clock, IDs: a.ids, Log: a.log})
	default:
		return nil, fmt.Errorf("adapter %q is not known", c.Adapter)
	}
}

// openTimeout bounds the reading of secrets when a connection is opened.
const openTimeout = 10 * time.Second

func (a railAdapters) openEVM(c rail.Connection) (ports.ConnectedRail, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	return evm.New(ctx, evm.Config{Connection: c, Store: evm.NewStore(a.db.Storage()),
		Keys: localkeys.New(a.secrets, c.Settings[evm.SettingSeed]), Secrets: a.secrets, Clock: a.clock, Log: a.log,
		Wallets: walletKeys{localcustody.New(a.db), a.db}})
}

// newConnections returns connections that have read nothing yet. The calls of their adapters end after the timeout.
func newConnections(a railAdapters, limit time.Duration) *connections.Connections {
	return connections.New(connections.Config{Store: a.db, Open: a.openConnection, Clock: a.clock, IDs: a.ids, Log: logrus.NewEntry(a.log),
		Bound:      func(r ports.Rail) ports.Rail { return timeout.New(r, limit, a.log) },
		BoundChain: func(c ports.WalletChain) ports.WalletChain { return timeout.NewChain(c, limit, a.log) }})
}
