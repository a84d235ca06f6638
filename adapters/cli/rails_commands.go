package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/ports"
)

// RailsCommand manages the connections of production platforms to partners and chains.
type RailsCommand struct {
	List     railsListCommand     `cmd:"" help:"List the connections to banks, partners and chains, and what is paused."`
	Show     railsShowCommand     `cmd:"" help:"Show a connection with its settings, and what its account holds; with --output json the file that causeway rails set takes."`
	Calendar railsCalendarCommand `cmd:"" help:"Show the cut-offs and business days of a connection, where they come from, and when a payment of now would settle."`
	Set      railsSetCommand      `cmd:"" help:"Create a connection, or change it, from a JSON file, and test it. If the test fails, nothing is changed. Servers follow within 5 seconds. Payments that have a connection keep it."`
	Test     railsTestCommand     `cmd:"" help:"Test the latest version of a connection, and record the result; payments take only what was tested. No money moves. Exits 1 on failure."`
	Retire   railsRetireCommand   `cmd:"" help:"Give a connection no new payments, and name it in no instruction. What was handed over is still asked about, and what it reports is read. To open it again, set it."`
	Delete   railsDeleteCommand   `cmd:"" help:"End a connection that is retired and settled, or that was never tested and has carried nothing. Its history stays."`
	Pause    railsPauseCommand    `cmd:"" help:"Stop a connection, or a rail on all connections: no payment leaves that has not left before. What has left is still asked about. Says how much is held, and how much can no longer be stopped."`
	Resume   railsResumeCommand   `cmd:"" help:"Resume a connection or a rail that was paused. What waited for it is sent in order."`
	History  railsHistoryCommand  `cmd:"" help:"Print every version and pause of a connection, or every pause of a rail."`
	Prove    railsProveCommand    `cmd:"" help:"Compare the ledger with what partners and chains say that they hold, as the service does every day. Exits 1 if they differ."`
	Balance  railsBalanceCommand  `cmd:"" help:"Show what a connection can pay out, or set its balance if its partner reports none."`

	Proposals railsProposalsCommand `cmd:"" help:"List and show proposed changes of connections: set, retire, delete and balance make them if a platform that the connection serves lists CONNECTION in fourEyes."`
	Approve   railsApproveCommand   `cmd:"" help:"Approve a proposed change of another person, and make it. A connection is tested again."`
	Reject    railsRejectCommand    `cmd:"" help:"Reject a proposed change, for good."`

	Inbox      railsInboxCommand      `cmd:"" help:"What partners, banks and chains reported and the service could not take: list, show, retry or discard it."`
	Statements railsStatementsCommand `cmd:"" help:"Statements of partners that wait to be reconciled: list, retry or discard them."`
	Notices    railsNoticesCommand    `cmd:"" help:"List what is to be looked at in the files of a bank, newest first. Needs CAUSEWAY_MASTER_KEY with a database URL if a file corrects an account, because that is personal data."`
}

// changeRails calls fn with the use cases of operators on connections, and who runs the command, with the reason.
func (f noteFlag) changeRails(ctx context.Context, env *Env, database DatabaseFlags, a actorFlag,
	fn func(*rails.Service, rails.Author) error) error {
	return a.withAuthor(ctx, env, database, "nothing was changed", func(services Services, by platform.Author) error {
		return fn(services.Rails(), rails.Author{Actor: by.Actor, Person: by.Person, Note: f.Note})
	})
}

// withRails calls fn with the use cases of operators on connections.
func (f DatabaseFlags) withRails(ctx context.Context, env *Env, fn func(*rails.Service) error) error {
	return f.with(ctx, env, AsRequest, func(services Services) error { return fn(services.Rails()) })
}

type railsListCommand struct {
	DatabaseFlags
	outputFlag
}

func (c railsListCommand) Run(ctx context.Context, env *Env) error {
	return c.withRails(ctx, env, func(service *rails.Service) error {
		listed, pauses, err := service.List(ctx)
		if err != nil {
			return err
		}
		page := table.Page{Keyed: true}
		page.Table("connections", connectionsTable(listed), "There are no connections. Create one with: causeway rails set")
		for _, l := range listed {
			if text := untestedText(l.RailConnectionVersion); text != "" {
				page.Line("%s", text)
			}
		}
		paused := table.New("name", "paused", "by", "note")
		for _, p := range pauses {
			paused.Add(p.Name, p.At, p.By, p.Note)
			if corridor.Rail(p.Name).Known() {
				page.Line("The rail %s is paused since %s by %s: %s", p.Name, formatMinute(p.At), table.Printable(p.By), table.Printable(p.Note))
			}
		}
		page.Data("paused", paused)
		if err := addOpenPayments(ctx, &page, service, ""); err != nil {
			return err
		}
		return c.print(env, &page)
	})
}

