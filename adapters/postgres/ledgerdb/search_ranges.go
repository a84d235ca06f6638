package ledgerdb

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/period"
	"causeway/ports"
)

// backdatedCondition is the condition of rows in ledger_backdated_entries, on postings p.
// backdatedTolerance is the largest difference between the two times of any other posting.
const (
	backdatedCondition = "(p.recorded_at - p.effective_at > interval '10 seconds' OR p.recorded_at - p.effective_at < interval '-10 seconds')"
	backdatedTolerance = 10 * time.Second
)

// The sequence numbers of an interval of recorded time.
const selectSeqRange = `
SELECT CASE WHEN $2::timestamptz IS NULL THEN 0 ELSE ledger_seq_at($1, $2) END,
       CASE WHEN $3::timestamptz IS NULL THEN $4 ELSE ledger_seq_at($1, $3) END`

// recordedRange converts an interval of recorded time to a range of sequence numbers.
func recordedRange(ctx context.Context, q Querier, platform uuid.UUID, m months, span period.Interval) (s seqRange, err error) {
	if span.IsUnbounded() {
		return m.withTimeBounds(allPostings), nil
	}
	var before, upto pgtype.Timestamptz
	if !span.From.IsZero() {
		before = pgtype.Timestamptz{Time: span.BeforeFrom().UTC(), Valid: true}
		if err := m.checkAvailable(before.Time); err != nil {
			return s, err
		}
	}
	if !span.To.IsZero() {
		if err := m.checkAvailable(span.Last()); err != nil {
			return s, err
		}
		upto = pgtype.Timestamptz{Time: span.Last().UTC(), Valid: true}
	}
	err = query(ctx, q, selectSeqRange, []any{pgUUID(platform), before, upto, allPostings.upto},
		func(rows pgx.Rows) error { return rows.Scan(&s.after, &s.upto) })
	return m.withTimeBounds(s), err
}

// upTo returns the interval up to and including a time; unbounded for the zero time.
func upTo(at time.Time) period.Interval {
	if at.IsZero() {
		return period.Interval{}
	}
	return period.Interval{To: at.Add(time.Microsecond)}
}

// searchRange is a range to search for postings.
type searchRange struct {
	seqRange
	// If set, only these backdated postings of the range: their numbers and recorded times.
	backdatedSeqs  []int64
	backdatedTimes []pgtype.Timestamptz
	// The range is in archived months.
	archived bool
}

// spanSearchRanges returns the ranges that can contain the postings of an interval, in
// ascending order. Recorded time grows with the number, so an interval of it is one range.
// Postings effective in an interval were recorded around it, except backdated ones, whose
// two times span a bound of the interval. With an account id, only backdated postings on
// this account are included.
func spanSearchRanges(ctx context.Context, q Querier, platform uuid.UUID, account int64, m months, by ports.TimeKind,
	span period.Interval) ([]searchRange, error) {
	if by == ports.ByRecorded || span.IsUnbounded() {
		s, err := recordedRange(ctx, q, platform, m, span)
		return []searchRange{{seqRange: s}}, err
	}
	if !span.From.IsZero() {
		if err := m.checkAvailable(span.BeforeFrom()); err != nil {
			return nil, err
		}
	}
	s, err := recordedRange(ctx, q, platform, m, m.widen(span))
	if err != nil {
		return nil, err
	}
	ranges := []searchRange{{seqRange: s}}
	if !span.From.IsZero() {
		early, err := findBackdated(ctx, q, platform, account, span.BeforeFrom().UTC(), seqRange{upto: s.after})
		if err != nil {
			return nil, err
		}
		ranges = []searchRange{early, {seqRange: s}}
	}
	if !span.To.IsZero() {
		late, err := findBackdated(ctx, q, platform, account, span.Last().UTC(), seqRange{after: s.upto, upto: allPostings.upto})
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, late)
	}
	return ranges, nil
}

// clip puts the ranges into reading order, limits them to a range and, if monthly is set,
// splits them where months begin. Backdated postings are never in archived months.
func (m months) clip(ranges []searchRange, limits seqRange, ascending, monthly bool) (all []searchRange) {
	if !ascending {
		slices.Reverse(ranges)
	}
	for _, p := range ranges {
		p.after, p.upto = max(p.after, limits.after), min(p.upto, limits.upto)
		includesArchived := p.after < min(p.upto, m.lastArchivedSeq) && p.backdatedSeqs == nil
		if p.after = max(p.after, m.lastArchivedSeq); includesArchived && ascending {
			all = append(all, searchRange{archived: true})
		}
		switch {
		case p.after >= p.upto:
		case monthly && p.backdatedSeqs == nil:
			for _, chunk := range m.chunks(p.seqRange, ascending) {
				all = append(all, searchRange{seqRange: chunk})
			}
		default:
			p.seqRange = m.withTimeBounds(p.seqRange)
			all = append(all, p)
		}
		if includesArchived && !ascending {
			all = append(all, searchRange{archived: true})
		}
	}
	return all
}

// widen returns the interval in which all postings effective in an interval were recorded,
// except backdated ones. It leaves out archived months.
func (m months) widen(s period.Interval) period.Interval {
	if !s.From.IsZero() {
		s.From = s.From.Add(-backdatedTolerance)
		if m.lastArchivedSeq > 0 && s.From.Before(m.archivedBefore) {
			s.From = m.archivedBefore
		}
	}
	if !s.To.IsZero() {
		s.To = s.To.Add(backdatedTolerance)
	}
	return s
}

// Of one account ($5), or of all if it is 0. Uses ledger_backdated_entries_by_gap.
const selectBackdated = `
SELECT y.seq, y.recorded_at FROM ledger_entries_spanning($1, $2) y
WHERE y.seq > $3 AND y.seq <= $4 AND ($5::bigint = 0 OR $5 IN (y.debit_account_id, y.credit_account_id))
GROUP BY y.seq, y.recorded_at
ORDER BY y.seq`

// findBackdated returns the postings in a range that were recorded on one side of a time and
// effective on the other. If there are none, it returns an empty range after all others.
func findBackdated(ctx context.Context, q Querier, platform uuid.UUID, account int64, at time.Time,
	in seqRange) (found searchRange, err error) {
	found.after = allPostings.upto
	err = query(ctx, q, selectBackdated, []any{pgUUID(platform), at, in.after, in.upto, account}, func(rows pgx.Rows) error {
		var seq int64
		var at pgtype.Timestamptz
		err := rows.Scan(&seq, &at)
		found.backdatedSeqs, found.backdatedTimes = append(found.backdatedSeqs, seq), append(found.backdatedTimes, at)
		found.after, found.upto = min(found.after, seq-1), seq
		return err
	})
	return found, err
}
