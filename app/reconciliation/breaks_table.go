package reconciliation

import (
	"context"
	"strconv"

	"causeway/app/internal/report"
	"causeway/core/csvcell"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ports"
)

// Table is a report as rows of text.
type Table = report.Table

// BreaksTable returns the breaks that Breaks lists, without the texts of their lines, which can name the payer.
func (r *Service) BreaksTable(p ident.Platform, id ident.Reconciliation, filter ports.BreakFilter) Table {
	filter.Limit = report.PageSize
	header := []string{"break_id", "reconciliation_id", "status", "reason", "path", "currency", "difference", "reference",
		"explanation", "found_at",
		"line_number", "booked_on", "value_on", "line_amount", "partner_id",
		"posting_number", "entry_number", "effective_at", "kind", "entry_amount", "transaction_id", "suggestion",
		"resolved_at", "method", "note", "correction_posting_id", "resolved_by", "actor"}
	return Table{Header: header, Pages: report.Pages(filter,
		func(ctx context.Context, f *ports.BreakFilter) ([]reconcile.BreakDetails, bool, error) {
			page, err := r.Breaks(ctx, p, id, *f)
			if n := len(page.Items); n > 0 {
				f.After = page.Items[n-1].ID.UUID()
			}
			return page.Items, page.More, err
		}, func(b reconcile.BreakDetails) [][]string { return [][]string{breakRow(b)} })}
}

func breakRow(b reconcile.BreakDetails) []string {
	major := func(minor int64) string { return money.TotalOf(minor).Major(b.Account.Currency) }
	status, suggestion := "OPEN", ""
	if b.Resolution != nil {
		status = "RESOLVED"
	}
	if len(b.Suggestions) > 0 {
		suggestion = b.Suggestions[0].Explanation
	}
	row := []string{b.ID.String(), b.Run.String(), status, string(b.Reason), b.Account.Path, string(b.Account.Currency), major(b.Difference),
		csvcell.Escape(b.Reference), csvcell.Escape(b.Explanation), report.Time(b.At)}
	if l := b.Line; l != nil {
		row = append(row, strconv.Itoa(l.Ordinal), l.Booked.String(), l.Value.String(), major(l.Amount), csvcell.Escape(l.ServicerReference))
	} else {
		row = append(row, "", "", "", "", "")
	}
	if e := b.Entry; e != nil {
		row = append(row, strconv.FormatInt(e.Seq, 10), strconv.Itoa(e.N), report.Time(e.Effective), string(e.Kind), major(e.Amount),
			e.Transaction.String())
	} else {
		row = append(row, "", "", "", "", "", "")
	}
	var done reconcile.Resolution
	if b.Resolution != nil {
		done = *b.Resolution
	}
	var correction ident.Posting
	correction.SetUUID(done.Posting)
	return append(row, csvcell.Escape(suggestion), report.Time(done.At), string(done.Method), csvcell.Escape(done.Note), correction.String(),
		csvcell.Escape(done.By), csvcell.Escape(done.Actor))
}
