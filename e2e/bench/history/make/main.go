// Command make writes a long history into a database, so that Causeway can be tried with a
// large ledger: months of postings with any number of entries, on an existing platform
// without postings or on a new one.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/sandbox"
	"causeway/app/platforms"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/e2e/bench/history"
	"causeway/migrations"
	"causeway/ports"
)

// options are the flags. Without a URL the database is that of a data folder.
type options struct {
	history.Options
	data string
}

// parse reads the flags and writes help to usage.
func parse(args []string, usage io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("make", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.URL, "database", os.Getenv("DATABASE_URL"), "`URL` of the database (DATABASE_URL)")
	flags.StringVar(&o.data, "data", ".causeway", "without --database: data `folder` of causeway dev, which may be running")
	flags.IntVar(&o.Entries, "entries", 1_000_000, "number of `entries`")
	flags.IntVar(&o.Months, "months", 12, "whole `months` before the current one")
	flags.Uint64Var(&o.Seed, "seed", 1, "random seed; the same `number` writes the same postings, except ids and the time")
	flags.Func("platform", "`ID` of a platform without postings; default: a new platform", func(text string) (err error) {
		o.Platform, err = ident.ParsePlatform(text)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%s is not a flag", flags.Arg(0))
	}
	if err := o.Validate(); err != nil {
		return o, fmt.Errorf("--%w", err) // it starts with the name of the flag
	}
	return o, nil
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	stop, err := o.openDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	db, err := sql.Open("pgx", o.URL)
	if err != nil {
		return fmt.Errorf("invalid database URL: %w", err)
	}
	defer db.Close()
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	if o.Platform.IsZero() {
		if o.Platform, err = createPlatform(ctx, o.URL, out); err != nil {
			return err
		}
	}
	result, err := history.Write(ctx, o.Options)
	if err != nil {
		return err
	}
	// Autovacuum has not analyzed the new rows yet.
	if _, err := db.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote     %d entries, in %d postings of %d payments and of fees\naccounts  %d\nfrom      %s\nto        %s\ntook      %.1f s, %.0f entries/s\n",
		result.Entries, result.Postings, result.Payments, len(result.Accounts), result.From.Format(time.DateOnly), result.Until.Format(time.DateOnly),
		result.Duration.Seconds(), float64(result.Entries)/result.Duration.Seconds())
	return err
}

// openDatabase sets the URL of the database, and returns a function that stops a Postgres that
// it started.
func (o *options) openDatabase(ctx context.Context) (stop func() error, err error) {
	stop = func() error { return nil }
	if o.URL != "" {
		return stop, nil
	}
	var running bool
	if o.URL, running = pgembed.RunningURL(o.data); running {
		return stop, nil
	}
	if _, err := os.Stat(o.data); err != nil {
		return nil, fmt.Errorf("there is no database: %s does not exist and --database is not set; start causeway dev, or set --data to its folder", o.data)
	}
	server, err := pgembed.Start(ctx, pgembed.Options{Dir: o.data})
	if err != nil {
		return nil, err
	}
	o.URL = server.URL()
	return func() error { return server.Stop(context.WithoutCancel(ctx)) }, nil
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now().UTC() }

// createPlatform creates a platform and prints its credentials.
func createPlatform(ctx context.Context, url string, out io.Writer) (ident.Platform, error) {
	generator := ids.New()
	store, err := postgres.Open(ctx, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: wallClock{}, IDs: generator})
	if err != nil {
		return ident.Platform{}, err
	}
	defer store.Close()
	created, err := platforms.New(platforms.Config{Store: store, Clock: wallClock{}, IDs: generator,
		Rails: ports.RailsByEnvironment{platform.Sandbox: sandbox.New(wallClock{}, 1)}}).
		Create(ctx, platforms.CreateRequest{Name: "History", Environment: platform.Sandbox})
	if err != nil {
		return ident.Platform{}, err
	}
	_, err = fmt.Fprintf(out, "platform  %s\nclient    %s\nsecret    %s\n", created.Platform.ID, created.Token.ClientID, created.Secret)
	return created.Platform.ID, err
}
