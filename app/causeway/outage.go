package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sirupsen/logrus"

	"causeway/adapters/postgres"
)

// outage is the state of the database as the errors of this process show it. An outage is logged
// once when it begins and once when it ends, not for every request and job that fails in between.
type outage struct {
	mu    sync.Mutex
	began time.Time // zero while the database is available
}

// errSilentDatabase is the error of a measurement that got no response.
var errSilentDatabase = errors.New("the database does not respond")

// observe reports whether an error began an outage, and whether it belongs to one.
func (o *outage) observe(err error, now time.Time) (began, belongs bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isOutageError(err) {
		began = o.began.IsZero()
		if began {
			o.began = now
		}
		return began, true
	}
	return false, !o.began.IsZero() && errors.Is(err, context.DeadlineExceeded)
}

func (o *outage) isActive() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.began.IsZero()
}

// end ends the outage, and returns how long it lasted; zero if there was none.
func (o *outage) end(now time.Time) (lasted time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.began.IsZero() {
		lasted = max(now.Sub(o.began), 1)
	}
	o.began = time.Time{}
	return lasted
}

// isOutageError reports whether an error means that the database is not available. A statement that
// was cancelled because it took too long, or that others were in the way of, does not.
func isOutageError(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "57014" || pg.Code == "40001") { // query_canceled, serialization_failure
		return false
	}
	return errors.Is(err, errSilentDatabase) || postgres.IsUnavailable(err)
}

// outageFormatter replaces the log lines of an outage by one at its beginning. At level debug, all
// of them are logged.
type outageFormatter struct {
	logrus.Formatter
	outage *outage
}

// Format implements logrus.Formatter. Without text nothing is written.
func (f outageFormatter) Format(e *logrus.Entry) ([]byte, error) {
	err, isError := e.Data[logrus.ErrorKey].(error)
	if !isError {
		return f.Formatter.Format(e)
	}
	began, belongs := f.outage.observe(err, e.Time)
	switch {
	case began:
		return f.Formatter.Format(&logrus.Entry{Logger: e.Logger, Time: e.Time, Level: logrus.ErrorLevel,
			Data:    logrus.Fields{logrus.ErrorKey: err},
			Message: "the database is not available; requests get 503 and jobs wait until it is"})
	case belongs && !e.Logger.IsLevelEnabled(logrus.DebugLevel):
		return nil, nil
	default:
		return f.Formatter.Format(e)
	}
}
