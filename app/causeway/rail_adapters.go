package main

import (
	"fmt"

	"github.com/sirupsen/logrus"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/timeout"
	"causeway/adapters/secrets"
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
	log     logrus.FieldLogger
}

// openConnection returns the adapter of a connection. It checks every setting, and calls no partner.
func (a railAdapters) openConnection(c rail.Connection) (ports.ConnectedRail, error) {
	switch c.Adapter {
	case rail.BankFile, rail.Partner, rail.EVM, rail.Bitcoin:
		return nil, fmt.Errorf("this version of causeway has no adapter %s", c.Adapter)
	default:
		return nil, fmt.Errorf("adapter %q is not known", c.Adapter)
	}
}

// newConnections returns the connections of the service.
func (a *app) newConnections(idGenerator ports.IDs) *connections.Connections {
	adapters := railAdapters{db: a.db, secrets: secrets.New(), clock: systemClock{}, ids: idGenerator, log: a.log}
	return connections.New(connections.Config{Store: a.db, Open: adapters.openConnection, Clock: systemClock{}, Log: logrus.NewEntry(a.log),
		Bound: func(r ports.Rail) ports.Rail { return timeout.New(r, a.RailTimeout, a.log) }})
}
