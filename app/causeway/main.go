// Command causeway moves money across currencies and rails for platforms, on a
// double-entry ledger.
//
// Package main holds the settings, the wiring and the commands. It is the only package
// that imports every adapter, and it contains no payment rules.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"causeway/adapters/cli"
	"causeway/core/fault"
)

// version and commit are set by the build.
var (
	version = "development"
	commit  = "unknown"
)

type commands struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version, that of Go, and the commit."`

	Dev       devCommand           `cmd:"" help:"Run the service on this machine with a private Postgres in the data folder. The first start creates a sandbox platform and runs the demo payment."`
	Serve     serveCommand         `cmd:"" help:"Run the API and the workers on the database DATABASE_URL. Any number of processes can share one database."`
	Migrate   migrateCommand       `cmd:"" help:"Upgrade the database to this version's schema, and exit."`
	Platform  cli.PlatformCommand  `cmd:"" help:"Create and list platforms."`
	Token     cli.TokenCommand     `cmd:"" help:"Create, list and delete the API tokens of a platform, for example after its credentials were lost."`
	Customers cli.CustomersCommand `cmd:"" help:"List customers, and erase the personal data of deleted ones."`
	Agents    cli.AgentsCommand    `cmd:"" help:"Show the agents of customers: their policies, and what they have sent."`
	Documents cli.DocumentsCommand `cmd:"" help:"List the documents of customers, and open their files."`
	Corridors cli.CorridorsCommand `cmd:"" help:"Show and change fees, limits and rate lock times."`
	Rails     railsCommand         `cmd:"" help:"Connect production platforms to banks, partners and chains."`
	Payouts   cli.PayoutsCommand   `cmd:"" help:"Decide about payments that wait for a review or for money."`
	Demo      demoCommand          `cmd:"" help:"Run one sandbox payment against a running server, US dollars to bitcoin, and show its webhooks and ledger entries."`
	Mails     cli.MailsCommand     `cmd:"" help:"List the mails to customers."`
	Jobs      cli.JobsCommand      `cmd:"" help:"List the jobs that continue payments, and retry or discard dead ones."`
	Ledger    cli.LedgerCommand    `cmd:"" help:"Read, check, export and close the ledger."`
	Webhooks  cli.WebhooksCommand  `cmd:"" help:"Replace the keys that sign webhooks."`
	Reviews   cli.ReviewsCommand   `cmd:"" help:"Decide the verifications of customers and beneficial owners that wait for a person."`
	Identity  identityCommand      `cmd:"" help:"Test an identity provider."`
	Screening cli.ScreeningCommand `cmd:"" help:"Load the sanctions lists that the names of customers are screened against when they are reviewed."`
	Wallets   cli.WalletsCommand   `cmd:"" help:"Show embedded wallets, and verify their payments."`
	Keys      cli.KeysCommand      `cmd:"" help:"Replace the keys that encrypt stored data."`
	MCP       mcpCommand           `cmd:"" name:"mcp" help:"Let a language model pay for a customer, as an agent under its policy, over the Model Context Protocol."`

	Completion cli.CompletionCommand `cmd:"" help:"Print what makes a shell complete commands, flags and values: source <(causeway completion bash)."`
	Complete   cli.CompleteCommand   `cmd:"" hidden:""`

	Version versionCommand `cmd:"" help:"Print the version, as --version does."`
}

type versionCommand struct{}

func (versionCommand) Run(env *cli.Env) error {
	_, err := fmt.Fprintln(env.Out, env.Version)
	return err
}

func versionText() string {
	return fmt.Sprintf("causeway %s (%s, commit %s)", version, runtime.Version(), commit)
}

func main() {
	if os.Getenv("GOGC") == "" {
		// The live heap is small, so collecting half as often costs little memory.
		debug.SetGCPercent(200)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command that args name and returns its exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	return runIn(ctx, newEnv(out, errOut), args)
}

func runIn(ctx context.Context, env *cli.Env, args []string) int {
	var root commands
	out, errOut := env.Out, env.ErrOut
	parser, err := newParser(&root, out, errOut)
	if err != nil {
		fmt.Fprintln(errOut, "causeway:", err)
		return 2
	}
	if err := checkEnvironment(parser.Model, os.Environ()); err != nil {
		fmt.Fprintln(errOut, "causeway:", err)
		return 2
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		var parseErr *kong.ParseError
		if errors.As(err, &parseErr) && len(args) == 0 {
			_ = parseErr.Context.PrintUsage(false)
			return 2
		}
		fmt.Fprintf(errOut, "causeway: %s\n%s", err, parseErrorHint(parseErr))
		return 2
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(env)
	if err := parsed.Run(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(errOut, "causeway:", errorText(err))
		return 1
	}
	return 0
}

// errorText returns the text of an error without the reason of a fault, which is for programs.
func errorText(err error) string {
	text := err.Error()
	if f, ok := fault.As(err); ok && f.Reason != "" {
		text = strings.TrimSuffix(text, " ("+f.Reason+")")
	}
	return text
}

// parseErrorHint says what to do about an error in the arguments: the environment variables of the
// flags that are missing, and the help of the command.
func parseErrorHint(err *kong.ParseError) string {
	command := ""
	var hint strings.Builder
	if err != nil && err.Context.Selected() != nil {
		command = cli.CommandPath(err.Context.Selected()) + " "
		for _, f := range err.Context.Selected().Flags {
			if f.Required && !f.Set && len(f.Envs) > 0 {
				fmt.Fprintf(&hint, "--%s can be set as %s: %s\n", f.Name, strings.Join(f.Envs, " or "), f.Help)
			}
		}
	}
	return hint.String() + "Try causeway " + command + "--help.\n"
}

func newParser(root *commands, out, errOut io.Writer) (*kong.Kong, error) {
	parser, err := kong.New(root,
		kong.Name("causeway"),
		kong.Description("Moves money across currencies and rails, on a double-entry ledger.\n\n"+
			"Start with: causeway dev"),
		kong.Writers(out, errOut),
		kong.UsageOnError(),
		kong.Resolvers(kong.ResolverFunc(secretFiles)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": versionText()},
	)
	if err != nil {
		return nil, err
	}
	cli.AddExamples(parser)
	return parser, nil
}
