package cli

import (
	"context"
	"strings"

	"causeway/adapters/cli/table"
	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type ledgerSettingsCommand struct {
	Show     ledgerSettingsShowCommand     `cmd:"" help:"Print the accounting policies of a platform."`
	Set      ledgerSettingsSetCommand      `cmd:"" help:"Change accounting policies of a platform."`
	Versions ledgerSettingsVersionsCommand `cmd:"" help:"Print the latest changes of the accounting policies of a platform."`
}

// booksCommand holds the arguments of a command that shows the books of a platform.
type booksCommand struct{ tableFlags }

func (c booksCommand) run(ctx context.Context, env *Env, run func(*booksapp.Service, ident.Platform) error) error {
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		return settingErrors("nothing was changed", run(services.Books(), p))
	})
}

// booksChangeCommand holds the arguments of a command that changes them.
type booksChangeCommand struct {
	changeFlags
	outputFlag
	Note string `help:"Why. It is recorded."`
}

func (c booksChangeCommand) change(ctx context.Context, env *Env,
	change func(*booksapp.Service, ident.Platform, booksapp.Change) error) error {
	return c.changeFlags.change(ctx, env, OnBooks, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		return settingErrors("nothing was changed", change(services.Books(), p, booksapp.Change{By: by, Note: c.Note}))
	})
}

type ledgerSettingsShowCommand struct{ booksCommand }

func (l ledgerSettingsShowCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(service *booksapp.Service, p ident.Platform) error {
		settings, err := service.Settings(ctx, p)
		if err != nil {
			return err
		}
		return l.printSettings(env, settings.Settings)
	})
}

type ledgerSettingsSetCommand struct {
	booksChangeCommand
	Changes []string `arg:"" help:"Changes: functionalCurrency=USD, unrealisedResult=REVERSE or KEEP, feeRecognition=CONVERSION or DELIVERY, yearEndMonth=12, receivablesAllowance=1,5,25,100, fourEyes=ADJUSTMENT,CLOSE. What is not named stays." placeholder:"NAME=VALUE"`
}

func (l ledgerSettingsSetCommand) Run(ctx context.Context, env *Env) error {
	return l.change(ctx, env, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		set, err := service.EditSettings(ctx, p, change, func(present books.Settings) (books.Settings, error) {
			return present.With(l.Changes...)
		})
		if err != nil {
			return err
		}
		return l.printSettings(env, set.Settings)
	})
}

func (f outputFlag) printSettings(env *Env, s books.Settings) error {
	rows := table.New("setting", "value")
	rows.Add("functionalCurrency", table.Or(s.FunctionalCurrency, "none"))
	rows.Add("unrealisedResult", s.UnrealisedResult)
	rows.Add("feeRecognition", s.FeeRecognition)
	rows.Add("yearEndMonth", int(s.YearEndMonth))
	rows.Add("receivablesAllowance", table.Or(s.ReceivablesAllowance.String(), "none"))
	rows.Add("fourEyes", table.Or(joinTexts(s.FourEyes, ","), "none"))
	return f.printTable(env, rows, "")
}

// joinTexts joins texts of any type.
func joinTexts[T ~string](values []T, separator string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, separator)
}

// versionsCommand holds the arguments of a command that lists changes of the books.
type versionsCommand struct {
	booksCommand
	Limit int `default:"20" help:"Maximum number of changes to print."`
}

// filter selects the latest versions, at least one.
func (c versionsCommand) filter() ports.VersionFilter {
	return ports.VersionFilter{Limit: max(1, c.Limit)}
}

type ledgerSettingsVersionsCommand struct{ versionsCommand }

func (l ledgerSettingsVersionsCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(service *booksapp.Service, p ident.Platform) error {
		page, err := service.SettingsVersions(ctx, p, l.filter())
		if err != nil {
			return err
		}
		rows := table.New("version", "changed (UTC)", "by", "functionalCurrency|functional_currency", "unrealisedResult|unrealised_result",
			"feeRecognition|fee_recognition", "yearEndMonth|year_end_month", "receivablesAllowance|receivables_allowance", "fourEyes|four_eyes",
			"note")
		for _, v := range page.Versions {
			rows.Add(v.Version, table.Second(v.At), changeText(v.By, v.Approval), v.FunctionalCurrency, v.UnrealisedResult, v.FeeRecognition,
				int(v.YearEndMonth), v.ReceivablesAllowance.String(), joinTexts(v.FourEyes, ","), v.Note)
		}
		return l.printTable(env, rows, "")
	})
}
