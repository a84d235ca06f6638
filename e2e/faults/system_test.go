package faults

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"causeway/adapters/apiclient"
	"causeway/e2e/kit"
)

// basePath is the version of the interface.
const basePath = "/2025-10-13"

// recoveryTimeout is the limit for everything that must go on after a fault.
const recoveryTimeout = 3 * time.Minute

// system is a database and the processes of the service on it.
type system struct {
	t         *testing.T
	dataDir   string // of the servers
	postgres  *kit.Postgres
	standby   *kit.Postgres      // nil unless the scenario has one
	proxy     *kit.DatabaseProxy // nil unless the scenario has one
	processes []*process
	db        *sql.DB // as the owner of the tables, with other servers after a failover
	ownerURL  string
	platform  kit.Credentials
	umaDomain string // of the platform
	// checkpoints is the folder that the processes publish checkpoints to; empty for none.
	checkpoints string
	client      *apiclient.Client // of the first process
	receiver    *receiver
}

// process is one process of the service. Its address stays the same when it is started again.
type process struct {
	t       *testing.T
	address string
	env     []string
	running *kit.Process
}

// binary is the program under test, built once for all tests.
var binary string

// template is a stopped server with a migrated database, which each scenario copies.
var template *kit.Postgres

func TestMain(m *testing.M) {
	status, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func runTests(m *testing.M) (int, error) {
	path, remove, err := kit.Prepare()
	if err != nil {
		return 0, err
	}
	defer remove()
	binary = path
	dir, err := kit.PostgresFolder()
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if template, err = createTemplate(filepath.Join(dir, "template")); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

func createTemplate(dir string) (*kit.Postgres, error) {
	ctx, cancel := context.WithTimeout(context.Background(), recoveryTimeout)
	defer cancel()
	server, err := kit.CreatePostgres(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	if _, err := kit.MustSucceed(ctx, kit.Command{Program: binary, Args: []string{"migrate"},
		Env: []string{"DATABASE_URL=" + server.URL()}}); err != nil {
		return nil, err
	}
	if _, err := kit.CreateServiceLogin(ctx, server.URL()); err != nil {
		return nil, err
	}
	return server, server.Stop(recoveryTimeout)
}

// waitContext ends with the test or after recoveryTimeout.
func waitContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), recoveryTimeout)
	t.Cleanup(cancel)
	return ctx
}

// newSystem starts what a scenario needs, with a platform whose webhooks are received.
func newSystem(t *testing.T, c scenario) *system {
	t.Helper()
	s := openSystem(t, c)
	serviceURL := s.startProxy(c)
	for range max(1, c.processes) {
		s.addProcess(serviceURL)
	}
	s.createSandbox()
	return s
}

// createSandbox creates the platform of the load, whose webhooks are received.
func (s *system) createSandbox() {
	s.t.Helper()
	s.createPlatform("SANDBOX")
	s.umaDomain = s.mustCall(http.MethodGet, "/config", nil, http.StatusOK).text("umaDomain")
	s.receiver = startReceiver(s)
}

// openSystem starts the database of a scenario.
func openSystem(t *testing.T, c scenario) *system {
	t.Helper()
	s := &system{t: t}
	dir, err := kit.PostgresFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.dataDir = dir
	if c.prepareDisk != nil {
		c.prepareDisk(t, dir)
	}
	s.startDatabase(c)
	if c.prepareDatabase != nil {
		c.prepareDatabase(s)
	}
	if s.db, err = sql.Open("pgx", s.ownerURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

// createPlatform creates the platform of the client.
func (s *system) createPlatform(environment string) {
	s.t.Helper()
	var err error
	if s.platform, err = kit.CreatePlatform(waitContext(s.t), binary, s.ownerURL, s.t.Name(), environment, "--regulated"); err != nil {
		s.t.Fatal(err)
	}
	s.client = s.clientOf(s.processes[0])
}

func (s *system) startDatabase(c scenario) {
	s.t.Helper()
	settings := append([]string{"shared_buffers=64MB", "max_connections=80"}, c.settings...)
	var err error
	if s.postgres, err = kit.CopyPostgres(waitContext(s.t), template, filepath.Join(s.dataDir, "postgres"), settings...); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { s.postgres.Kill() })
	s.ownerURL = s.postgres.URL()
	if !c.standby {
		return
	}
	if s.standby, err = s.postgres.NewStandby(waitContext(s.t), filepath.Join(s.dataDir, "standby"), standbyName); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.standby.Kill)
	s.ownerURL = kit.FailoverURL(s.postgres, s.standby)
}

