package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	"causeway/ports/portstest"
)

func TestOpen_ReportsMayReadInSilence(t *testing.T) {
	t.Parallel()
	// What reads for reports alone waits for each row as long as its statement may run, from the primary and from a standby. Lists and
	// reports of a server do not.
	url := pgtest.New(t)
	for name, c := range map[string]struct {
		readURL    string
		forReports bool
		want       time.Duration
	}{"primary": {"", false, maxReadSilence}, "standby": {url, false, maxReadSilence}, "reports of a primary": {"", true, 0},
		"reports of a standby": {url, true, 0}} {
		db, err := Open(t.Context(), Options{URL: url, ReadURL: c.readURL, ForReports: c.forReports, MaxConnections: 2, MaxReadConnections: 2,
			Clock: portstest.NewFakeClock(time.Now())})
		if err != nil {
			t.Fatal(err)
		}
		err = db.ReadPool().AcquireFunc(t.Context(), func(conn *pgxpool.Conn) error {
			if got := conn.Conn().PgConn().Conn().(markedConn).Conn.(*timedConn).maxSilence; got != c.want {
				t.Errorf("%s: a connection may be silent for %s, want %s", name, got, c.want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		db.Close()
	}
}
