package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/fault"
)

// maxClockOffset is the largest difference between the clocks of this process and of the database
// with which postings are recorded. ledger_post has the same limit.
const maxClockOffset = 2 * time.Second

// measureTimeout bounds the round trip of a measurement.
const measureTimeout = 2 * time.Second

// MeasureClock compares the clock of this process with the database's. If they differ by more than
// two seconds, the process refuses to post until a later measurement finds them equal.
func (db *DB) MeasureClock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	conn, err := db.pool.Acquire(unscoped(ctx)) // before the first reading, because it may take long
	if err != nil {
		return fmt.Errorf("compare the clock with the database's: %w", err)
	}
	defer conn.Release()
	var database time.Time
	before := db.clock.Now()
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&database); err != nil {
		return fmt.Errorf("compare the clock with the database's: %w", err)
	}
	db.clockOffset.Store(int64(offsetBetween(before, db.clock.Now(), database)))
	return nil
}

// offsetBetween returns how far the clock that showed before and after is ahead of the one that
// showed reading in between: the smallest difference that the duration of the round trip allows.
func offsetBetween(before, after, reading time.Time) time.Duration {
	switch {
	case reading.Before(before):
		return before.Sub(reading)
	case reading.After(after):
		return after.Sub(reading)
	}
	return 0
}

// ClockOffset returns how far the clock of this process was ahead of the database's at the last
// measurement.
func (db *DB) ClockOffset() time.Duration { return time.Duration(db.clockOffset.Load()) }

// clockDiffers reports whether the last measurement found a difference of more than two seconds.
func (db *DB) clockDiffers() bool { return db.ClockOffset().Abs() > maxClockOffset }

// CheckClock returns a SERVICE_UNAVAILABLE fault if the last measurement found a difference of more
// than two seconds.
func (db *DB) CheckClock() error {
	if db.clockDiffers() {
		offset := db.ClockOffset()
		direction := "ahead of"
		if offset < 0 {
			direction = "behind"
		}
		return wrongClock(fmt.Sprintf("is %s %s the database's", offset.Abs().Round(time.Millisecond), direction))
	}
	return nil
}

// isWrongClock reports whether ledger_post refused the time of the postings.
func isWrongClock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "CW001"
}

func wrongClock(how string) *fault.Error {
	return &fault.Error{Code: fault.ServiceUnavailable, Reason: "Clock differs", RetryAfter: 5 * time.Second,
		Message: "The clock of this server " + how + ", so it moves no money. Send the request again; another server may respond. Operators: " +
			"correct the clock."}
}
