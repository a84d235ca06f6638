// Command make writes a long history into a database, so that Causeway can be tried at
// size: the books of months, with as many entries as are wanted, on a platform that was
// made before or on a new one.
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

// options are the flags.
type options struct {
	database, data  string
	platform        ident.Platform
	entries, months int
	seed            uint64
}

// parse reads the flags; help goes to usage.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("make", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.database, "database", os.Getenv("DATABASE_URL"), "the `URL` of the database (DATABASE_URL)")
	flags.StringVar(&o.data, "data", ".causeway", "without --database: the data `folder` of causeway dev, which may be running")
	flags.IntVar(&o.entries, "entries", 1_000_000, "`entries` to write")
	flags.IntVar(&o.months, "months", 12, "whole `months` that the books have before the present one")
	flags.Uint64Var(&o.seed, "seed", 1, "the `number` that decides what happens; the same one writes the same books, but for ids and the time")
	flags.Func("platform", "the `ID` of a platform with nothing in its books; without it, a new one is made", func(text string) (err error) {
		o.platform, err = ident.ParsePlatform(text)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%s is not a flag", flags.Arg(0))
	case o.entries < history.MinEntries || o.entries > history.MaxEntries:
		return o, fmt.Errorf("--entries must be from %d to %d, not %d", history.MinEntries, history.MaxEntries, o.entries)
	case o.months < 1 || o.months > history.MaxMonths:
		return o, fmt.Errorf("--months must be from 1 to %d, not %d", history.MaxMonths, o.months)
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
	err = run(ctx, o, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer, watched *os.File) (err error) {
	url, giveBack, err := o.openDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, giveBack()) }()
	owner, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("the database URL is not usable: %w", err)
	}
	defer owner.Close()
	if err := migrations.Up(ctx, owner); err != nil {
		return err
	}
	if o.platform.IsZero() {
		if o.platform, err = createPlatform(ctx, url, out); err != nil {
			return err
		}
	}
	shown := newProgress(watched, o.entries)
	made, err := history.Write(ctx, history.Options{URL: url, Platform: o.platform, Entries: o.entries, Months: o.months, Seed: o.seed, Progress: shown.set})
	shown.finish()
	if err != nil {
		return err
	}
	// Months of postings have come in no time: Postgres has not looked at them yet.
	if _, err := owner.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote     %d entries, in %d postings of %d payments and of fees\naccounts  %d\nfrom      %s\nto        %s\ntook      %.1f s, %.0f entries/s\n",
		made.Entries, made.Postings, made.Payments, len(made.Accounts), made.From.Format(time.DateOnly), made.Until.Format(time.DateOnly),
		made.Duration.Seconds(), float64(made.Entries)/made.Duration.Seconds())
	return err
}

// openDatabase finds the database; the function gives it back.
func (o options) openDatabase(ctx context.Context) (string, func() error, error) {
	keep := func() error { return nil }
	if o.database != "" {
		return o.database, keep, nil
	}
	if running, ok := pgembed.RunningURL(o.data); ok {
		return running, keep, nil
	}
	if _, err := os.Stat(o.data); err != nil {
		return "", nil, fmt.Errorf("there is no database: %s does not exist and no --database is named; start causeway dev, or name the folder with --data", o.data)
	}
	server, err := pgembed.Start(ctx, pgembed.Options{Dir: o.data})
	if err != nil {
		return "", nil, err
	}
	return server.URL(), func() error { return server.Stop(context.WithoutCancel(ctx)) }, nil
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now().UTC() }

// createPlatform makes a platform in the way of causeway platform create, and says how to call the
// service in its name.
func createPlatform(ctx context.Context, url string, out io.Writer) (ident.Platform, error) {
	made := ids.New()
	db, err := postgres.Open(ctx, postgres.Options{URL: url, MaxConnections: 2, Clock: wallClock{}, IDs: made})
	if err != nil {
		return ident.Platform{}, err
	}
	defer db.Close()
	founded, err := platforms.New(platforms.Config{Store: db, Clock: wallClock{}, IDs: made,
		Rails: ports.RailsByEnvironment{platform.Sandbox: sandbox.New(wallClock{}, 1)}}).
		Create(ctx, platforms.CreateRequest{Name: "History", Environment: platform.Sandbox})
	if err != nil {
		return ident.Platform{}, err
	}
	_, err = fmt.Fprintf(out, "platform  %s\nclient    %s\nsecret    %s\n", founded.Platform.ID, founded.Token.ClientID, founded.Secret)
	return founded.Platform.ID, err
}
