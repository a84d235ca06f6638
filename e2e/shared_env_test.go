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

// sharedService is a database whose servers several tests use at once, each with a platform of its own.
type sharedService struct {
	databaseURL  string
	dropDatabase func() error
	db           *sql.DB // as the owner of the tables
	login        string  // URL of the service's login
	blobs        string
	processes    []*kit.Process
}

var (
	shared           atomic.Pointer[sharedService] // nil before the first test that uses it
	openShared       = sync.OnceValues(openSharedService)
	firstShared      = sync.OnceValues(startSharedServer)
	secondShared     = sync.OnceValues(startSharedServer)
	lastSharedNumber atomic.Uint32 // of the last environment
)

// newSharedEnv returns a new platform on the server that tests share, which has no options. Use it unless a test needs newTestEnv; its
// statements name rows of its platform. Its field server only has the address: a test that would stop the server fails.
func newSharedEnv(t testing.TB) *testEnv {
	t.Helper()
	server := sharedServer(t, firstShared)
	s, n := shared.Load(), lastSharedNumber.Add(1)
	h := &testEnv{t: t, databaseURL: s.databaseURL, db: s.db, server: server,
		clientAddress: &net.TCPAddr{IP: net.IPv4(127, 1, byte(n>>8), byte(n))}}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, p := range s.processes {
			t.Logf("the log of a shared server:\n%s", p.Tail())
		}
	})
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	return h
}

// secondServer returns the second server of newSharedEnv.
func secondServer(t testing.TB) *process {
	t.Helper()
	return sharedServer(t, secondShared)
}

func sharedServer(t testing.TB, start func() (baseURL string, err error)) *process {
	t.Helper()
	baseURL, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return &process{t: t, baseURL: baseURL}
}

func openSharedService() (*sharedService, error) {
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
	shared.Store(s)
	s.login, err = kit.CreateServiceLogin(ctx, s.databaseURL)
	return s, err
}

func startSharedServer() (baseURL string, err error) {
	s, err := openShared()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	env, args := serveCommand(s.login, s.blobs)
	p, err := kit.Start(kit.Command{Program: binary, Args: args, Env: env, Dir: s.blobs})
	if err != nil {
		return "", err
	}
	s.processes = append(s.processes, p)
	line, err := p.AwaitLogField(ctx, "address")
	if err != nil {
		return "", err
	}
	server := &process{baseURL: line["address"].(string)}
	return server.baseURL, p.AwaitReady(ctx, server.rootURL())
}

// closeSharedService stops the servers, if there are any, checks the ledger, and drops the database unless one of these fails.
func closeSharedService() error {
	s := shared.Load()
	if s == nil {
		return nil
	}
	defer os.RemoveAll(s.blobs)
	var errs []error
	for _, p := range s.processes {
		errs = append(errs, p.Stop(waitTimeout))
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	_, err := kit.MustSucceed(ctx, kit.Command{Program: binary, Args: []string{"ledger", "check"},
		Env: []string{"DATABASE_URL=" + s.databaseURL}})
	if err := errors.Join(append(errs, err, s.db.Close())...); err != nil {
		return fmt.Errorf("the service that tests share, with the database %s: %w", s.databaseURL, err)
	}
	return s.dropDatabase()
}
