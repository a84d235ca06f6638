package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"causeway/app/journals"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/journal"
)

type ledgerJournalsCommand struct {
	tableFlags
	actorFlag
	Span       string `arg:"" help:"Day or month that is over, such as 2026-10-31 or 2026-10."`
	Program    string `default:"csv" enum:"csv,quickbooks,xero,netsuite" help:"Program whose import the files are for: quickbooks, xero, netsuite, or csv for any other."`
	Folder     string `help:"Folder for a file for each journal, and one with the control totals. Without it, only the control totals are printed." placeholder:"FOLDER" type:"path"`
	TaxRate    string `default:"Tax Exempt" help:"For xero: name of the tax rate of all lines."`
	Subsidiary string `help:"For netsuite: name of the subsidiary." placeholder:"NAME"`
}

func (l ledgerJournalsCommand) Run(ctx context.Context, env *Env) error {
	typed := argument{"span", l.Span}
	span, err := journal.ParseSpan(l.Span)
	if err != nil {
		return fieldErrors("no journals were made", err, typed)
	}
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		by, err := l.author(ctx, env, services)
		if err != nil {
			return fieldErrors("no journals were made", err)
		}
		service := services.Journals()
		all, err := service.Make(ctx, p, by, nil, span)
		if err != nil {
			return fieldErrors("no journals were made", err, typed)
		}
		control := journals.Control(all)
		if l.Folder != "" {
			if err := l.writeFiles(ctx, env, service, p, span, all, control); err != nil {
				return err
			}
		}
		return l.printReport(ctx, env, control, 7, 8)
	})
}

// writeFiles writes a file for each journal that the program can take, and says which it cannot.
func (l ledgerJournalsCommand) writeFiles(ctx context.Context, env *Env, service *journals.Service, p ident.Platform, span journal.Span,
	all []journal.Journal, control journals.Table) error {
	if err := os.MkdirAll(l.Folder, 0o700); err != nil {
		return err
	}
	for _, j := range all {
		file, err := service.File(ctx, p, j.Number, journal.Format(l.Program), journal.Options{TaxRate: l.TaxRate, Subsidiary: l.Subsidiary})
		if f, ok := fault.As(err); ok && f.Code == fault.Conflict {
			if err := l.note(env, fmt.Sprintf("No file for %s: %s", j.Number, f.Message)); err != nil {
				return err
			}
			continue
		}
		if err := errors.Join(err, l.writeFile(ctx, j.Number+".csv", file)); err != nil {
			return err
		}
	}
	return l.writeFile(ctx, "control-"+span.String()+".csv", control)
}

func (l ledgerJournalsCommand) writeFile(ctx context.Context, name string, t journals.Table) error {
	return writeFileAtomically(filepath.Join(l.Folder, name), func(out io.Writer) error { return t.CSV(ctx, out) })
}