// startProxy returns the URL for the service, through a proxy if the scenario has one.
func (s *system) startProxy(c scenario) string {
	s.t.Helper()
	url, err := kit.CreateServiceLogin(waitContext(s.t), s.ownerURL)
	if err != nil {
		s.t.Fatal(err)
	}
	if !c.proxy {
		return url
	}
	if s.proxy, err = kit.NewDatabaseProxy(url); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.proxy.Close)
	return s.proxy.URL()
}

// environment has the settings of a process or command.
func environment(databaseURL string) []string {
	return []string{"DATABASE_URL=" + databaseURL, "CAUSEWAY_MASTER_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
}

func (s *system) addProcess(databaseURL string) {
	s.t.Helper()
	address, err := kit.FreeAddress()
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{t: s.t, address: address, env: environment(databaseURL)}
	if s.checkpoints != "" {
		p.env = append(p.env, "CAUSEWAY_CHECKPOINTS="+s.checkpoints)
	}
	p.start()
	s.t.Cleanup(p.stop)
	s.processes = append(s.processes, p)
}

// start starts the process, and returns when it is ready.
func (p *process) start() {
	p.t.Helper()
	var err error
	if p.running, err = kit.Start(kit.Command{Program: binary, Env: p.env, Dir: p.t.TempDir(), Args: []string{"serve", "--listen", p.address,
		"--public-url", "http://" + p.address, "--admin-listen", "127.0.0.1:0",
		"--sandbox-speed", "1000", "--connections", "8", "--request-timeout", "5s", "--batch-timeout", "4s", "--seal-every", "1s",
		"--rate-limit", "100000", "--rate-burst", "100000", "--sandbox-uma-domain", umaDomain, "--allow-private-webhooks", "--log-format",
		"json"}}); err != nil {
		p.t.Fatal(err)
	}
	if err := p.running.AwaitReady(waitContext(p.t), "http://"+p.address); err != nil {
		p.t.Fatal(err)
	}
}

// restart kills the process and starts it again.
func (p *process) restart() {
	p.t.Helper()
	p.running.Kill()
	p.start()
}

// stop stops the process at the end of the test: cleanly, whatever has happened to it.
func (p *process) stop() {
	if err := p.running.Stop(recoveryTimeout); err != nil {
		p.t.Error(err)
	}
	if p.t.Failed() {
		p.t.Logf("the log of the process on %s:\n%s", p.address, p.running.Tail())
	}
}

// transport is shared by the clients of all processes, so that few connections are opened.
var transport = sync.OnceValue(func() http.RoundTripper {
	shared := http.DefaultTransport.(*http.Transport).Clone()
	shared.MaxIdleConnsPerHost = 32
	return shared
})

// clientOf returns a client of the platform for a process.
func (s *system) clientOf(p *process) *apiclient.Client {
	return &apiclient.Client{BaseURL: "http://" + p.address + basePath, ClientID: s.platform.ClientID, ClientSecret: s.platform.ClientSecret,
		HTTP: &http.Client{Transport: transport(), Timeout: 15 * time.Second}}
}

// queryInt returns a number from the database.
func (s *system) queryInt(query string, args ...any) (n int64) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), recoveryTimeout)
	defer cancel()
	if err := s.db.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// eventually polls for a condition that no signal reports.
func (s *system) eventually(what func() string, holds func() bool) {
	s.t.Helper()
	ctx := waitContext(s.t)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("not within %s: %s", recoveryTimeout, what())
		}
	}
}
