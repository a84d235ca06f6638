package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"causeway/adapters/cli/table"
	"causeway/app/accounting"
	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/ident"
)

type ledgerChartCommand struct {
	List   ledgerChartListCommand   `cmd:"" help:"Print the built-in chart of accounts and the accounts that were added."`
	Add    ledgerChartAddCommand    `cmd:"" help:"Add an account for manual postings."`
	Change ledgerChartChangeCommand `cmd:"" help:"Change the name or description of an account that was added, or retire it."`
}

type ledgerChartListCommand struct{ booksCommand }

func (l ledgerChartListCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(service *booksapp.Service, p ident.Platform) error {
		chart, err := service.Chart(ctx, p)
		if err != nil {
			return err
		}
		return l.printChart(ctx, env, chart)
	})
}

type ledgerChartAddCommand struct {
	booksChangeCommand
	Path        string `arg:"" help:"Path of the account: asset/, liability/, equity/, income/ or expense/, and a name of small letters, digits and hyphens."`
	Name        string `arg:"" help:"Name of the account."`
	Description string `help:"What the account holds."`
}

func (l ledgerChartAddCommand) Run(ctx context.Context, env *Env) error {
	return l.change(ctx, env, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		added, err := service.AddAccount(ctx, p, change, nil, books.AddedAccount{Path: l.Path, Name: l.Name, Description: l.Description})
		if err != nil {
			return err
		}
		return l.printChart(ctx, env, []booksapp.ChartAccount{added.Done})
	})
}

type ledgerChartChangeCommand struct {
	booksChangeCommand
	Path        string  `arg:"" help:"Path of the account."`
	Name        *string `help:"Name of the account."`
	Description *string `help:"What the account holds."`
	Retired     string  `enum:"true,false," default:"" help:"true: the account takes no new manual postings; false: it takes them again." placeholder:"BOOL"`
}

func (l ledgerChartChangeCommand) Run(ctx context.Context, env *Env) error {
	requested := booksapp.AccountChange{Name: l.Name, Description: l.Description}
	if retired, err := strconv.ParseBool(l.Retired); err == nil {
		requested.Retired = &retired
	}
	return l.change(ctx, env, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		changed, err := service.ChangeAccount(ctx, p, change, l.Path, requested)
		if err != nil {
			return err
		}
		return l.printChart(ctx, env, []booksapp.ChartAccount{changed.Done})
	})
}

func (f outputFlag) printChart(ctx context.Context, env *Env, chart []booksapp.ChartAccount) error {
	return f.printReport(ctx, env, accounting.Table{Header: booksapp.ChartColumns, Rows: booksapp.ChartRows(chart)})
}

type ledgerGLMappingCommand struct {
	Show     ledgerGLMappingShowCommand     `cmd:"" help:"Print the mapping to the general ledger, as a table or as CSV that set accepts."`
	Set      ledgerGLMappingSetCommand      `cmd:"" help:"Replace the mapping by the lines of a CSV file."`
	Versions ledgerGLMappingVersionsCommand `cmd:"" help:"Print the latest changes of the mapping."`
}

type ledgerGLMappingShowCommand struct {
	booksCommand
	Version *int `arg:"" optional:"" help:"Version of the mapping; 0 is the built-in one. Default: the present one."`
}

func (l ledgerGLMappingShowCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(service *booksapp.Service, p ident.Platform) error {
		mapping, err := service.GLMapping(ctx, p, l.Version)
		if err != nil {
			return err
		}
		if l.Output == table.Text {
			if _, err := fmt.Fprintf(env.Out, "version %d\n\n", mapping.Version); err != nil {
				return err
			}
		}
		return l.printReport(ctx, env, accounting.Table{Header: books.MappingColumns, Rows: books.MappingRows(mapping.Lines())})
	})
}

type ledgerGLMappingSetCommand struct {
	booksChangeCommand
	File        string `arg:"" help:"CSV file with the columns path, code, name and, optionally, currency."`
	BaseVersion int    `required:"" help:"Version that the file was made from; refused if it is no longer the present one." placeholder:"N"`
}

func (l ledgerGLMappingSetCommand) Run(ctx context.Context, env *Env) error {
	return l.change(ctx, env, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		return withFile(l.File, func(file io.Reader) error {
			set, err := service.ImportGLMapping(ctx, p, change, l.BaseVersion, file)
			return env.say(err, "The mapping has version %d with %d lines.\n", set.Done.Version, len(set.Done.Lines()))
		})
	})
}

// withFile opens a file that a command is given.
func withFile(name string, read func(io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return read(file)
}

type ledgerGLMappingVersionsCommand struct{ versionsCommand }

func (l ledgerGLMappingVersionsCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(service *booksapp.Service, p ident.Platform) error {
		page, err := service.GLMappingVersions(ctx, p, l.filter())
		if err != nil {
			return err
		}
		rows := table.New("version", "changed (UTC)", "by", "note")
		for _, v := range page.Versions {
			rows.Add(v.Version, table.Second(v.At), changeText(v.By, v.Approval), v.Note)
		}
		return l.printTable(env, rows, "")
	})
}
