package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/reconciliation"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ports"
)

// ledgerBreaksCommand lists, explains and resolves breaks as the API does.
type ledgerBreaksCommand struct {
	List    ledgerBreaksListCommand    `cmd:"" help:"List breaks, newest first."`
	Show    ledgerBreaksShowCommand    `cmd:"" help:"Explain a break: its line and entry, and what it may belong to."`
	Resolve ledgerBreaksResolveCommand `cmd:"" help:"Resolve a break with a note, and with a correction if --against says so. It cannot be undone."`
}

// breakFlags are those of all commands on breaks.
type breakFlags struct {
	databaseFlags
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (f breakFlags) withReconciliation(ctx context.Context, do func(ident.Platform, *reconciliations) error) error {
	return f.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		owner, err := resolvePlatform(ctx, db, f.Platform)
		if err != nil {
			return err
		}
		return do(owner, newReconciliation(db, idGenerator))
	})
}

type ledgerBreaksListCommand struct {
	breakFlags
	Account        string `help:"Only those of this ledger account, such as rails/RTP." placeholder:"PATH"`
	Currency       string `help:"Only those in this currency." placeholder:"CODE"`
	Reconciliation string `help:"Only those that this reconciliation found." placeholder:"ID"`
	Reason         string `help:"Only those with this reason: RETURNED, DUPLICATE, AMOUNT_DIFFERS, MISSING_IN_LEDGER or MISSING_ON_STATEMENT." placeholder:"REASON"`
	Status         string `enum:"open,resolved,all" default:"open" help:"Which ones: open, resolved or all."`
	Limit          int    `default:"200" help:"At most so many. CSV has all."`
	Format         string `default:"table" enum:"table,csv" help:"table, or csv for spreadsheets, with the line, entry and resolution of each."`
}

func (l ledgerBreaksListCommand) Run(ctx context.Context, out io.Writer) error {
	var run ident.Reconciliation
	var err error
	if l.Reconciliation != "" {
		if run, err = ident.ParseReconciliation(l.Reconciliation); err != nil {
			return fmt.Errorf("--reconciliation: %w", err)
		}
	}
	reason, known := reconcile.ParseReason(l.Reason)
	switch {
	case l.Reason != "" && !known:
		return fmt.Errorf("--reason: %q is none of RETURNED, DUPLICATE, AMOUNT_DIFFERS, MISSING_IN_LEDGER and MISSING_ON_STATEMENT", l.Reason)
	case l.Limit < 1 || l.Limit > ports.MaxTotal:
		return fmt.Errorf("--limit: must be 1 to %d", ports.MaxTotal)
	}
	filter := ports.BreakFilter{Paging: ports.Paging{Limit: l.Limit}, Path: l.Account, Currency: l.Currency,
		Reason: reason, Status: strings.TrimPrefix(strings.ToUpper(l.Status), "ALL")}
	return l.withReconciliation(ctx, func(owner ident.Platform, service *reconciliations) error {
		if l.Format == "csv" {
			filter.Ascending = true // as in the API
			return service.BreaksTable(owner, run, filter).CSV(ctx, out)
		}
		page, err := service.Breaks(ctx, owner, run, filter)
		if err != nil {
			return err
		}
		if len(page.Items) == 0 {
			_, err := fmt.Fprintln(out, "There are no such breaks.")
			return err
		}
		rows := table{rightAligned: []int{5}}
		for _, b := range page.Items {
			rows.add(b.ID.String(), breakStatus(b), string(b.Reason), b.Account.Path, breakDay(b).String(), formatMajor(b.Difference, b.Account.Currency), string(b.Account.Currency), breakHint(b))
		}
		if err := rows.write(out, "break", "status", "reason", "account", "day", "difference", "", "suggestion"); err != nil {
			return err
		}
		if page.More {
			_, err = fmt.Fprintf(out, "and %d more; set --limit\n", page.Total-int64(len(page.Items)))
		}
		return err
	})
}

func breakStatus(b reconcile.BreakDetails) string {
	if b.Resolution != nil {
		return "resolved"
	}
	return "open"
}

// breakDay is the day of the line or, without one, of the entry.
func breakDay(b reconcile.BreakDetails) reconcile.Day {
	if b.Line != nil {
		return b.Line.Value
	}
	return reconcile.DayOf(b.Entry.Effective)
}

// breakHint is the reason of the first suggestion.
func breakHint(b reconcile.BreakDetails) string {
	if len(b.Suggestions) == 0 {
		return ""
	}
	return string(b.Suggestions[0].Reason)
}

