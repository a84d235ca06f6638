package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/fault"
)

func TestTranslate_OutageIsTemporary(t *testing.T) {
	t.Parallel()
	// An error of the connection or of the state of the server becomes 503, with its cause for the
	// log. An error of a statement, and the end of a context, stay what they are.
	for name, c := range map[string]struct {
		err         error
		unavailable bool
	}{
		"refused":               {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, true},
		"closed":                {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"bad connection":        {driver.ErrBadConn, true},
		"shutting down":         {&pgconn.PgError{Code: "57P01"}, true},
		"statement timeout":     {&pgconn.PgError{Code: "57014"}, true},
		"disk full":             {&pgconn.PgError{Code: "53100"}, true},
		"standby":               {&pgconn.PgError{Code: "25006"}, true},
		"locked":                {&pgconn.PgError{Code: "55P03"}, true},
		"clock":                 {&pgconn.PgError{Code: "CW001"}, true},
		"syntax":                {&pgconn.PgError{Code: "42601"}, false},
		"unique":                {&pgconn.PgError{Code: "23505"}, false},
		"deadline":              {context.DeadlineExceeded, false},
		"cancelled in the read": {&net.OpError{Op: "read", Err: context.Canceled}, false},
		"our mistake":           {errors.New("mistake"), false},
	} {
		got := translate(c.err)
		if fault.Is(got, fault.ServiceUnavailable) != c.unavailable {
			t.Errorf("%s: %v", name, got)
		}
		if !c.unavailable && !errors.Is(got, c.err) {
			t.Errorf("%s: the cause is lost in %v", name, got)
		}
	}
	// A fault is not changed, whatever it wraps.
	refused := fmt.Errorf("%w: %w", fault.New(fault.Conflict, "no"), io.EOF)
	if got := translate(refused); !fault.Is(got, fault.Conflict) {
		t.Errorf("a fault became %v", got)
	}
}
