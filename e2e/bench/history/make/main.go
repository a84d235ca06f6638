// Command make writes a long history into a database, so that Causeway can be tried with a large ledger: months of
// postings with any number of entries, on an existing platform without postings or on a new one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"causeway/adapters/pgembed"
	"causeway/core/ident"
	"causeway/e2e/bench/history"
	"causeway/e2e/kit"
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
	if o.URL == "" {
		var running bool
		if o.URL, running = pgembed.RunningURL(o.data); !running {
			if _, err := os.Stat(o.data); err != nil {
				return fmt.Errorf("there is no database: %s does not exist and --database is not set; "+
					"start causeway dev, or set --data to its folder", o.data)
			}
			server, err := pgembed.Start(ctx, pgembed.Options{Dir: o.data})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
			o.URL = server.URL()
		}
	}
	if err := o.prepare(ctx, out); err != nil {
		return err
	}
	result, err := history.Write(ctx, o.Options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote     %d entries, in %d postings of %d payments and of fees\n"+
		"from      %s\nto        %s\ntook      %.1f s, %.0f entries/s\n",
		o.Entries, result.Postings, result.Payments, result.From.Format(time.DateOnly), result.Until.Format(time.DateOnly),
		result.Duration.Seconds(), float64(o.Entries)/result.Duration.Seconds())
	return err
}

// prepare migrates the database with the program, and creates a platform if none is given.
func (o *options) prepare(ctx context.Context, out io.Writer) error {
	binary, remove, err := kit.Build()
	if err != nil {
		return err
	}
	defer remove()
	migrate := kit.Command{Program: binary, Args: []string{"migrate"}, Env: []string{"DATABASE_URL=" + o.URL}}
	if _, err := kit.MustSucceed(ctx, migrate); err != nil || !o.Platform.IsZero() {
		return err
	}
	created, err := kit.CreatePlatform(ctx, binary, o.URL, "History", "SANDBOX")
	if err != nil {
		return err
	}
	if o.Platform, err = ident.ParsePlatform(created.PlatformID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "platform  %s\nclient    %s\nsecret    %s\n",
		created.PlatformID, created.ClientID, created.ClientSecret)
	return err
}
