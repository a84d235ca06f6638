package ledgerdb

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/ports"
)

// astray is the condition of what stands in ledger_astray, of postings p, and tolerance how
// far apart the two times of any other posting are at most.
const (
	astray    = "(p.recorded_at - p.effective_at > interval '10 seconds' OR p.recorded_at - p.effective_at < interval '-10 seconds')"
	tolerance = 10 * time.Second
)

// What a span of recorded time comes to in numbers of postings.
const stretchRecorded = `
SELECT CASE WHEN $2::timestamptz IS NULL THEN 0 ELSE ledger_seq_at($1, $2) END,
       CASE WHEN $3::timestamptz IS NULL THEN $4 ELSE ledger_seq_at($1, $3) END`

// recordedStretch is a span of recorded time, both ends in it, in numbers of postings.
func recordedStretch(ctx context.Context, q Querier, platform uuid.UUID, m months, span ports.Span) (s stretch, err error) {
	if span == (ports.Span{}) {
		return m.bounded(allPostings), nil
	}
	var before, upto pgtype.Timestamptz
	if !span.From.IsZero() {
		before = pgtype.Timestamptz{Time: span.From.UTC().Add(-time.Microsecond), Valid: true}
		if err := m.has(before.Time); err != nil {
			return s, err
		}
	}
	if !span.To.IsZero() {
		if err := m.has(span.To); err != nil {
			return s, err
		}
		upto = pgtype.Timestamptz{Time: span.To.UTC(), Valid: true}
	}
	err = query(ctx, q, stretchRecorded, []any{dbID(platform), before, upto, allPostings.upto}, func(rows pgx.Rows) error { return rows.Scan(&s.after, &s.upto) })
	return m.bounded(s), err
}

// part is a stretch to look for postings in.
type part struct {
	stretch
	// Only these of it, which are astray: their numbers and recorded times.
	astray   []int64
	recorded []pgtype.Timestamptz
	// It is detached.
	gone bool
}

// spanParts are where what belongs to a span can be, in ascending order. Recorded time grows
// with the number, so that is one stretch. What took effect in a span was recorded around it
// too, unless it is astray: then it lies across one of the span's ends. Of what is astray
// only that on an account is wanted, if there is one.
func spanParts(ctx context.Context, q Querier, platform uuid.UUID, account int64, m months, by ports.TimeKind, span ports.Span) ([]part, error) {
	if by == ports.ByRecorded || span == (ports.Span{}) {
		s, err := recordedStretch(ctx, q, platform, m, span)
		return []part{{stretch: s}}, err
	}
	if !span.From.IsZero() {
		if err := m.has(span.From.Add(-time.Microsecond)); err != nil {
			return nil, err
		}
	}
	s, err := recordedStretch(ctx, q, platform, m, m.tolerant(span))
	if err != nil {
		return nil, err
	}
	parts := []part{{stretch: s}}
	if !span.From.IsZero() {
		early, err := straysAcross(ctx, q, platform, account, span.From.UTC().Add(-time.Microsecond), stretch{upto: s.after})
		if err != nil {
			return nil, err
		}
		parts = []part{early, {stretch: s}}
	}
	if !span.To.IsZero() {
		late, err := straysAcross(ctx, q, platform, account, span.To.UTC(), stretch{after: s.upto, upto: allPostings.upto})
		if err != nil {
			return nil, err
		}
		parts = append(parts, late)
	}
	return parts, nil
}

// cut brings the parts into reading order, keeps of each what lies within a stretch and, if
// it is to be read month by month, cuts it where months begin. Of what is astray nothing is
// in months that are detached.
func (m months) cut(parts []part, within stretch, ascending, monthly bool) (all []part) {
	if !ascending {
		slices.Reverse(parts)
	}
	for _, p := range parts {
		p.after, p.upto = max(p.after, within.after), min(p.upto, within.upto)
		reaches := p.after < min(p.upto, m.lost) && p.astray == nil
		if p.after = max(p.after, m.lost); reaches && ascending {
			all = append(all, part{gone: true})
		}
		switch {
		case p.after >= p.upto:
		case monthly && p.astray == nil:
			for _, piece := range m.pieces(p.stretch, ascending) {
				all = append(all, part{stretch: piece})
			}
		default:
			p.stretch = m.bounded(p.stretch)
			all = append(all, p)
		}
		if reaches && !ascending {
			all = append(all, part{gone: true})
		}
	}
	return all
}

// tolerant is the span in which all was recorded that took effect in a span and is not
// astray; where nothing of a month that is detached can have.
func (m months) tolerant(s ports.Span) ports.Span {
	if !s.From.IsZero() {
		s.From = s.From.Add(-tolerance)
		if m.lost > 0 && s.From.Before(m.detached) {
			s.From = m.detached
		}
	}
	if !s.To.IsZero() {
		s.To = s.To.Add(tolerance)
	}
	return s
}

// Those of one account ($5), or of all when it is 0. Rides on ledger_astray_across.
const findStrays = `
SELECT y.seq, y.recorded_at FROM ledger_across($1, $2) y
WHERE y.seq > $3 AND y.seq <= $4 AND ($5::bigint = 0 OR $5 IN (y.debit_account, y.credit_account))
GROUP BY y.seq, y.recorded_at
ORDER BY y.seq`

// straysAcross finds the postings in a stretch that were recorded on one side of a moment
// and took effect on the other; without any it is an empty stretch behind all others.
func straysAcross(ctx context.Context, q Querier, platform uuid.UUID, account int64, moment time.Time, in stretch) (found part, err error) {
	found.after = allPostings.upto
	err = query(ctx, q, findStrays, []any{dbID(platform), moment, in.after, in.upto, account}, func(rows pgx.Rows) error {
		var seq int64
		var at pgtype.Timestamptz
		err := rows.Scan(&seq, &at)
		found.astray, found.recorded = append(found.astray, seq), append(found.recorded, at)
		found.after, found.upto = min(found.after, seq-1), seq
		return err
	})
	return found, err
}
