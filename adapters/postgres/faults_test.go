package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/fault"
	"causeway/ports"
)

func TestTranslate_OutageIsTemporary(t *testing.T) {
	t.Parallel()
	// An error of the connection or of the state of the server becomes 503, with its cause for the
	// log; one that every statement would meet is also an outage of the store. An error of a statement,
	// and the end of a context, stay what they are.
	_, refused := pgconn.Connect(t.Context(), "postgres://127.0.0.1:1/causeway?sslmode=disable")
	for name, c := range map[string]struct {
		err                 error
		unavailable, outage bool
	}{
		"no connection":         {refused, true, true},
		"closed":                {fmt.Errorf("read: %w", &connError{io.ErrUnexpectedEOF}), true, false},
		"silent":                {&connError{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}}, true, false},
		"bad connection":        {driver.ErrBadConn, true, false},
		"shutting down":         {&pgconn.PgError{Code: "57P01"}, true, false},
		"starting":              {&pgconn.PgError{Code: "57P03"}, true, true},
		"statement timeout":     {&pgconn.PgError{Code: "57014"}, true, false},
		"disk full":             {&pgconn.PgError{Code: "53100"}, true, true},
		"out of connections":    {&pgconn.PgError{Code: "53300"}, true, true},
		"standby":               {&pgconn.PgError{Code: "25006"}, true, true},
		"locked":                {&pgconn.PgError{Code: "55P03"}, true, false},
		"clock":                 {&pgconn.PgError{Code: "CW001"}, true, false},
		"syntax":                {&pgconn.PgError{Code: "42601"}, false, false},
		"unique":                {&pgconn.PgError{Code: "23505"}, false, false},
		"deadline":              {context.DeadlineExceeded, false, false},
		"cancelled in the read": {&connError{&net.OpError{Op: "read", Err: context.Canceled}}, false, false},
		"full disk of a bank":   {&fs.PathError{Op: "write", Path: "/bank/out/x", Err: syscall.ENOSPC}, false, false},
		"a partner is down":     {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, false, false},
		"end of a file":         {fmt.Errorf("read in/camt.xml: %w", io.ErrUnexpectedEOF), false, false},
		"our mistake":           {errors.New("mistake"), false, false},
	} {
		got := translate(c.err)
		if fault.Is(got, fault.ServiceUnavailable) != c.unavailable || errors.Is(got, ports.ErrStoreUnavailable) != c.outage {
			t.Errorf("%s: %v", name, got)
		}
		if !c.unavailable && !errors.Is(got, c.err) {
			t.Errorf("%s: the cause is lost in %v", name, got)
		}
	}
	// A fault is not changed, whatever it wraps.
	conflict := fmt.Errorf("%w: %w", fault.New(fault.Conflict, "no"), io.EOF)
	if got := translate(conflict); !fault.Is(got, fault.Conflict) {
		t.Errorf("a fault became %v", got)
	}
}
