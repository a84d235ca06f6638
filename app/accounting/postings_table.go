package accounting

import (
	"context"
	"strconv"

	"causeway/app/internal/report"
	"causeway/core/csvcell"
	"causeway/core/money"
	"causeway/ports"
)

// PostingsTable returns the postings that Postings lists, with a row for each entry.
func (s *Service) PostingsTable(filter ports.PostingFilter) Table {
	filter.Limit = tablePageSize
	header := []string{"posting_number", "entry_number", "effective_at", "recorded_at", "kind", "debit", "credit", "amount", "currency",
		"posting_id", "transaction_id", "memo", "reverses_posting_id", "reversed_by_posting_id"}
	return Table{Header: header, Pages: report.Pages(filter,
		func(ctx context.Context, f *ports.PostingFilter) ([]ports.RecordedPosting, bool, error) {
			page, err := s.Postings(ctx, *f)
			if n := len(page.Postings); n > 0 {
				f.After = page.Postings[n-1].Seq
			}
			return page.Postings, page.More, err
		}, func(p ports.RecordedPosting) (rows [][]string) {
			for i, e := range p.Entries {
				rows = append(rows, []string{strconv.FormatInt(p.Seq, 10), strconv.Itoa(i + 1), tableTime(p.Effective),
					tableTime(p.Recorded), string(p.Kind),
					e.Debit, e.Credit, money.TotalOf(e.Amount).Major(e.Currency), string(e.Currency),
					postingID(p.ID).String(), p.Transaction.String(), csvcell.Escape(p.Memo), postingID(p.Reverses).String(),
					postingID(p.ReversedBy).String()})
			}
			return rows
		})}
}
