package ledgerdb

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Postings and entries lie in a partition for each month in which they were recorded.
// What is read says in which months: the others are then not even looked at.

// Whole months, oldest first, of which partitions are made ahead: this one and two more.
const partitionsAhead = 3

const createMonthPartition = `SELECT ledger_create_month_partitions(($1::date + $2 * interval '1 month') AT TIME ZONE 'UTC')`

// CreateMonthPartitions makes the partitions of the month that now is in and of the next ones. Whoever
// posts first in a month without a partition makes it too, but then others wait for that.
func (b *Store) CreateMonthPartitions(ctx context.Context, db TxBeginner, now time.Time) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		first := pgtype.Date{Time: time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC), Valid: true}
		for ahead := range partitionsAhead {
			if _, err := tx.Exec(ctx, createMonthPartition, first, ahead); err != nil {
				return fmt.Errorf("open months of the books: %w", err)
			}
		}
		return nil
	})
}

// months are those in which a platform posted, in order, up to where each account posted
// to has a checkpoint with the end of each, and before when months are detached.
type months struct {
	starts          []monthStart
	completeTo      time.Time
	archivedBefore  time.Time
	lastArchivedSeq int64 // the last posting of the platform that is detached
}

// monthStart is the first moment of a month, and the number from which on postings were
// recorded in it.
type monthStart struct {
	at       time.Time
	firstSeq int64
}

// Rides on ledger_months_pkey and ledger_checkpointed_pkey.
const selectMonths = `
SELECT m.month, m.first_seq, nullif(k.months_complete_before, '-infinity'), (SELECT (max(d.month) + interval '1 month')::date FROM ledger_archived_months d)
FROM ledger_months m JOIN ledger_snapshot_progress k ON k.platform_id = m.platform_id
WHERE m.platform_id = $1
ORDER BY m.month`

func loadMonths(ctx context.Context, q Querier, platform uuid.UUID) (m months, err error) {
	err = query(ctx, q, selectMonths, []any{pgUUID(platform)}, func(rows pgx.Rows) error {
		var month, detached pgtype.Date
		var complete pgtype.Timestamptz
		var begin monthStart
		if err := rows.Scan(&month, &begin.firstSeq, &complete, &detached); err != nil {
			return err
		}
		begin.at, m.completeTo, m.archivedBefore = month.Time, utc(complete), detached.Time
		m.starts = append(m.starts, begin)
		return nil
	})
	for _, b := range m.starts {
		if m.lastArchivedSeq = b.firstSeq - 1; !b.at.Before(m.archivedBefore) {
			break
		}
		m.lastArchivedSeq = math.MaxInt64
	}
	return m, wrapError("read the months of the books", err)
}

// archivedError is the answer to who asks for something in a month that is detached.
func (m months) archivedError() error {
	return fault.New(fault.MonthArchived, "What was recorded before %s is detached from the books. Ask for what came later, or have its months attached (causeway ledger attach).",
		m.archivedBefore.Format(time.DateOnly))
}

// checkAvailable is nil when the books say what had been recorded by a moment, or effective.
func (m months) checkAvailable(moment time.Time) error {
	if m.lastArchivedSeq > 0 && !moment.IsZero() && moment.Before(m.archivedBefore.Add(-time.Microsecond)) {
		return m.archivedError()
	}
	return nil
}

// CheckAvailable is nil when the books of a platform have all that was recorded from a moment on; else
// MONTH_ARCHIVED.
func CheckAvailable(ctx context.Context, q Querier, p ident.Platform, from time.Time) error {
	m, err := loadMonths(ctx, q, p.UUID())
	if err != nil {
		return err
	}
	return m.checkAvailable(from.Add(-time.Microsecond))
}

// seqRange is a run of postings: those with numbers above after, up to upto. They were
// recorded from one moment until before another; zero is no bound.
type seqRange struct {
	after, upto int64
	from, until time.Time
}

// allPostings is the stretch of all there are; a number after the last one is left.
var allPostings = seqRange{upto: math.MaxInt64 - 1}

// withTimeBounds tells the stretch in which months it was recorded.
func (m months) withTimeBounds(s seqRange) seqRange {
	s.from, s.until = time.Time{}, time.Time{}
	for _, b := range m.starts {
		if b.firstSeq <= s.after+1 {
			s.from = b.at
		}
		if b.firstSeq > s.upto {
			s.until = b.at
			break
		}
	}
	return s
}

// entriesFrom is the moment from which on entries are needed, beside checkpoints, for what the
// accounts came to with a posting: the end of the last month before it that is complete.
func (m months) entriesFrom(upto int64) (at time.Time) {
	for _, b := range m.starts {
		if b.firstSeq > upto+1 || b.at.After(m.completeTo) {
			break
		}
		at = b.at
	}
	return at
}

// blockRange tells of the stretch of an account between two of its checkpoints, or after the
// last, in which months its entries were recorded. The last of them is enough, where the
// one before is complete.
func (m months) blockRange(s seqRange) seqRange {
	s = m.withTimeBounds(s)
	if since := m.entriesFrom(s.upto - 1); since.After(s.from) {
		s.from = since
	}
	return s
}

// chunks cuts a stretch where months begin, in reading order: a page is looked for in one
// month, then in the next two, the next four, and so on.
func (m months) chunks(s seqRange, ascending bool) (pieces []seqRange) {
	points := []int64{s.after}
	for _, b := range m.starts {
		if end := b.firstSeq - 1; end > points[len(points)-1] && end < s.upto {
			points = append(points, end)
		}
	}
	points = append(points, s.upto)
	many := len(points) - 1
	for wide, done := 1, 0; done < many; wide *= 2 {
		low, high := done, min(done+wide, many)
		done = high
		if !ascending {
			low, high = many-high, many-low
		}
		pieces = append(pieces, m.withTimeBounds(seqRange{after: points[low], upto: points[high]}))
	}
	return pieces
}

// timeBounds are the bounds as arguments of a statement.
func (s seqRange) timeBounds() (from, until pgtype.Timestamptz) {
	return timeOrInfinity(s.from, pgtype.NegativeInfinity), timeOrInfinity(s.until, pgtype.Infinity)
}

// timeOrInfinity is a moment, or without one this end of time.
func timeOrInfinity(at time.Time, end pgtype.InfinityModifier) pgtype.Timestamptz {
	if at.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: end, Valid: true}
	}
	return pgtype.Timestamptz{Time: at, Valid: true}
}
