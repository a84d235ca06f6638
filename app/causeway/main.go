// Command causeway moves money across currencies and rails for platforms, on a
// double-entry ledger.
//
// Package main holds the settings, the wiring and the commands. It is the only package
// that imports every adapter, and it contains no payment rules.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
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

	Dev     devCommand     `cmd:"" group:"Run and develop" help:"Run the service on this machine, with a private Postgres."`
	Demo    demoCommand    `cmd:"" group:"Run and develop" help:"Make a sandbox payment against a running server, and show it."`
	Serve   serveCommand   `cmd:"" group:"Run and develop" help:"Run the API and the workers on a database."`
	Migrate migrateCommand `cmd:"" group:"Run and develop" help:"Upgrade the database to the schema of this version."`

	Listen  listenCommand  `cmd:"" group:"Run and develop" help:"Print the webhooks of a sandbox platform, and forward them."`
	Trigger triggerCommand `cmd:"" group:"Run and develop" help:"Make a webhook of a sandbox platform happen."`
	Logs    logsCommand    `cmd:"" group:"Run and develop" help:"List or follow the API requests of a platform."`
	Open    openCommand    `cmd:"" group:"Run and develop" help:"Open the console at a payment, a customer or another object."`
	Sandbox sandboxCommand `cmd:"" group:"Run and develop" help:"Fill a sandbox platform, and move its payments on in time."`

	Login     cli.LoginCommand     `cmd:"" group:"Platforms and customers" help:"Sign in on the command line. See also logout and whoami."`
	Logout    cli.LogoutCommand    `cmd:"" hidden:"" help:"Sign out on the command line."`
	Whoami    cli.WhoamiCommand    `cmd:"" hidden:"" help:"Show who has signed in on the command line."`
	People    cli.PeopleCommand    `cmd:"" group:"Platforms and customers" help:"Invite those who work with the console, and set their roles."`
	Platform  cli.PlatformCommand  `cmd:"" group:"Platforms and customers" help:"Create, change and list platforms."`
	Token     cli.TokenCommand     `cmd:"" group:"Platforms and customers" help:"Create, list and delete the API tokens of a platform."`
	Customers cli.CustomersCommand `cmd:"" group:"Platforms and customers" help:"List customers, and erase the data of deleted ones."`
	Reviews   cli.ReviewsCommand   `cmd:"" group:"Platforms and customers" help:"Decide verifications that wait for a person."`
	Screening cli.ScreeningCommand `cmd:"" group:"Platforms and customers" help:"Load the sanctions lists that names are compared with."`
	Documents cli.DocumentsCommand `cmd:"" group:"Platforms and customers" help:"List the documents of customers, and open their files."`
	Identity  identityCommand      `cmd:"" hidden:"" group:"Platforms and customers" help:"Test an identity provider."`
	Agents    cli.AgentsCommand    `cmd:"" group:"Platforms and customers" help:"Show agents: their policies, and what they have sent."`
	Wallets   cli.WalletsCommand   `cmd:"" group:"Platforms and customers" help:"Show embedded wallets, and verify their payments."`

	Corridors cli.CorridorsCommand `cmd:"" group:"Payments and books" help:"Show and change fees, limits and rate lock times."`
	Rails     railsCommand         `cmd:"" group:"Payments and books" help:"Connect production platforms to banks, partners and chains."`
	Recover   cli.RecoverCommand   `cmd:"" group:"Payments and books" help:"Review what the database has lost, and let money move again."`
	Payouts   cli.PayoutsCommand   `cmd:"" group:"Payments and books" help:"Decide about payments that wait for a review or for money."`
	Jobs      cli.JobsCommand      `cmd:"" group:"Payments and books" help:"List the jobs of payments, and retry or discard dead ones."`

	Ledger cli.LedgerCommand `cmd:"" group:"Payments and books" help:"Read, check, export, reconcile and close the ledger."`

	Keys     cli.KeysCommand     `cmd:"" group:"Operation" help:"Replace the keys that encrypt stored data."`
	Webhooks cli.WebhooksCommand `cmd:"" group:"Operation" help:"Replace the keys that sign webhooks."`
	Mails    cli.MailsCommand    `cmd:"" group:"Operation" help:"List the mails and text messages to customers."`
	Backup   cli.BackupCommand   `cmd:"" group:"Operation" help:"Restore a backup beside the service, and check its ledger."`
	OpenAPI  openAPICommand      `cmd:"" name:"openapi" group:"Operation" help:"Print the OpenAPI description of the API."`
	MCP      mcpCommand          `cmd:"" name:"mcp" group:"Operation" help:"Let a language model pay, as an agent, over MCP."`

	Completion cli.CompletionCommand `cmd:"" hidden:"" help:"Print what makes a shell complete commands and values."`
	Complete   cli.CompleteCommand   `cmd:"" hidden:""`

	Version versionCommand `cmd:"" hidden:"" help:"Print the version, as --version does."`
}

