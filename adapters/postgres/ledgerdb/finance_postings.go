package ledgerdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// selectPostings reads postings with their entries, recorded from $5 until before $6; %[1]s
// selects them, %[2]s is the order. Uses the primary keys of entries, ledger_accounts_pkey
// and ledger_posting_reversed_once.
const selectPostings = `
SELECT p.seq, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses,
       (SELECT x.id FROM ledger_posting_ids x WHERE x.platform_id = $1 AND x.reverses = p.id AND x.reverses IS NOT NULL),
       d.path, c.path, e.currency, e.amount
FROM (%[1]s) p
JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = p.seq AND e.recorded_at = p.recorded_at AND e.recorded_at >= $5 AND e.recorded_at < $6
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
ORDER BY p.seq %[2]s, e.entry_no`

// Uses ledger_posting_ids_pkey.
const selectPosition = `SELECT seq, recorded_at FROM ledger_posting_ids WHERE platform_id = $1 AND id = $2`

// findPosition returns the sequence number and recorded time of a posting as a range, and
// false if there is no posting with the id.
func findPosition(ctx context.Context, q Querier, p ident.Platform, id uuid.UUID) (s seqRange, found bool, err error) {
	err = query(ctx, q, selectPosition, []any{p, pgUUID(id)}, func(rows pgx.Rows) error {
		found = true
		return rows.Scan(&s.upto, &s.from)
	})
	s.after, s.until = s.upto-1, s.from.Add(time.Microsecond)
	return s, found, err
}

// RecordedPosting implements accounting.Finance.
func (r *Reader) RecordedPosting(ctx context.Context, p ident.Platform,
	id uuid.UUID) (posting ports.RecordedPosting, found bool, err error) {
	err = r.readOnlyCustomPlan(ctx, func(q Querier) error {
		s, exists, err := findPosition(ctx, q, p, id)
		if err != nil || !exists {
			return err
		}
		m, err := loadMonths(ctx, q, p.UUID())
		if err != nil {
			return err
		}
		if s.upto <= m.lastArchivedSeq {
			return m.archivedError()
		}
		statement, args := buildPostingQuery(ports.PostingFilter{Platform: p, Limit: 1}, searchRange{seqRange: s})
		postings, err := readPostings(ctx, q, p, statement, args)
		if found = len(postings) > 0; found {
			posting = postings[0]
		}
		return err
	})
	if err != nil {
		return posting, false, fmt.Errorf("read posting %s: %w", id, err)
	}
	return posting, found, nil
}

// Postings implements accounting.Finance.
func (r *Reader) Postings(ctx context.Context, f ports.PostingFilter) (page ports.PostingPage, err error) {
	err = r.readOnlyCustomPlan(ctx, func(q Querier) error {
		m, err := loadMonths(ctx, q, f.Platform.UUID())
		if err != nil {
			return err
		}
		ranges, err := postingSearchRanges(ctx, q, m, f)
		if err != nil {
			return err
		}
		for _, p := range ranges {
			if p.archived && len(page.Postings) == 0 {
				return m.archivedError()
			}
			rest := f
			if rest.Limit -= len(page.Postings); rest.Limit < 0 || p.archived {
				page.More = p.archived
				break
			}
			statement, args := buildPostingQuery(rest, p)
			more, err := readPostings(ctx, q, f.Platform, statement, args)
			if err != nil {
				return err
			}
			page.Postings = append(page.Postings, more...)
		}
		return nil
	})
	if err != nil {
		return page, fmt.Errorf("list postings: %w", err)
	}
	if len(page.Postings) > f.Limit {
		page.Postings, page.More = page.Postings[:f.Limit], true
	}
	return page, nil
}

// postingSearchRanges returns the ranges that can contain the postings of a page, in the
// order of the page.
func postingSearchRanges(ctx context.Context, q Querier, m months, f ports.PostingFilter) ([]searchRange, error) {
	all := allPostings
	if f.After > 0 && f.Ascending {
		all.after = f.After
	} else if f.After > 0 {
		all.upto = f.After - 1
	}
	if isSelective(f) {
		if m.areBefore(f.Transaction) {
			all.after = max(all.after, m.lastArchivedSeq)
		}
		// A timeline begins a while before its transaction was created.
		if from := f.Interval.From; f.By == ports.ByRecorded && !from.IsZero() && from.Before(m.archivedBefore) &&
			(m.areBefore(f.Transaction) || m.areBefore(f.OrOf)) {
			f.Interval.From = m.archivedBefore
		}
		if f.By == ports.ByRecorded && !f.Interval.IsUnbounded() {
			s, err := recordedRange(ctx, q, f.Platform.UUID(), m, f.Interval)
			return m.clip([]searchRange{{seqRange: s}}, all, f.Ascending, false), err
		}
		if !f.Interval.From.IsZero() { // no posting of an archived month is effective later
			if err := m.checkAvailable(f.Interval.BeforeFrom()); err != nil {
				return nil, err
			}
			all.after = max(all.after, m.lastArchivedSeq)
		}
		return m.clip([]searchRange{{seqRange: all}}, all, f.Ascending, false), nil
	}
	ranges, err := spanSearchRanges(ctx, q, f.Platform.UUID(), 0, m, f.By, f.Interval)
	return m.clip(ranges, all, f.Ascending, true), err
}

