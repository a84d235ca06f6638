package main

import (
	"context"
	"errors"
	"fmt"
	"net"
)

type serveCommand struct {
	serverFlags
	DatabaseURL string `name:"database-url" env:"DATABASE_URL" required:"" help:"Postgres to use. It must be migrated." placeholder:"URL"`
	Listen      string `env:"CAUSEWAY_LISTEN" default:"127.0.0.1:8080" help:"Address and port to listen on."`
	MasterKey   string `name:"master-key" env:"CAUSEWAY_MASTER_KEY" required:"" help:"32 random bytes in base64; private keys are sealed with it. The same on every process." placeholder:"KEY"`
	NoWorkers   bool   `env:"CAUSEWAY_NO_WORKERS" help:"Answer requests only; let other processes do what follows."`
}

func (s serveCommand) Run(ctx context.Context) error {
	key, err := parseMasterKey(s.MasterKey)
	if err := errors.Join(err, s.validate()); err != nil {
		return err
	}
	log := s.logger()
	listener, err := listen(ctx, listenSetting, s.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	h, err := build(ctx, s.serverFlags, s.DatabaseURL, key, log)
	if err != nil {
		return err
	}
	defer h.close()
	log.WithField("address", h.baseURL(listener.Addr())).Info("serving")
	if s.Heads == "" && !s.NoWorkers {
		log.Warn("the heads of the ledger's log stay inside the database, where they cannot show that its end was cut off: set CAUSEWAY_HEADS")
	}
	return h.run(ctx, listener, !s.NoWorkers)
}

const listenSetting = "--listen (CAUSEWAY_LISTEN)"

// listen opens a port, or names the setting that does not allow it.
func listen(ctx context.Context, setting, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen on %s: %w", setting, address, err)
	}
	return listener, nil
}

type migrateCommand struct {
	DatabaseURL string `name:"database-url" env:"DATABASE_URL" required:"" help:"Postgres to migrate, as a role that owns the database." placeholder:"URL"`
}

func (m migrateCommand) Run(ctx context.Context) error { return migrate(ctx, m.DatabaseURL) }
