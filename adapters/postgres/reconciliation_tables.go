package postgres

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ports"
)

var reconciliations = schema.New("reconciliations", keyOfPlatform, func(r *reconcile.Run) schema.Columns {
	balance := func(name string, part func(*reconcile.BalanceComparison) *int64) schema.Column {
		return schema.Column{Name: name, Field: schema.Converted(
			func() *int64 {
				if r.Balance == nil {
					return nil
				}
				return part(r.Balance)
			},
			func(stored *int64) error {
				if stored == nil || r.Closing == nil {
					return nil
				}
				if r.Balance == nil {
					r.Balance = &reconcile.BalanceComparison{Partner: *r.Closing}
				}
				*part(r.Balance) = *stored
				return nil
			})}
	}
	return schema.Columns{
		{Name: "platform_id", Field: &r.Account.Platform}, {Name: "id", Field: &r.ID}, {Name: "account", Field: &r.Account.Path},
		{Name: "currency", Field: schema.Converted(
			func() money.Currency { return r.Account.Currency },
			func(currency money.Currency) error {
				r.Account.Currency, r.Header.Currency = currency, currency
				return nil
			})},
		{Name: "format", Field: &r.Format}, {Name: "digest", Field: digestField(&r.Digest)},
		{Name: "statement_ids", Field: linesField(&r.Statements)}, {Name: "partner_account", Field: &r.PartnerAccount},
		{Name: "first_day", Field: &r.From}, {Name: "last_day", Field: &r.To}, {Name: "opening", Field: &r.Opening},
		{Name: "closing", Field: &r.Closing}, {Name: "line_count", Field: &r.Lines}, {Name: "known_line_count", Field: &r.KnownLines},
		{Name: "ignored_line_count", Field: &r.Ignored}, {Name: "matches", Type: "text", Field: schema.JSON(
			func() map[reconcile.Rule]int { return r.Matches }, func(counts map[reconcile.Rule]int) { r.Matches = counts })},
		{Name: "breaks", Type: "text", Field: schema.JSON(
			func() map[reconcile.Reason]int { return r.Breaks }, func(counts map[reconcile.Reason]int) { r.Breaks = counts })},
		{Name: "matched_line_count", Field: &r.MatchedLines},
		{Name: "matched_entry_count", Field: &r.MatchedEntries}, {Name: "earlier_breaks_resolved", Field: &r.EarlierBreaksResolved},
		{Name: "created_by", Field: &r.By}, {Name: "created_at", Field: &r.At}, {Name: "mismatches", Field: linesField(&r.Mismatches)},
		{Name: "override_note", Field: &r.Override},
		balance("ledger_balance", func(b *reconcile.BalanceComparison) *int64 { return &b.Ledger }),
		balance("open_breaks_amount", func(b *reconcile.BalanceComparison) *int64 { return &b.OpenBreaks }),
		balance("other_day_amount", func(b *reconcile.BalanceComparison) *int64 { return &b.OtherDay }),
		balance("resolved_amount", func(b *reconcile.BalanceComparison) *int64 { return &b.Resolved }),
	}
})

// digestField is a hash in a column of bytes.
func digestField(digest *[sha256.Size]byte) any {
	return schema.Converted(
		func() []byte { return digest[:] },
		func(stored []byte) error {
			copy(digest[:], stored)
			return nil
		})
}

// linesField is a list in a column of text, one item per line.
func linesField(items *[]string) any {
	return schema.Converted(
		func() string { return strings.Join(*items, "\n") },
		func(text string) error {
			*items = schema.SplitLines(text)
			return nil
		})
}

type lineRow struct {
	account reconcile.Account
	run     ident.Reconciliation
	reconcile.Line
}

// reconciliationLines have the texts that can name the payer encrypted. The reference of the bank stays plain, and so do the
// reference by which a line was matched and the identity, a hash.
var reconciliationLines = schema.New("reconciliation_lines", keyOfPlatform, func(l *lineRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &l.account.Platform}, {Name: "id", Field: &l.ID}, {Name: "reconciliation_id", Field: &l.run},
		{Name: "account", Field: &l.account.Path}, {Name: "currency", Field: &l.account.Currency},
		{Name: "fingerprint", Field: digestField(&l.Identity)}, {Name: "ordinal", Field: &l.Ordinal}, {Name: "booking_date", Field: &l.Booked},
		{Name: "value_date", Field: &l.Value}, {Name: "amount", Field: &l.Amount}, {Name: "servicer_reference", Field: &l.ServicerReference},
		sealed.Texts(sealed.ReconciliationLinesReferences, &l.References), sealed.Text(sealed.ReconciliationLinesDescription, &l.Description),
		{Name: "returned", Field: &l.Returned},
	}
})

