package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

// sharedService is a server that several tests use at once, each with a platform of its own.
type sharedService struct {
	databaseURL  string
	db           *sql.DB // as the owner of the tables
	process      *kit.Process
	baseURL      string
	blobs        string
	dropDatabase func() error
}

var (
	shared       atomic.Pointer[sharedService] // nil before the first test that uses it
	startShared  = sync.OnceValues(startSharedService)
	lastOfShared atomic.Uint32 // number of the last environment on it
)

// newSharedEnv returns a new platform on the server that tests share, which has no options. Use it unless a test needs newTestEnv; its
// statements name rows of its platform. Its field server only has the address: a test that would stop the server fails.
func newSharedEnv(t testing.TB) *testEnv {
	t.Helper()
	s, err := startShared()
	if err != nil {
		t.Fatal(err)
	}
	n := lastOfShared.Add(1)
	h := &testEnv{t: t, databaseURL: s.databaseURL, db: s.db, server: &process{t: t, baseURL: s.baseURL, endedByTest: true},
		clientAddress: &net.TCPAddr{IP: net.IPv4(127, 1, byte(n>>8), byte(n))}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of the shared server:\n%s", s.process.Tail())
		}
	})
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	return h
}

func startSharedService() (*sharedService, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	s := &sharedService{}
	var err error
	if s.databaseURL, s.dropDatabase, err = pgtest.Create(ctx); err != nil {
		return nil, err
	}
	if s.blobs, err = os.MkdirTemp("", "causeway-e2e-blobs-"); err != nil {
		return nil, err
	}
	if s.db, err = sql.Open("pgx", s.databaseURL); err != nil {
		return nil, err
	}
	login, err := kit.CreateServiceLogin(ctx, s.databaseURL)
	if err != nil {
		return nil, err
	}
	env, args := serveCommand(login, s.blobs)
	if s.process, err = kit.Start(kit.Command{Program: binary, Args: args, Env: env, Dir: s.blobs}); err != nil {
		return nil, err
	}
	shared.Store(s)
	line, err := s.process.AwaitLogField(ctx, "address")
	if err != nil {
		return nil, err
	}
	s.baseURL, _ = line["address"].(string)
	return s, s.process.AwaitReady(ctx, (&process{baseURL: s.baseURL}).rootURL())
}

// stopSharedService stops the server, if one was started, checks the ledger, and drops the database unless that fails.
func stopSharedService() error {
	s := shared.Load()
	if s == nil {
		return nil
	}
	defer os.RemoveAll(s.blobs)
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	_, err := kit.MustSucceed(ctx, kit.Command{Program: binary, Args: []string{"ledger", "check"}, Env: []string{"DATABASE_URL=" + s.databaseURL}})
	if err := errors.Join(s.process.Stop(waitTimeout), err, s.db.Close()); err != nil {
		return fmt.Errorf("%w\nits database is %s", err, s.databaseURL)
	}
	return s.dropDatabase()
}