type versionCommand struct{}

func (versionCommand) Run(env *cli.Env) error {
	_, err := fmt.Fprintln(env.Out, env.Version)
	return err
}

func versionText() string {
	return fmt.Sprintf("causeway %s (%s, commit %s)", version, runtime.Version(), commit)
}

const (
	// startGCPercent is the growth of the heap between two collections at the start of a service. Most of what a start allocates is soon
	// garbage; if it is collected late, what stays is spread over a larger heap, and that stays too. It costs 0.2 s of processor time.
	startGCPercent = 30
	// commandGCPercent is that of commands. Exports would need 10 MB more with twice as much.
	commandGCPercent = 100
	// runGCPercent is that of a running service. The live heap is small, so collecting less often costs little memory: with 128 payments in
	// flight, 46 MB are live, and 145 used.
	runGCPercent = 180
)

// setGCPercent sets it unless the environment does.
func setGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// runsService reports whether a command serves until it is stopped.
func runsService(command string) bool { return command == "dev" || command == "serve" }

func main() {
	setGCPercent(startGCPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command that args name and returns its exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	return runIn(ctx, newEnv(out, errOut), args)
}

func runIn(ctx context.Context, env *cli.Env, args []string) int {
	out, errOut := env.Out, env.ErrOut
	parser, err := newParser(declarations(args), out, errOut)
	if err == nil && len(otherVariables(knownVariables(parser.Model), os.Environ())) > 0 {
		parser, err = newParser(new(commands), out, errOut) // they may be settings of another command
	}
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
	env.Command, env.Platform = cli.CommandPath(parsed.Selected()), cli.PlatformOf(parsed.Selected())
	if !runsService(env.Command) {
		setGCPercent(commandGCPercent)
	}
	if err := selectedCommand(ctx, env, parsed)(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			if runsService(env.Command) {
				return 0 // stopped as asked, though it was still starting
			}
			err = errors.New("interrupted")
		}
		fmt.Fprintln(errOut, "causeway:", errorText(err))
		return 1
	}
	return 0
}

// selectedCommand returns what runs the command that was selected. Almost every one is called without the parser, so that its model of
// all commands, two megabytes, is garbage while the command runs.
func selectedCommand(ctx context.Context, env *cli.Env, parsed *kong.Context) func() error {
	if c, ok := parsed.Selected().Target.Addr().Interface().(command); ok {
		return func() error { return c.Run(ctx, env) }
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(env)
	return func() error { return parsed.Run() }
}

// command is the form of almost every command, and of those that serve until they are stopped.
type command interface {
	Run(ctx context.Context, env *cli.Env) error
}

var _, _ command = devCommand{}, serveCommand{}

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

// declarations returns the commands that the parser has to know. Reading all of them takes a third of a short command's time, so that it
// is only the one that the arguments begin with, if they do and it does not look at the others.
func declarations(args []string) any {
	all := reflect.TypeFor[commands]()
	for field := range all.Fields() {
		name := cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name))
		if _, isCommand := field.Tag.Lookup("cmd"); isCommand && len(args) > 0 && args[0] == name && name != "complete" {
			version, _ := all.FieldByName("ShowVersion")
			return reflect.New(reflect.StructOf([]reflect.StructField{version, field})).Interface()
		}
	}
	return new(commands)
}

func newParser(root any, out, errOut io.Writer) (*kong.Kong, error) {
	parser, err := kong.New(root,
		kong.Name("causeway"),
		kong.Description("Moves money across currencies and rails.\nStart with: causeway dev"),
		kong.Writers(out, errOut),
		kong.UsageOnError(),
		kong.Resolvers(kong.ResolverFunc(secretFiles)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{"version": versionText()},
	)
	if err != nil {
		return nil, err
	}
	cli.AddExamples(parser)
	return parser, nil
}
