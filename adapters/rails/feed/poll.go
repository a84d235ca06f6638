package feed

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"causeway/ports"
)

// Poll does what a connection has to do, which keeps what it finds, and returns the events after the number in a cursor. read returns at
// most limit of them, and add adds one to the report and returns its number. A failure of the work is returned when all that was found
// before it has been.
func Poll[E any](ctx context.Context, connection, cursor string, limit int, work func(context.Context) (more bool, err error),
	read func(ctx context.Context, connection string, after int64, limit int) ([]E, error),
	add func(*ports.RailReport, E) (number int64)) (ports.RailReport, error) {
	var after int64
	if cursor != "" {
		var err error
		if after, err = strconv.ParseInt(cursor, 10, 64); err != nil || after < 0 {
			return ports.RailReport{}, fmt.Errorf("the cursor %.40q is not the number of an event of connection %s", cursor, connection)
		}
	}
	more, failure := work(ctx)
	events, err := read(ctx, connection, after, limit)
	if err != nil || len(events) == 0 && failure != nil {
		return ports.RailReport{}, errors.Join(failure, err)
	}
	report := ports.RailReport{Cursor: cursor, More: more && failure == nil || len(events) == limit}
	for _, e := range events {
		report.Cursor = strconv.FormatInt(add(&report, e), 10)
	}
	return report, nil
}
