// Command causeway moves money across currencies and rails for platforms, on a
// double-entry ledger.
//
// This is the roof of the house: configuration, wiring and the commands. It is the
// only code that knows every adapter, and it decides nothing about money.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set by the build.
var version = "development"

type commands struct {
	Dev       devCommand       `cmd:"" help:"Run everything on this machine, with a private Postgres in the data folder. The first start makes a sandbox platform and plays a payment."`
	Serve     serveCommand     `cmd:"" help:"Run the API and the workers against DATABASE_URL. Run as many side by side as you like."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database to this version's schema, and exit."`
	Platform  platformCommand  `cmd:"" help:"Make platforms."`
	Corridors corridorsCommand `cmd:"" help:"Look at what corridors cost, and change it."`
	Demo      demoCommand      `cmd:"" help:"Play a payment against a running server: dollars in, bitcoin out, with its webhooks and ledger entries."`
	Ledger    ledgerCommand    `cmd:"" help:"Look into the books, and prove them."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
}

type versionCommand struct{}

func (versionCommand) Run(out io.Writer) error {
	_, err := fmt.Fprintln(out, "causeway", version)
	return err
}

func main() {
	if os.Getenv("GOGC") == "" {
		// Little is alive at any moment: let twice as much die before it is collected.
		debug.SetGCPercent(200)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: arguments in, exit status out.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	var chosen commands
	parser, err := newParser(&chosen, out, errOut)
	if err != nil {
		fmt.Fprintln(errOut, "causeway:", err)
		return 2
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		var wrong *kong.ParseError
		if errors.As(err, &wrong) && len(args) == 0 {
			_ = wrong.Context.PrintUsage(false)
			return 2
		}
		fmt.Fprintf(errOut, "causeway: %s\nTry causeway --help.\n", err)
		return 2
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.BindTo(out, (*io.Writer)(nil))
	if err := parsed.Run(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("it was interrupted before it was done")
		}
		fmt.Fprintln(errOut, "causeway:", err)
		return 1
	}
	return 0
}

func newParser(chosen *commands, out, errOut io.Writer) (*kong.Kong, error) {
	return kong.New(chosen,
		kong.Name("causeway"),
		kong.Description("Moves money across currencies and rails, on a double-entry ledger.\n\n"+
			"Start with: causeway dev"),
		kong.Writers(out, errOut),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
}