func connectionsTable(listed []rails.Listed) *table.Table {
	t := table.New("name", "adapter", ">version", ">priority", "state", "rails", "currencies", "countries", "platforms")
	for _, l := range listed {
		state := "open"
		if len(l.PausedBy) > 0 {
			state = "partly paused"
		}
		paused := func(name string) bool {
			return slices.ContainsFunc(l.PausedBy, func(p ports.RailPause) bool { return p.Name == name })
		}
		if paused(l.Name) || !slices.ContainsFunc(l.Rails, func(r corridor.Rail) bool { return !paused(string(r)) }) {
			state = "paused"
		}
		switch {
		case l.Retired:
			state = "retired"
		case l.Untested:
			state = "not tested"
		}
		t.Add(l.Name, l.Adapter, l.Version, l.Priority, state, joinTexts(l.Rails, ","), joinTexts(l.Currencies, ","),
			cmp.Or(strings.Join(l.Countries, ","), "all"), platformsText(l.Connection))
	}
	return t
}

// untestedText says what waits for a test of a connection; empty if nothing does.
func untestedText(v ports.RailConnectionVersion) string {
	switch {
	case v.Latest > v.Version:
		return fmt.Sprintf("Version %d of %s was not tested, and version %d is in use until this passes: causeway rails test %s", v.Latest,
			v.Name, v.Version, v.Name)
	case v.Untested && !v.Retired:
		return fmt.Sprintf("%s was not tested, and no payment takes it until this passes: causeway rails test %s", v.Name, v.Name)
	}
	return ""
}

func platformsText(c rail.Connection) string {
	switch len(c.Platforms) {
	case 0:
		return "all"
	case 1:
		return c.Platforms[0].String()
	default:
		return fmt.Sprintf("%d platforms", len(c.Platforms))
	}
}

func formatMinute(t time.Time) string { return table.Minute(t).Text }

type railsShowCommand struct {
	DatabaseFlags
	outputFlag
	Name string `arg:"" help:"Name of the connection."`
}

func (c railsShowCommand) Run(ctx context.Context, env *Env) error {
	return c.withRails(ctx, env, func(service *rails.Service) error {
		shown, err := service.Show(ctx, c.Name)
		if err != nil {
			return err
		}
		file, err := rails.File(shown.Connection)
		if err != nil {
			return err
		}
		if c.Output == table.JSON {
			return env.say(nil, "%s\n", file)
		}
		var page table.Page
		page.Line("%s, version %d, set %s by %s: %s\n%s", shown.Name, shown.Version, formatMinute(shown.SetAt), table.Printable(shown.By),
			table.Printable(shown.Note), file)
		for _, p := range shown.PausedBy {
			page.Line("%s is paused since %s by %s: %s", p.Name, formatMinute(p.At), table.Printable(p.By), table.Printable(p.Note))
		}
		addTestState(&page, shown)
		addRailAccounts(&page, shown)
		return c.print(env, &page)
	})
}

// addTestState adds whether a connection is retired, the last test of it, and what waits for one.
func addTestState(page *table.Page, shown rails.Shown) {
	if shown.Retired {
		page.Line("%s is retired since %s by %s: %s", shown.Name, formatMinute(shown.SetAt), table.Printable(shown.By),
			table.Printable(shown.Note))
	}
	if t := shown.Test; t != nil && t.Passed {
		page.Line("Version %d was tested %s: %s", t.Version, formatMinute(t.At), table.Printable(strings.Join(t.Checked, "; ")))
	} else if t != nil {
		page.Line("The test of version %d failed %s: %s", t.Version, formatMinute(t.At), table.Printable(t.Problem))
	}
	if text := untestedText(shown.RailConnectionVersion); text != "" {
		page.Line("%s", text)
	}
}

func addRailAccounts(page *table.Page, shown rails.Shown) {
	t := table.New("currency", ">balance", "at", ">in flight", ">available", ">sent today")
	for _, a := range shown.Accounts {
		amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: a.Currency} }
		available, known := a.Available()
		cells := []table.Cell{{Text: "not known"}, {Text: "-"}, {Text: "not checked"}}
		if known {
			cells = []table.Cell{table.CellOf(amount(a.Balance)), table.Minute(a.BalanceAt), table.CellOf(available)}
		}
		var day int64
		for _, u := range a.Usage {
			day += u.Day
		}
		t.Add(a.Currency, cells[0], cells[1], amount(a.InFlight), cells[2], amount(day))
	}
	page.Table("accounts", t, "No payment was made over it yet, and no balance is known.")
}

type railsSetCommand struct {
	DatabaseFlags
	Name     string `arg:"" help:"Name of the connection, such as bank-eur."`
	File     string `arg:"" help:"JSON file of the connection." type:"path"`
	Untested bool   `help:"Store it without a test. No payment takes it, or the version before stays in use, until causeway rails test passes."`
	noteFlag
	actorFlag
}

// railTestTimeout bounds a test of a connection.
const railTestTimeout = time.Minute

