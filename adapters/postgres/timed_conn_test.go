package postgres

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

func TestTimedConn_SilenceEndsReadsAndWrites(t *testing.T) {
	t.Parallel()
	// The other side neither sends nor reads: both calls end after the limit, and again after the
	// driver has removed its own deadline.
	near, far := net.Pipe()
	t.Cleanup(func() { _ = errors.Join(near.Close(), far.Close()) })
	conn := &timedConn{Conn: near, host: &databaseHost{}, maxSilence: 10 * time.Millisecond}
	for range 2 {
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
		if _, err := conn.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %v", err)
		}
		if err := conn.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTimedConn_EarlierDeadlineOfDriverHolds(t *testing.T) {
	t.Parallel()
	// A deadline that the driver has set, because a context ended, is not extended.
	for name, set := range map[string]func(*timedConn) error{
		"both": func(c *timedConn) error { return c.SetDeadline(time.Unix(1, 0)) },
		"each": func(c *timedConn) error {
			return errors.Join(c.SetReadDeadline(time.Unix(1, 0)), c.SetWriteDeadline(time.Unix(1, 0)))
		},
	} {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = errors.Join(near.Close(), far.Close()) })
		conn := &timedConn{Conn: near, host: &databaseHost{}, maxSilence: time.Hour}
		if err := set(conn); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: read: %v", name, err)
		}
		if _, err := conn.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: write: %v", name, err)
		}
	}
}
