package main

import (
	"context"
	"io"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed"
)

// demoCommand makes a payment on a running server.
type demoCommand struct {
	cli.DatabaseFlags
	serviceFlags
	Europe bool `help:"Show what the law of the European Union asks of payments: logins, proofs, owners of wallets."`
}

func (d demoCommand) Run(ctx context.Context, env *cli.Env) error {
	c, err := d.credentials(d.Data)
	if err != nil {
		return err
	}
	if d.Europe {
		return newEuropeDemo(c, env.Out).run(ctx)
	}
	return runDemo(ctx, c, d.database(), env.Out)
}

// database returns the address of the server's database, or "" if it is unknown; then the
// demo shows no entries.
func (d demoCommand) database() string {
	if d.DatabaseURL != "" || d.BaseURL != "" {
		return d.DatabaseURL
	}
	running, _ := pgembed.RunningURL(d.Data)
	return running
}

// runDemo makes one payment, from the customer to the last entry, and writes every request,
// response, webhook and entry as it happens. It uses new ids each time.
func runDemo(ctx context.Context, c cli.Credentials, databaseURL string, out io.Writer) error {
	p := newPaymentDemo(c, out)
	if databaseURL != "" {
		reader, closeReader, err := openLedgerReader(ctx, databaseURL)
		if err != nil {
			return err
		}
		defer closeReader()
		p.ledger = reader
	}
	return p.run(ctx)
}