func (c railsSetCommand) Run(ctx context.Context, env *Env) error {
	file, err := readBounded(c.File, rails.MaxFile)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, railTestTimeout)
	defer cancel()
	return c.changeRails(ctx, env, c.DatabaseFlags, c.actorFlag, func(service *rails.Service, by rails.Author) error {
		set, checked, err := service.Set(ctx, c.Name, file, by, c.Untested)
		var broken *rails.NotWorking
		if errors.As(err, &broken) {
			return errors.Join(writeChecked(env.Out, broken.Checked),
				fmt.Errorf(
					"nothing was changed: %w. Correct it, or store it with --untested: no payment takes it then until causeway rails test passes", err))
		}
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		if err := writeChecked(env.Out, checked); err != nil {
			return err
		}
		if set.Proposal != nil {
			return sayProposed(env, c.Name, set.Proposal)
		}
		v, used := set.Done, "It works, and servers use it within 5 seconds."
		if v.Untested {
			used = "It was not tested: no payment takes it, or the version before stays in use, until this passes: causeway rails test " + v.Name
		}
		return env.say(nil, "%s is set, as version %d. %s\n", v.Name, v.Version, used)
	})
}

// writeChecked writes what a test has found to be right.
func writeChecked(out io.Writer, checked []string) error {
	for _, line := range checked {
		if _, err := fmt.Fprintln(out, "ok: "+table.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// readBounded reads a file of at most a number of bytes.
func readBounded(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, err
}

type railsTestCommand struct {
	DatabaseFlags
	Name string `arg:"" help:"Name of the connection."`
}

func (c railsTestCommand) Run(ctx context.Context, env *Env) error {
	ctx, cancel := context.WithTimeout(ctx, railTestTimeout)
	defer cancel()
	return c.withRails(ctx, env, func(service *rails.Service) error {
		v, checked, err := service.Test(ctx, c.Name)
		if failed := writeChecked(env.Out, checked); failed != nil || err != nil {
			return cmp.Or(failed, settingErrors(c.Name+" does not work", err))
		}
		used := ""
		if v.Untested && !v.Retired {
			used = fmt.Sprintf(" Servers use version %d within 5 seconds.", v.Version)
		}
		return env.say(nil, "%s works.%s\n", c.Name, used)
	})
}

// railsEndArgs name a connection that is retired or deleted.
type railsEndArgs struct {
	DatabaseFlags
	Name string `arg:"" help:"Name of the connection."`
	noteFlag
	actorFlag
}

func (c railsEndArgs) end(ctx context.Context, env *Env,
	change func(*rails.Service, context.Context, string, rails.Author) (proposal.Outcome[ports.RailConnectionVersion], error),
	done string) error {
	return c.changeRails(ctx, env, c.DatabaseFlags, c.actorFlag, func(service *rails.Service, by rails.Author) error {
		ended, err := change(service, ctx, c.Name, by)
		if err == nil && ended.Proposal != nil {
			return sayProposed(env, c.Name, ended.Proposal)
		}
		return env.say(settingErrors("nothing was changed", err), "%s is %s, as version %d.\n", c.Name, done, ended.Done.Version)
	})
}

type railsRetireCommand struct{ railsEndArgs }

func (c railsRetireCommand) Run(ctx context.Context, env *Env) error {
	return c.end(ctx, env, (*rails.Service).Retire, "retired")
}

type railsDeleteCommand struct{ railsEndArgs }

func (c railsDeleteCommand) Run(ctx context.Context, env *Env) error {
	return c.end(ctx, env, (*rails.Service).Delete, "deleted")
}

// railsSwitchArgs name what is paused or resumed.
type railsSwitchArgs struct {
	DatabaseFlags
	Name string `arg:"" help:"Name of a connection, or a rail such as SEPA."`
	noteFlag
	actorFlag
}

func (c railsSwitchArgs) set(ctx context.Context, env *Env, paused bool, done string) error {
	return c.changeRails(ctx, env, c.DatabaseFlags, c.actorFlag, func(service *rails.Service, by rails.Author) error {
		if err := service.Pause(ctx, c.Name, paused, by); err != nil {
			return settingErrors("nothing was changed", err)
		}
		if _, err := fmt.Fprintf(env.Out, "%s %s\n", c.Name, done); err != nil {
			return err
		}
		if !paused {
			return nil
		}
		return printOpenPayments(ctx, env, service, c.Name)
	})
}

type railsPauseCommand struct{ railsSwitchArgs }

func (c railsPauseCommand) Run(ctx context.Context, env *Env) error {
	return c.set(ctx, env, true, "is paused: no payment leaves that has not left before. Payments wait until: causeway rails resume "+c.Name)
}

type railsResumeCommand struct{ railsSwitchArgs }

func (c railsResumeCommand) Run(ctx context.Context, env *Env) error {
	return c.set(ctx, env, false, "is resumed. What waited for it is sent within seconds.")
}
