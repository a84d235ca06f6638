package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/treasury"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/ports"
)

type ledgerSafeguardingCommand struct {
	databaseFlags
	actorFlag
	Day         string `arg:"" optional:"" help:"Day of a kept report, such as 2026-10-31. Without it, a report of now is made and not kept." placeholder:"DAY"`
	Again       bool   `help:"Make the report of the day again and keep it as its next version."`
	Acknowledge string `help:"Record that you have seen the report of the day, and what was done." placeholder:"TEXT"`
	Format      string `default:"table" enum:"table,csv" help:"table, or csv for spreadsheets."`
	Platform    string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c ledgerSafeguardingCommand) Run(ctx context.Context, out io.Writer) error {
	if c.Day == "" && (c.Again || c.Acknowledge != "") {
		return errors.New("--again and --acknowledge need the day of a report")
	}
	var day safeguarding.Day
	var err error
	if c.Day != "" {
		if day, err = safeguarding.ParseDay(c.Day); err != nil {
			return err
		}
	}
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return c.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		service := newTreasury(db, idGenerator)
		by := platform.Author{Actor: actor}
		if c.Again || c.Acknowledge != "" {
			if err := requireClock(ctx, db); err != nil {
				return err
			}
		}
		if c.Again {
			if _, err := service.KeepReport(ctx, p, day, by, nil); err != nil {
				return fieldErrors("nothing was kept", err, argument{"day", c.Day})
			}
		}
		if c.Acknowledge != "" {
			if _, err := service.Acknowledge(ctx, p, day, by, c.Acknowledge, nil); err != nil {
				return fieldErrors("nothing was recorded", err)
			}
		}
		kept := ports.KeptReport{}
		if c.Day == "" {
			kept.Report, err = service.Report(ctx, p, systemClock{}.Now())
		} else {
			kept, err = service.KeptReport(ctx, p, day, 0)
		}
		if err != nil {
			return err
		}
		return writeSafeguarding(ctx, out, kept, c.Format)
	})
}

func writeSafeguarding(ctx context.Context, out io.Writer, r ports.KeptReport, format string) error {
	var lines accounting.Table
	lines.Header, lines.Rows = treasury.Table(r.Report)
	if format == "csv" {
		return lines.CSV(ctx, out)
	}
	title := fmt.Sprintf("As of %s, not kept", r.AsOf.Format("2006-01-02 15:04:05 MST"))
	if r.Day != "" {
		by := "the service"
		if r.By != (platform.Author{}) {
			by = r.By.String()
		}
		title = fmt.Sprintf("Report of %s, version %d of %d, made %s by %s, digest %x", r.Day, r.Version, r.Versions, r.MadeAt.Format("2006-01-02 15:04:05 MST"), by, r.Digest)
	}
	if _, err := fmt.Fprintf(out, "%s\nLedger up to posting number %d.\n\n", title, r.Seq); err != nil {
		return err
	}
	if err := (table{rows: lines.Rows, rightAligned: []int{3, 5}}).write(out, lines.Header...); err != nil {
		return err
	}
	if err := writeSafeguardingValue(out, r.Report); err != nil {
		return err
	}
	for _, f := range r.Figures {
		if paths := f.Unconfirmed(); len(paths) > 0 {
			if _, err := fmt.Fprintf(out, "Nothing confirms %s in %s. Import the statement of the day with: causeway ledger reconcile\n", strings.Join(paths, ", "), f.Currency); err != nil {
				return err
			}
		}
	}
	for _, s := range r.Statements {
		closing := "without a closing balance"
		if s.HasClosing {
			closing = fmt.Sprintf("closing balance %s, difference from the ledger %s", s.Closing.Major(s.Currency), s.Difference.Major(s.Currency))
		}
		if _, err := fmt.Fprintf(out, "Last statement of %s %s: %s, %s, %d open breaks.\n", s.Path, s.Currency, s.Day, closing, s.OpenBreaks); err != nil {
			return err
		}
	}
	for _, a := range r.Acknowledgements {
		if _, err := fmt.Fprintf(out, "Seen %s by %s: %s\n", a.At.Format("2006-01-02 15:04:05 MST"), a.By.String(), printable(a.Note)); err != nil {
			return err
		}
	}
	return nil
}

func writeSafeguardingValue(out io.Writer, r safeguarding.Report) error {
	v := r.Valuation
	var text string
	switch {
	case v.Currency == "":
		text = "The platform has no functional currency, so currencies are not added up. Set it with: causeway ledger settings set"
	case v.RatesKeptAt.IsZero():
		text = "No rates were kept for that time, so currencies are not added up."
	case len(v.Missing) > 0:
		text = fmt.Sprintf("There is no rate of %v, so currencies are not added up.", v.Missing)
	default:
		text = fmt.Sprintf("All currencies in %s at the rates of %s: %s owed, %s held, %s.", v.Currency, v.RatesKeptAt.Format("2006-01-02 15:04 MST"),
			v.Requirement.Major(v.Currency), v.Resource.Major(v.Currency), r.ValuationStatus())
	}
	_, err := fmt.Fprintf(out, "\n%s\n", text)
	return err
}
