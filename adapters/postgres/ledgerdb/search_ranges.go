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

// astray is the condition of what stands in ledger_backdated_entries, of postings p, and tolerance how
// far apart the two times of any other posting are at most.
const (
	backdatedCondition = "(p.recorded_at - p.effective_at > interval '10 seconds' OR p.recorded_at - p.effective_at < interval '-10 seconds')"
	backdatedTolerance = 10 * time.Second
)

// What a span of recorded time comes to in numbers of postings.
const selectSeqRange = `
SELECT CASE WHEN $2::timestamptz IS NULL THEN 0 ELSE ledger_seq_at($1, $2) END,
       CASE WHEN $3::timestamptz IS NULL THEN $4 ELSE ledger_seq_at($1, $3) END`

// recordedRange is a span of recorded time, both ends in it, in numbers of postings.
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
	err = query(ctx, q, selectSeqRange, []any{pgUUID(platform), before, upto, allPostings.upto}, func(rows pgx.Rows) error { return rows.Scan(&s.after, &s.upto) })
	return m.withTimeBounds(s), err
}

// upTo is all of time up to and including a moment; unbounded for the zero time.
func upTo(moment time.Time) period.Interval {
	if moment.IsZero() {
		return period.Interval{}
	}
	return period.Interval{To: moment.Add(time.Microsecond)}
}

// searchRange is a stretch to look for postings in.
type searchRange struct {
	seqRange
	// Only these of it, which are astray: their numbers and recorded times.
	backdatedSeqs  []int64
	backdatedTimes []pgtype.Timestamptz
	// It is detached.
	archived bool
}

// spanSearchRanges are where what belongs to a span can be, in ascending order. Recorded time grows
// with the number, so that is one stretch. What took effect in a span was recorded around it
// too, unless it is astray: then it lies across one of the span's ends. Of what is astray
// only that on an account is wanted, if there is one.
func spanSearchRanges(ctx context.Context, q Querier, platform uuid.UUID, account int64, m months, by ports.TimeKind, span period.Interval) ([]searchRange, error) {
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
	parts := []searchRange{{seqRange: s}}
	if !span.From.IsZero() {
		early, err := findBackdated(ctx, q, platform, account, span.BeforeFrom().UTC(), seqRange{upto: s.after})
		if err != nil {
			return nil, err
		}
		parts = []searchRange{early, {seqRange: s}}
	}
	if !span.To.IsZero() {
		late, err := findBackdated(ctx, q, platform, account, span.Last().UTC(), seqRange{after: s.upto, upto: allPostings.upto})
		if err != nil {
			return nil, err
		}
		parts = append(parts, late)
	}
	return parts, nil
}

// clip brings the parts into reading order, keeps of each what lies within a stretch and, if
// it is to be read month by month, cuts it where months begin. Of what is astray nothing is
// in months that are detached.
func (m months) clip(parts []searchRange, within seqRange, ascending, monthly bool) (all []searchRange) {
	if !ascending {
		slices.Reverse(parts)
	}
	for _, p := range parts {
		p.after, p.upto = max(p.after, within.after), min(p.upto, within.upto)
		reaches := p.after < min(p.upto, m.lastArchivedSeq) && p.backdatedSeqs == nil
		if p.after = max(p.after, m.lastArchivedSeq); reaches && ascending {
			all = append(all, searchRange{archived: true})
		}
		switch {
		case p.after >= p.upto:
		case monthly && p.backdatedSeqs == nil:
			for _, piece := range m.chunks(p.seqRange, ascending) {
				all = append(all, searchRange{seqRange: piece})
			}
		default:
			p.seqRange = m.withTimeBounds(p.seqRange)
			all = append(all, p)
		}
		if reaches && !ascending {
			all = append(all, searchRange{archived: true})
		}
	}
	return all
}

// widen is the span in which all was recorded that took effect in a span and is not
// astray; where nothing of a month that is detached can have.
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

// Those of one account ($5), or of all when it is 0. Rides on ledger_backdated_entries_by_gap.
const selectBackdated = `
SELECT y.seq, y.recorded_at FROM ledger_entries_spanning($1, $2) y
WHERE y.seq > $3 AND y.seq <= $4 AND ($5::bigint = 0 OR $5 IN (y.debit_account_id, y.credit_account_id))
GROUP BY y.seq, y.recorded_at
ORDER BY y.seq`

// findBackdated finds the postings in a stretch that were recorded on one side of a moment
// and took effect on the other; without any it is an empty stretch behind all others.
func findBackdated(ctx context.Context, q Querier, platform uuid.UUID, account int64, moment time.Time, in seqRange) (found searchRange, err error) {
	found.after = allPostings.upto
	err = query(ctx, q, selectBackdated, []any{pgUUID(platform), moment, in.after, in.upto, account}, func(rows pgx.Rows) error {
		var seq int64
		var at pgtype.Timestamptz
		err := rows.Scan(&seq, &at)
		found.backdatedSeqs, found.backdatedTimes = append(found.backdatedSeqs, seq), append(found.backdatedTimes, at)
		found.after, found.upto = min(found.after, seq-1), seq
		return err
	})
	return found, err
}
