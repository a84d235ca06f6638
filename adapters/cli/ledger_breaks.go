package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"causeway/adapters/cli/table"
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

type ledgerBreaksListCommand struct {
	tableFlags
	Account        string `help:"Only those of this ledger account, such as rails/RTP." placeholder:"PATH"`
	Currency       string `help:"Only those in this currency." placeholder:"CODE"`
	Reconciliation string `help:"Only those that this reconciliation found." placeholder:"ID"`
	Reason         string `help:"Only those with this reason: RETURNED, DUPLICATE, AMOUNT_DIFFERS, MISSING_IN_LEDGER or MISSING_ON_STATEMENT." placeholder:"REASON"`
	Status         string `enum:"open,resolved,all" default:"open" help:"Which ones: open, resolved or all."`
	Limit          int    `default:"200" help:"At most so many. CSV and JSON have all."`
}

func (l ledgerBreaksListCommand) Run(ctx context.Context, env *Env) error {
	var run ident.Reconciliation
	var err error
	if l.Reconciliation != "" {
		if run, err = ident.ParseReconciliation(l.Reconciliation); err != nil {
			return flagError("--reconciliation", err)
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
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		service := services.Reconciliation()
		if l.Output != table.Text {
			filter.Ascending = true // as in the API
			return l.printReport(ctx, env, service.BreaksTable(p, run, filter))
		}
		found, err := service.Breaks(ctx, p, run, filter)
		if err != nil {
			return err
		}
		rows := table.New("break", "status", "reason", "account", "day", ">difference", "|currency", "suggestion")
		for _, b := range found.Items {
			rows.Add(b.ID, breakStatus(b), b.Reason, b.Account.Path, breakDay(b), table.Major(b.Difference, b.Account.Currency),
				b.Account.Currency, breakHint(b))
		}
		var page table.Page
		page.Table("", rows, "There are no such breaks.")
		if found.More {
			page.Line("and %d more; set --limit", found.Total-int64(len(found.Items)))
		}
		return l.print(env, &page)
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

// breakArg names a break.
type breakArg struct {
	Break string `arg:"" help:"Id of the break." placeholder:"ID"`
}

type ledgerBreaksShowCommand struct {
	tableFlags
	breakArg
}

func (l ledgerBreaksShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseBreak(l.Break)
	return l.show(ctx, env, OnBooks, err, func(services Services, p ident.Platform) (*table.Page, error) {
		found, err := services.Reconciliation().Break(ctx, p, id)
		if err != nil {
			return nil, err
		}
		return breakPage(found), nil
	})
}

// breakPage shows a break without the texts of its line, which can name the payer.
func breakPage(b reconcile.BreakDetails) *table.Page {
	page := new(table.Page)
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: b.Account.Currency} }
	page.Line("%s\n", b.Explanation)
	record := new(table.Record)
	record.AddAs(b.ID.String(), "break", table.Cell{Value: b.ID.String()})
	record.Add("status", breakStatus(b))
	record.Add("reason", b.Reason)
	record.Add("account", b.Account.Path)
	record.Add("difference", amount(b.Difference))
	record.Add("found by", b.Run)
	if l := b.Line; l != nil {
		record.Add("statement line", fmt.Sprintf("%s, booked %s, value %s, number %d in the file, partner's id %s",
			amount(l.Amount), l.Booked, l.Value, l.Ordinal, cmp.Or(l.ServicerReference, "none")))
	}
	if e := b.Entry; e != nil {
		text := fmt.Sprintf("%s, %s at %s, number %d.%d", amount(e.Amount), e.Kind, e.Effective.Format(time.RFC3339), e.Seq, e.N)
		if !e.Transaction.IsZero() {
			text += ", " + e.Transaction.String()
		}
		record.Add("ledger entry", text)
	}
	if r := b.Resolution; r != nil {
		record.Add("resolved", table.Actor(fmt.Sprintf("%s by %s at %s: %s", r.Method, r.By, r.At.Format(time.RFC3339),
			cmp.Or(r.Note, r.Run.String()))))
		if !r.Approval.IsZero() {
			record.Add("approved", table.Actor("by "+r.Approval.By.String()))
		}
	}
	page.Record("break", record)
	suggestions := table.New("reason", "explanation", "breaks")
	for i, s := range b.Suggestions {
		if i == 0 {
			page.Line("\nIt may belong to:")
		}
		page.Line("%d. %s: %s", i+1, s.Reason, s.Explanation)
		others := make([]string, len(s.Breaks))
		for j, other := range s.Breaks {
			others[j] = other.String()
			page.Line("   %s", other)
		}
		suggestions.Add(s.Reason, s.Explanation, strings.Join(others, ","))
	}
	page.Data("suggestions", suggestions)
	return page
}

type ledgerBreaksResolveCommand struct {
	changeFlags
	breakArg
	Note    string `required:"" help:"Why it is resolved. It is kept, and is in the memo of a correction." placeholder:"TEXT"`
	Against string `help:"Post the difference against this account: UNMATCHED (unmatched funds), EXPENSE (fees charged or returned by the partner) or FEES (income). Without it, nothing is posted." placeholder:"ACCOUNT"`
}

func (l ledgerBreaksResolveCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseBreak(l.Break)
	if err != nil {
		return err
	}
	return l.change(ctx, env, AsRequest, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		outcome, err := services.Reconciliation().ResolveAlone(ctx, reconciliation.ResolveRequest{Platform: p, Break: id, By: by,
			ResolveCommand: reconcile.ResolveCommand{Note: l.Note, Offset: reconcile.OffsetAccount(l.Against)}})
		if err != nil {
			return flagErrors(err)
		}
		text := fmt.Sprintf("%s is resolved. Nothing was posted.", id)
		if p := outcome.Proposal; p != nil {
			text = fmt.Sprintf("A correction needs a second person. Another one approves it with: causeway ledger proposals approve %s", p.ID)
		} else if done := outcome.Done; done.Resolution.Method != reconcile.ResolvedByNote {
			amount := money.Amount{Minor: done.Difference, Currency: done.Account.Currency}
			text = fmt.Sprintf("%s is resolved: %s was posted against %s.", id, amount, l.Against)
		}
		_, err = fmt.Fprintln(env.Out, text)
		return err
	})
}