// commonKinds are the kinds that every payment has, written as in the condition of
// ledger_postings_by_rare_kind.
const commonKinds = `'jit_received', 'converted', 'delivered', 'deposit', 'transfer_in', 'transfer_out'`

// RareKindsCondition is the condition of that index, on postings p. Queries for rare kinds
// must repeat it to use the index.
const RareKindsCondition = "p.kind NOT IN (" + commonKinds + ")"

// buildPostingQuery returns the statement for a filter and its arguments. Depending on the
// filter, it uses ledger_postings_by_transaction, transactions_by_customer,
// ledger_postings_by_memo, the indexes of references, ledger_postings_by_rare_kind, or the
// primary keys.
func buildPostingQuery(f ports.PostingFilter, s searchRange) (string, []any) {
	recorded, until := s.timeBounds()
	args := []any{f.Platform, s.after, s.upto, f.Limit + 1, recorded, until}
	addArg := func(arg any) string {
		args = append(args, arg)
		return "$" + strconv.Itoa(len(args))
	}
	from := "ledger_postings p"
	where := []string{"p.platform_id = $1", "p.seq > $2", "p.seq <= $3", "p.recorded_at >= $5", "p.recorded_at < $6"}
	if s.backdatedSeqs != nil {
		where = append(where, "p.seq = ANY("+addArg(s.backdatedSeqs)+")")
	}
	if f.Kind != "" {
		where = append(where, "p.kind = "+addArg(string(f.Kind)))
		if !strings.Contains(commonKinds, "'"+string(f.Kind)+"'") {
			where = append(where, RareKindsCondition)
		}
	}
	if !f.Transaction.IsZero() {
		where = append(where, "p.transaction_id = "+addArg(f.Transaction))
	}
	if !f.Customer.IsZero() {
		from = "(SELECT t.id FROM transactions t WHERE t.platform_id = $1 AND t.customer_id = " + addArg(f.Customer) +
			" OFFSET 0) t JOIN ledger_postings p ON p.platform_id = $1 AND p.transaction_id = t.id"
	}
	if f.By == ports.ByEffective && !f.Interval.IsUnbounded() {
		where = append(where, "p.effective_at BETWEEN "+addArg(orMinTime(f.Interval.From))+" AND "+addArg(orMaxTime(f.Interval.Last())))
	}
	order := "DESC"
	if f.Ascending {
		order = "ASC"
	}
	condition := strings.Join(where, " AND ")
	if len(f.Memos) == 0 {
		query := fmt.Sprintf("SELECT p.* FROM %s WHERE %s ORDER BY p.seq %s LIMIT $4", from, condition, order)
		return fmt.Sprintf(selectPostings, query, order), args
	}
	memos, more := addArg(f.Memos), ""
	if !f.OrOf.IsZero() {
		of := addArg(f.OrOf)
		more = fmt.Sprintf("SELECT p.* FROM %s WHERE %s AND p.transaction_id = %s UNION ALL", from, condition, of)
		condition += " AND p.transaction_id IS DISTINCT FROM " + of
	}
	query := fmt.Sprintf(`SELECT * FROM (%[5]s
    SELECT p.* FROM %[1]s WHERE %[2]s AND p.memo = ANY(%[3]s) AND (p.transaction_id IS NULL OR p.kind = 'unmatched_assigned')
    UNION ALL
    SELECT p.* FROM %[1]s WHERE %[2]s AND p.memo = ANY(%[3]s) AND p.kind <> 'unmatched_assigned' AND p.transaction_id IN (
        SELECT q.transaction_id FROM quotes q WHERE q.platform_id = $1 AND q.reference = ANY(%[3]s) AND q.reference <> ''
        UNION SELECT w.id FROM transactions w WHERE w.platform_id = $1 AND w.reference = ANY(%[3]s) AND w.reference <> '')
) p ORDER BY p.seq %[4]s LIMIT $4`, from, condition, memos, order, more)
	return fmt.Sprintf(selectPostings, query, order), args
}

func readPostings(ctx context.Context, q Querier, platform ident.Platform, statement string,
	args []any) (postings []ports.RecordedPosting, err error) {
	err = queryFreshPlan(ctx, q, statement, args, func(rows pgx.Rows) error {
		p := ports.RecordedPosting{Posting: ledger.Posting{Platform: platform}}
		var e ledger.Entry
		if err := rows.Scan(&p.Seq, &p.ID, &p.Kind, &p.Transaction, &p.Effective, &p.Recorded, &p.Memo, &p.Reverses, &p.ReversedBy,
			&e.Debit, &e.Credit, &e.Currency, &e.Amount); err != nil {
			return err
		}
		if n := len(postings); n > 0 && postings[n-1].Seq == p.Seq {
			postings[n-1].Entries = append(postings[n-1].Entries, e)
			return nil
		}
		p.Entries = []ledger.Entry{e}
		postings = append(postings, p)
		return nil
	})
	return postings, err
}

// isSelective reports whether a filter matches few postings in the whole ledger.
func isSelective(f ports.PostingFilter) bool {
	return !f.Transaction.IsZero() || !f.Customer.IsZero() || len(f.Memos) > 0
}
