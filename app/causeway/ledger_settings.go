package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type ledgerSettingsCommand struct {
	Show     ledgerSettingsShowCommand     `cmd:"" help:"Print the accounting policies of a platform."`
	Set      ledgerSettingsSetCommand      `cmd:"" help:"Change accounting policies of a platform."`
	Versions ledgerSettingsVersionsCommand `cmd:"" help:"Print the latest changes of the accounting policies of a platform."`
}

// booksCommand holds the arguments of a command on the books of a platform.
type booksCommand struct {
	databaseFlags
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c booksCommand) run(ctx context.Context, run func(*booksapp.Service, ident.Platform) error) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		return listFields(run(booksapp.New(booksapp.Config{Store: db, Clock: systemClock{}, IDs: ids.New()}), platform))
	})
}

// listFields lists what is wrong with the settings or lines that a command was given; nothing was changed.
func listFields(err error) error {
	invalid, ok := fault.As(err)
	if !ok || len(invalid.Fields) == 0 {
		return err
	}
	lines := []string{"nothing was changed:"}
	for _, f := range invalid.Fields {
		lines = append(lines, "  "+f.Field+" "+f.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// booksChangeCommand holds the arguments of a command that changes them.
type booksChangeCommand struct {
	booksCommand
	Note string `help:"Reason, stored with the change."`
	actorFlag
}

func (c booksChangeCommand) change(ctx context.Context, change func(*booksapp.Service, ident.Platform, booksapp.Change) error) error {
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return c.run(ctx, func(service *booksapp.Service, p ident.Platform) error {
		return change(service, p, booksapp.Change{By: platform.Author{Actor: actor}, Note: c.Note})
	})
}

type ledgerSettingsShowCommand struct{ booksCommand }

func (l ledgerSettingsShowCommand) Run(ctx context.Context, out io.Writer) error {
	return l.run(ctx, func(service *booksapp.Service, p ident.Platform) error {
		settings, err := service.Settings(ctx, p)
		if err != nil {
			return err
		}
		return writeSettings(out, settings.Settings)
	})
}

type ledgerSettingsSetCommand struct {
	booksChangeCommand
	Changes []string `arg:"" help:"Changes: functionalCurrency=USD, unrealisedResult=REVERSE or KEEP, feeRecognition=CONVERSION or DELIVERY, yearEndMonth=12, fourEyes=ADJUSTMENT,CLOSE. What is not named stays." placeholder:"NAME=VALUE"`
}

func (l ledgerSettingsSetCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		set, err := service.EditSettings(ctx, p, change, func(present books.Settings) (books.Settings, error) { return present.With(l.Changes...) })
		if err != nil {
			return err
		}
		return writeSettings(out, set.Settings)
	})
}

func writeSettings(out io.Writer, s books.Settings) error {
	rows := table{}
	rows.add("functionalCurrency", cmp.Or(string(s.FunctionalCurrency), "none"))
	rows.add("unrealisedResult", string(s.UnrealisedResult))
	rows.add("feeRecognition", string(s.FeeRecognition))
	rows.add("yearEndMonth", fmt.Sprint(int(s.YearEndMonth)))
	rows.add("fourEyes", cmp.Or(joinActions(s.FourEyes), "none"))
	return rows.write(out, "setting", "value")
}

func joinActions(actions []books.Action) string {
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = string(a)
	}
	return strings.Join(names, ",")
}

// firstVersions selects the latest versions, at least one.
func firstVersions(limit int) ports.VersionFilter { return ports.VersionFilter{Limit: max(1, limit)} }

type ledgerSettingsVersionsCommand struct {
	booksCommand
	Limit int `default:"20" help:"Maximum number of changes to print."`
}

func (l ledgerSettingsVersionsCommand) Run(ctx context.Context, out io.Writer) error {
	return l.run(ctx, func(service *booksapp.Service, p ident.Platform) error {
		page, err := service.SettingsVersions(ctx, p, firstVersions(l.Limit))
		if err != nil {
			return err
		}
		rows := table{}
		for _, v := range page.Versions {
			rows.add(fmt.Sprint(v.Version), v.At.Format("2006-01-02 15:04:05"), changeText(v.By, v.Approval), string(v.FunctionalCurrency), string(v.UnrealisedResult),
				string(v.FeeRecognition), fmt.Sprint(int(v.YearEndMonth)), joinActions(v.FourEyes), v.Note)
		}
		return rows.write(out, "version", "changed (UTC)", "by", "functionalCurrency", "unrealisedResult", "feeRecognition", "yearEndMonth", "fourEyes", "note")
	})
}
