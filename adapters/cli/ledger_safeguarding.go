package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/treasury"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/ports"
)

type ledgerSafeguardingCommand struct {
	platformFlags
	outputFlag
	actorFlag
	Day         string `arg:"" optional:"" help:"Day of a kept report, such as 2026-10-31. Without it, a report of now is made and not kept." placeholder:"DAY"`
	Again       bool   `help:"Make the report of the day again and keep it as its next version."`
	Acknowledge string `help:"Record that you have seen the report of the day, and what was done." placeholder:"TEXT"`
}

func (c ledgerSafeguardingCommand) Run(ctx context.Context, env *Env) error {
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
	return c.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		service := services.Treasury()
		var by platform.Author
		if c.Again || c.Acknowledge != "" {
			if by, err = c.changer(ctx, env, services, "nothing was changed"); err != nil {
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
			kept.Report, err = service.Report(ctx, p, env.Clock.Now())
		} else {
			kept, err = service.KeptReport(ctx, p, day, 0)
		}
		if err != nil {
			return err
		}
		page := safeguardingPage(kept)
		return c.print(env, &page)
	})
}

func safeguardingPage(r ports.KeptReport) (page table.Page) {
	if r.Day != "" {
		by := table.Actor("the service")
		if r.By != (platform.Author{}) {
			by = table.Actor(r.By.String())
		}
		page.Line("Report of %s, version %d of %d, made %s by %s, digest %x", r.Day, r.Version, r.Versions,
			r.MadeAt.Format("2006-01-02 15:04:05 MST"), by, r.Digest)
	} else {
		page.Line("As of %s, not kept", r.AsOf.Format("2006-01-02 15:04:05 MST"))
	}
	page.Line("Ledger up to posting number %d.\n", r.Seq)
	header, rows := treasury.Table(r.Report)
	page.Table("", table.FromReport(header, rows, 3, 5), "")
	page.Line("\n%s", safeguardingValue(r.Report))
	for _, f := range r.Figures {
		if paths := f.Unconfirmed(); len(paths) > 0 {
			page.Line("Nothing confirms %s in %s. Import the statement of the day with: causeway ledger reconcile", strings.Join(paths, ", "),
				f.Currency)
		}
	}
	for _, s := range r.Statements {
		closing := "without a closing balance"
		if s.HasClosing {
			closing = fmt.Sprintf("closing balance %s, difference from the ledger %s", s.Closing.Major(s.Currency), s.Difference.Major(s.Currency))
		}
		page.Line("Last statement of %s %s: %s, %s, %d open breaks.", s.Path, s.Currency, s.Day, closing, s.OpenBreaks)
	}
	for _, a := range r.Acknowledgements {
		page.Line("Seen %s by %s: %s", a.At.Format("2006-01-02 15:04:05 MST"), table.Actor(a.By.String()), table.Printable(a.Note))
	}
	return page
}

func safeguardingValue(r safeguarding.Report) string {
	v := r.Valuation
	switch {
	case v.Currency == "":
		return "The platform has no functional currency, so currencies are not added up. Set it with: causeway ledger settings set"
	case v.RatesKeptAt.IsZero():
		return "No rates were kept for that time, so currencies are not added up."
	case len(v.Missing) > 0:
		return fmt.Sprintf("There is no rate of %v, so currencies are not added up.", v.Missing)
	default:
		return fmt.Sprintf("All currencies in %s at the rates of %s: %s owed, %s held, %s.", v.Currency,
			v.RatesKeptAt.Format("2006-01-02 15:04 MST"),
			v.Requirement.Major(v.Currency), v.Resource.Major(v.Currency), r.ValuationStatus())
	}
}