type matchRow struct {
	platform ident.Platform
	run      ident.Reconciliation
	ports.MatchRecord
}

var reconciliationMatches = schema.New("reconciliation_matches", keyOfPlatform, func(m *matchRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &m.platform}, {Name: "id", Field: &m.ID}, {Name: "reconciliation_id", Field: &m.run},
		{Name: "rule", Field: &m.Rule}, {Name: "reference", Field: &m.Reference}, {Name: "day_difference", Field: &m.Days},
		{Name: "explanation", Field: &m.Explanation},
	}
})

type matchedLineRow struct {
	platform    ident.Platform
	line, match uuid.UUID
}

var matchedLines = schema.New("reconciliation_matched_lines", []string{"platform_id", "line_id"}, func(l *matchedLineRow) schema.Columns {
	return schema.Columns{{Name: "platform_id", Field: &l.platform}, {Name: "line_id", Field: &l.line}, {Name: "match_id", Field: &l.match}}
})

type matchedEntryRow struct {
	account reconcile.Account
	entry   reconcile.EntryPosition
	match   uuid.UUID
}

var keyOfMatchedEntry = []string{"platform_id", "account", "seq", "entry_no"}

var matchedEntries = schema.New("reconciliation_matched_entries", keyOfMatchedEntry, func(e *matchedEntryRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &e.account.Platform}, {Name: "account", Field: &e.account.Path},
		{Name: "seq", Field: &e.entry.Seq}, {Name: "entry_no", Field: &e.entry.N}, {Name: "match_id", Field: &e.match},
	}
})

type breakRow struct {
	run     ident.Reconciliation
	account reconcile.Account
	at      time.Time
	ports.BreakRecord
}

var reconciliationBreaks = schema.New("reconciliation_breaks", keyOfPlatform, func(b *breakRow) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &b.account.Platform}, {Name: "id", Field: &b.ID}, {Name: "reconciliation_id", Field: &b.run},
		{Name: "account", Field: &b.account.Path}, {Name: "currency", Field: &b.account.Currency}, {Name: "reason", Field: &b.Reason},
		{Name: "line_id", Field: schema.Optional(&b.Line)}, {Name: "compared_line_id", Field: schema.Optional(&b.OtherLine)},
		{Name: "reference", Field: &b.Reference}, {Name: "difference", Field: &b.Difference}, {Name: "explanation", Field: &b.Explanation},
		{Name: "created_at", Field: &b.at},
	}, positionColumns("seq", "entry_no", &b.Entry), positionColumns("compared_seq", "compared_entry_no", &b.OtherEntry))
})

// positionColumns are the columns of an entry, which are NULL for none.
func positionColumns(seq, number string, p *reconcile.EntryPosition) schema.Columns {
	return schema.Columns{{Name: seq, Field: schema.Optional(&p.Seq)}, {Name: number, Field: schema.Converted(
		func() *int {
			if p.Seq == 0 {
				return nil
			}
			return &p.N
		},
		func(stored *int) error {
			if stored != nil {
				p.N = *stored
			}
			return nil
		})}}
}

type resolutionRow = ofPlatform[reconcile.Resolution]

var keyOfResolution = []string{"platform_id", "break_id"}

var reconciliationResolutions = schema.New("reconciliation_resolutions", keyOfResolution, func(row *resolutionRow) schema.Columns {
	s := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "break_id", Field: &s.Break}, {Name: "method", Field: &s.Method},
		{Name: "note", Field: &s.Note}, {Name: "posting_id", Field: schema.Optional(&s.Posting)}, {Name: "reconciliation_id", Field: &s.Run},
		{Name: "resolved_by", Field: &s.By}, {Name: "actor", Field: &s.Actor}, {Name: "person_id", Field: &s.Person},
		{Name: "resolved_at", Field: &s.At},
	}, schema.ApprovalColumns(&s.Approval))
})
