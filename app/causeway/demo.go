package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"causeway/adapters/pgembed"
)

// demoCommand plays a payment against a running server.
type demoCommand struct {
	databaseFlags
	BaseURL      string `name:"base-url" env:"CAUSEWAY_BASE_URL" help:"Server on this machine to play against, version included. Without it, the one of <data>/credentials.json." placeholder:"URL"`
	ClientID     string `name:"client-id" env:"CAUSEWAY_CLIENT_ID" help:"Whom to play as. Goes with --base-url." placeholder:"ID"`
	ClientSecret string `name:"client-secret" env:"CAUSEWAY_CLIENT_SECRET" help:"The secret of --client-id." placeholder:"SECRET"`
}

func (d demoCommand) Run(ctx context.Context, out io.Writer) error {
	mine, err := d.credentials()
	if err != nil {
		return err
	}
	return runDemo(ctx, mine, d.database(), out)
}

// credentials are those given by flags, all three, or else those of the data folder.
func (d demoCommand) credentials() (credentials, error) {
	given := credentials{BaseURL: d.BaseURL, ClientID: d.ClientID, ClientSecret: d.ClientSecret}
	if given != (credentials{}) {
		if given.BaseURL == "" || given.ClientID == "" || given.ClientSecret == "" {
			return given, errors.New("--base-url, --client-id and --client-secret go together: give all three, or none to use those of --data")
		}
		return given, nil
	}
	path := filepath.Join(d.Data, "credentials.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return given, fmt.Errorf("%s does not exist; start causeway dev, name its folder with --data, or give --base-url, --client-id and --client-secret", path)
	}
	if err != nil {
		return given, err
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return given, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return given, nil
}

// database is where the server keeps its books, as far as this can be known; else
// empty, and the play goes without showing entries.
func (d demoCommand) database() string {
	if d.DatabaseURL != "" || d.BaseURL != "" {
		return d.DatabaseURL
	}
	running, _ := pgembed.RunningURL(d.Data)
	return running
}

// runDemo plays one payment, from the customer to the last entry, and writes every
// request, answer, webhook and entry as it happens. It uses new ids each time.
func runDemo(ctx context.Context, mine credentials, databaseURL string, out io.Writer) error {
	p := newPaymentDemo(mine, out)
	if databaseURL != "" {
		reader, closeBooks, err := openLedgerReader(ctx, databaseURL)
		if err != nil {
			return err
		}
		defer closeBooks()
		p.ledger = reader
	}
	return p.run(ctx)
}
