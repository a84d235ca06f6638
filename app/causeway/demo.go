package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed"
)

// demoCommand makes a payment on a running server.
type demoCommand struct {
	cli.DatabaseFlags
	BaseURL      string `name:"base-url" env:"CAUSEWAY_BASE_URL" help:"Server on this machine, version included. Default: the one in <data>/credentials.json." placeholder:"URL"`
	ClientID     string `name:"client-id" env:"CAUSEWAY_CLIENT_ID" help:"Client id of the platform's token. Needs --base-url." placeholder:"ID"`
	ClientSecret string `name:"client-secret" env:"CAUSEWAY_CLIENT_SECRET" help:"Secret of --client-id." placeholder:"SECRET"`
}

func (d demoCommand) Run(ctx context.Context, env *cli.Env) error {
	c, err := d.credentials()
	if err != nil {
		return err
	}
	return runDemo(ctx, c, d.database(), env.Out)
}

// credentials returns those of the flags, or those of the data folder.
func (d demoCommand) credentials() (cli.Credentials, error) {
	fromFlags := cli.Credentials{BaseURL: d.BaseURL, ClientID: d.ClientID, ClientSecret: d.ClientSecret}
	if fromFlags != (cli.Credentials{}) {
		if fromFlags.BaseURL == "" || fromFlags.ClientID == "" || fromFlags.ClientSecret == "" {
			return fromFlags, errors.New("set --base-url, --client-id and --client-secret together, or none of them to use those of --data")
		}
		return fromFlags, nil
	}
	path := filepath.Join(d.Data, "credentials.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return fromFlags, fmt.Errorf("%s does not exist: start causeway dev, set --data to its folder, or set --base-url, --client-id and "+
			"--client-secret", path)
	}
	if err != nil {
		return fromFlags, err
	}
	if err := json.Unmarshal(text, &fromFlags); err != nil {
		return fromFlags, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return fromFlags, nil
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
