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

// Postings and entries are partitioned by the month in which they were recorded. Queries
// have bounds of recorded time, so that the database skips the other partitions.

// partitionsAhead is the number of months whose partitions are created ahead, beginning with
// the current one.
const partitionsAhead = 3

const createMonthPartition = `SELECT ledger_create_month_partitions(($1::date + $2 * interval '1 month') AT TIME ZONE 'UTC')`

// CreateMonthPartitions creates the partitions of the current month and of the next ones. The
// first posting in a month without a partition would create it too, but other postings
// would have to wait.
func (s *Store) CreateMonthPartitions(ctx context.Context, db TxBeginner, now time.Time) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		first := pgtype.Date{Time: time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC), Valid: true}
		for ahead := range partitionsAhead {
			if _, err := tx.Exec(ctx, createMonthPartition, first, ahead); err != nil {
				return fmt.Errorf("create month partitions: %w", err)
			}
		}
		return nil
	})
}

// months holds the months in which a platform has postings, in order, how far the snapshots
// at month ends are complete, and which months are archived.
type months struct {
	starts          []monthStart
	completeTo      time.Time
	archivedBefore  time.Time
	lastArchivedSeq int64 // the last archived posting of the platform; 0 if there is none
}

// monthStart is the start of a month and the number of the first posting recorded in it.
type monthStart struct {
	at       time.Time
	firstSeq int64
}

// Uses ledger_months_pkey and ledger_snapshot_progress_pkey.
const selectMonths = `
SELECT m.month, m.first_seq, nullif(k.months_complete_before, '-infinity'), (SELECT (max(d.month) + interval '1 month')::date FROM ledger_archived_months d)
FROM ledger_months m JOIN ledger_snapshot_progress k ON k.platform_id = m.platform_id
WHERE m.platform_id = $1
ORDER BY m.month`

func loadMonths(ctx context.Context, q Querier, platform uuid.UUID) (m months, err error) {
	err = query(ctx, q, selectMonths, []any{pgUUID(platform)}, func(rows pgx.Rows) error {
		var month, archivedEnd pgtype.Date
		var complete pgtype.Timestamptz
		var start monthStart
		if err := rows.Scan(&month, &start.firstSeq, &complete, &archivedEnd); err != nil {
			return err
		}
		start.at, m.completeTo, m.archivedBefore = month.Time, utc(complete), archivedEnd.Time
		m.starts = append(m.starts, start)
		return nil
	})
	for _, start := range m.starts {
		if m.lastArchivedSeq = start.firstSeq - 1; !start.at.Before(m.archivedBefore) {
			break
		}
		m.lastArchivedSeq = math.MaxInt64
	}
	return m, wrapError("read the months of the ledger", err)
}

// archivedError returns the error for a query that needs an archived month.
func (m months) archivedError() error {
	return fault.New(fault.MonthArchived, "Postings recorded before %s are archived. Use a later time, or restore the archived months "+
		"(causeway ledger restore).",
		m.archivedBefore.Format(time.DateOnly))
}

// checkAvailable returns MONTH_ARCHIVED if the balances at a time need an archived month.
func (m months) checkAvailable(at time.Time) error {
	if m.lastArchivedSeq > 0 && !at.IsZero() && at.Before(m.archivedBefore.Add(-time.Microsecond)) {
		return m.archivedError()
	}
	return nil
}

// areBefore reports whether the archived months were over when a transaction was created, as its id says: it has no postings in them.
func (m months) areBefore(t ident.Transaction) bool {
	id := t.UUID()
	return id.Version() == 7 && !time.Unix(id.Time().UnixTime()).Before(m.archivedBefore)
}

// CheckAvailable returns MONTH_ARCHIVED if postings of the platform that were recorded at or
// after a time are archived.
func CheckAvailable(ctx context.Context, q Querier, p ident.Platform, from time.Time) error {
	m, err := loadMonths(ctx, q, p.UUID())
	if err != nil {
		return err
	}
	return m.checkAvailable(from.Add(-time.Microsecond))
}

// seqRange is a range of postings: those with numbers above after and up to upto. They were
// recorded from from until before until; zero is no bound.
type seqRange struct {
	after, upto int64
	from, until time.Time
}

// allPostings is the range of all postings. It ends one below the largest number, so that
// upto+1 does not overflow.
var allPostings = seqRange{upto: math.MaxInt64 - 1}

// withTimeBounds sets the bounds of recorded time of a range to whole months.
func (m months) withTimeBounds(s seqRange) seqRange {
	s.from, s.until = time.Time{}, time.Time{}
	for _, start := range m.starts {
		if start.firstSeq <= s.after+1 {
			s.from = start.at
		}
		if start.firstSeq > s.upto {
			s.until = start.at
			break
		}
	}
	return s
}

// entriesFrom returns the recorded time from which entries are needed, beside snapshots, for
// balances after a posting: the end of the last complete month before it.
func (m months) entriesFrom(upto int64) (at time.Time) {
	for _, start := range m.starts {
		if start.firstSeq > upto+1 || start.at.After(m.completeTo) {
			break
		}
		at = start.at
	}
	return at
}

// blockRange sets the time bounds of a range between two snapshots of an account, or after
// its last one. Entries before the last complete month are in the earlier snapshot.
func (m months) blockRange(s seqRange) seqRange {
	s = m.withTimeBounds(s)
	if from := m.entriesFrom(s.upto - 1); from.After(s.from) {
		s.from = from
	}
	return s
}

// chunks splits a range where months begin, in reading order: a page is searched in one
// month, then in the next two, the next four, and so on.
func (m months) chunks(s seqRange, ascending bool) (chunks []seqRange) {
	bounds := []int64{s.after}
	for _, start := range m.starts {
		if end := start.firstSeq - 1; end > bounds[len(bounds)-1] && end < s.upto {
			bounds = append(bounds, end)
		}
	}
	bounds = append(bounds, s.upto)
	count := len(bounds) - 1
	for width, done := 1, 0; done < count; width *= 2 {
		low, high := done, min(done+width, count)
		done = high
		if !ascending {
			low, high = count-high, count-low
		}
		chunks = append(chunks, m.withTimeBounds(seqRange{after: bounds[low], upto: bounds[high]}))
	}
	return chunks
}

// timeBounds returns the time bounds as arguments of a statement.
func (s seqRange) timeBounds() (from, until pgtype.Timestamptz) {
	return timeOrInfinity(s.from, pgtype.NegativeInfinity), timeOrInfinity(s.until, pgtype.Infinity)
}

// timeOrInfinity returns a time as an argument, or an infinity for the zero time.
func timeOrInfinity(at time.Time, end pgtype.InfinityModifier) pgtype.Timestamptz {
	if at.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: end, Valid: true}
	}
	return pgtype.Timestamptz{Time: at, Valid: true}
}
