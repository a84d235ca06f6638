package main

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sirupsen/logrus"
)

func TestOutage_LoggedOnce(t *testing.T) {
	t.Parallel()
	// The first error of an outage is logged as such, and the others and the timeouts that follow
	// are not. Other errors are, and timeouts and cancelled statements outside an outage.
	var out bytes.Buffer
	log, state := logrus.New(), new(outage)
	log.SetOutput(&out)
	log.SetFormatter(outageFormatter{&logrus.TextFormatter{DisableTimestamp: true}, state})
	lost := fmt.Errorf("read: %w", driver.ErrBadConn)
	for _, err := range []error{
		errors.New("rule"), context.DeadlineExceeded, &pgconn.PgError{Code: "57014"},
		lost, lost, context.DeadlineExceeded, &pgconn.PgError{Code: "57P01"}, errors.New("another rule"),
	} {
		log.WithError(err).Error("request")
	}

	if n := strings.Count(out.String(), "the database is not available"); n != 1 {
		t.Errorf("the outage is logged %d times:\n%s", n, out.String())
	}
	if n := strings.Count(out.String(), "msg=request"); n != 4 {
		t.Errorf("%d requests are logged, want 4:\n%s", n, out.String())
	}
	if lasted := state.end(time.Now().Add(time.Minute)); lasted < time.Minute {
		t.Errorf("it lasted %s", lasted)
	}
	if state.isActive() || state.end(time.Now()) != 0 {
		t.Error("the outage did not end")
	}
}