type ledgerBreaksShowCommand struct {
	breakFlags
	Break string `arg:"" help:"Id of the break." placeholder:"ID"`
}

func (l ledgerBreaksShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseBreak(l.Break)
	if err != nil {
		return err
	}
	return l.withReconciliation(ctx, func(owner ident.Platform, service *reconciliations) error {
		found, err := service.Break(ctx, owner, id)
		if err != nil {
			return err
		}
		return writeBreak(out, found)
	})
}

// writeBreak prints a break without the texts of its line, which can name the payer.
func writeBreak(out io.Writer, b reconcile.BreakDetails) error {
	format := func(minor int64) string { return money.Amount{Minor: minor, Currency: b.Account.Currency}.String() }
	if _, err := fmt.Fprintf(out, "%s\n\n", b.Explanation); err != nil {
		return err
	}
	var rows table
	rows.add("status", breakStatus(b))
	rows.add("reason", string(b.Reason))
	rows.add("account", b.Account.Path)
	rows.add("difference", format(b.Difference))
	rows.add("found by", b.Run.String())
	if l := b.Line; l != nil {
		rows.add("statement line", fmt.Sprintf("%s, booked %s, value %s, number %d in the file, partner's id %s", format(l.Amount), l.Booked, l.Value, l.Ordinal, cmp.Or(l.ServicerReference, "none")))
	}
	if e := b.Entry; e != nil {
		text := fmt.Sprintf("%s, %s at %s, number %d.%d", format(e.Amount), e.Kind, e.Effective.Format(time.RFC3339), e.Seq, e.N)
		if !e.Transaction.IsZero() {
			text += ", " + e.Transaction.String()
		}
		rows.add("ledger entry", text)
	}
	if r := b.Resolution; r != nil {
		rows.add("resolved", fmt.Sprintf("%s by %s at %s: %s", r.Method, r.By, r.At.Format(time.RFC3339), cmp.Or(r.Note, r.Run.String())))
		if !r.Approval.IsZero() {
			rows.add("approved", "by "+r.Approval.By.String())
		}
	}
	if err := rows.write(out, b.ID.String(), ""); err != nil {
		return err
	}
	for i, s := range b.Suggestions {
		if i == 0 {
			if _, err := fmt.Fprintln(out, "\nIt may belong to:"); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(out, "%d. %s: %s\n", i+1, s.Reason, s.Explanation); err != nil {
			return err
		}
		for _, other := range s.Breaks {
			if _, err := fmt.Fprintf(out, "   %s\n", other); err != nil {
				return err
			}
		}
	}
	return nil
}

type ledgerBreaksResolveCommand struct {
	breakFlags
	Break   string `arg:"" help:"Id of the break." placeholder:"ID"`
	Note    string `required:"" help:"Why it is resolved. It is kept, and is in the memo of a correction." placeholder:"TEXT"`
	Against string `help:"Post the difference against this account: UNMATCHED (unmatched funds), EXPENSE (fees charged or returned by the partner) or FEES (income). Without it, nothing is posted." placeholder:"ACCOUNT"`
	actorFlag
}

func (l ledgerBreaksResolveCommand) Run(ctx context.Context, out io.Writer) error {
	actor, err := platform.ParseActor(l.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	id, err := ident.ParseBreak(l.Break)
	if err != nil {
		return err
	}
	return l.withReconciliation(ctx, func(owner ident.Platform, service *reconciliations) error {
		outcome, err := service.ResolveAlone(ctx, reconciliation.ResolveRequest{Platform: owner, Break: id, By: platform.Author{Actor: actor},
			ResolveCommand: reconcile.ResolveCommand{Note: l.Note, Offset: reconcile.OffsetAccount(l.Against)}})
		if err != nil {
			return flagErrors(err)
		}
		if p := outcome.Proposal; p != nil {
			_, err = fmt.Fprintf(out, "A correction needs a second person. Another one approves it with: causeway ledger proposals approve %s\n", p.ID)
			return err
		}
		done := outcome.Done
		if done.Resolution.Method == reconcile.ResolvedByNote {
			_, err = fmt.Fprintf(out, "%s is resolved. Nothing was posted.\n", id)
			return err
		}
		_, err = fmt.Fprintf(out, "%s is resolved: %s was posted against %s.\n", id, money.Amount{Minor: done.Difference, Currency: done.Account.Currency}, l.Against)
		return err
	})
}
