package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/e2e/kit"
	"causeway/ledger"
	"causeway/ports"
)

// benchEnv is what runs during the measurement: a private Postgres with the settings of
// causeway dev, the service, and the platform's webhook endpoint.
type benchEnv struct {
	folder       string // removed at the end
	binary       string
	postgres     *pgembed.Server
	service      *service
	pprofAddress string // of the service's profiles, if they are wanted
	target       target
	receiver     *receiver
	meter        *meter
	stops        []func() error // what stop calls, in reverse order
}

// service is causeway serve on a database of its own.
type service struct {
	binary, databaseURL, address string
	settings                     []string
	process                      *kit.Process // nil until start
}

// stopTimeout is how long the service may take to stop.
const stopTimeout = 15 * time.Second

// newService migrates a database. The settings are the defaults of the service without the
// rate limit, which would measure itself, and extra ones.
func newService(ctx context.Context, binary, databaseURL string, extra ...string) (*service, error) {
	address, err := kit.FreeAddress()
	if err != nil {
		return nil, err
	}
	s := &service{binary: binary, databaseURL: databaseURL, address: address, settings: append(extra, "CAUSEWAY_LISTEN="+address,
		"CAUSEWAY_MASTER_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)), "CAUSEWAY_RATE_LIMIT=1000000", "CAUSEWAY_RATE_BURST=1000000", "CAUSEWAY_ALLOW_PRIVATE_WEBHOOKS=true")}
	if _, err = s.command(ctx, "migrate"); err != nil {
		return nil, err
	}
	serviceURL, err := kit.CreateServiceLogin(ctx, databaseURL)
	s.settings = append(s.settings, "DATABASE_URL="+serviceURL)
	return s, err
}

// command runs a command of the program on the database.
func (s *service) command(ctx context.Context, args ...string) (kit.Result, error) {
	return kit.MustSucceed(ctx, kit.Command{Program: s.binary, Args: args, Env: []string{"DATABASE_URL=" + s.databaseURL}})
}

// start starts the service, or starts it again.
func (s *service) start(ctx context.Context) (err error) {
	if err := s.stop(); err != nil {
		return err
	}
	if s.process, err = kit.Start(kit.Command{Program: s.binary, Args: []string{"serve"}, Env: s.settings}); err != nil {
		return err
	}
	return s.process.AwaitReady(ctx, "http://"+s.address)
}

func (s *service) stop() error {
	if s.process == nil {
		return nil
	}
	process := s.process
	s.process = nil
	return process.Stop(stopTimeout)
}

// lastOutput returns the end of the service's log.
func (s *service) lastOutput() string {
	if s == nil || s.process == nil {
		return "the service does not run"
	}
	return s.process.Tail()
}

// tenant is a platform and its way to the service.
type tenant struct {
	id ident.Platform
	target
}

func (s *service) createPlatform(ctx context.Context) (t tenant, err error) {
	created, err := kit.CreatePlatform(ctx, s.binary, s.databaseURL, "Bench", "SANDBOX")
	if err != nil {
		return t, err
	}
	t.target = newTarget(s.address, created.ClientID, created.ClientSecret)
	t.id, err = ident.ParsePlatform(created.PlatformID)
	return t, err
}

// awaitSealed returns the key of the log when all postings are sealed, and published if
// checkpoints are.
func (t tenant) awaitSealed(ctx context.Context, publishing bool) (verifierKey string, err error) {
	for {
		var log struct {
			Postings, Sealed, Published int64
			Keys                        []struct{ VerifierKey string }
		}
		err := t.api.Call(ctx, "GET", "/ledger/log", nil, &log)
		if err == nil && log.Sealed == log.Postings && (log.Published == log.Sealed || !publishing) && len(log.Keys) > 0 {
			return log.Keys[0].VerifierKey, nil
		}
		if err := errors.Join(err, sleep(ctx, 20*time.Millisecond)); err != nil {
			return "", err
		}
	}
}

// start starts everything. The caller calls stop, also after an error.
func (e *benchEnv) start(ctx context.Context, profiling bool) (idleMemory byteSize, err error) {
	var postgresSettings map[string]string
	var serviceSettings []string
	if profiling {
		postgresSettings = profilingSettings
		if e.pprofAddress, err = kit.FreeAddress(); err != nil {
			return 0, err
		}
		serviceSettings = []string{"CAUSEWAY_PPROF=" + e.pprofAddress}
	}
	if e.receiver, err = startReceiver(); err != nil {
		return 0, err
	}
	e.stops = append(e.stops, func() error { e.receiver.close(); return nil })
	if e.postgres, err = pgembed.Start(ctx, pgembed.Options{Dir: filepath.Join(e.folder, "data"), Settings: postgresSettings}); err != nil {
		return 0, err
	}
	e.stops = append(e.stops, e.stopPostgres)
	if e.service, err = newService(ctx, e.binary, e.postgres.URL(), serviceSettings...); err != nil {
		return 0, err
	}
	platform, err := e.service.createPlatform(ctx)
	if err != nil {
		return 0, err
	}
	e.target = platform.target
	e.stops = append(e.stops, e.service.stop)
	if err := e.service.start(ctx); err != nil {
		return 0, err
	}
	if e.meter, err = newMeter(ctx, e.postgres.SuperuserURL(), e.postgres.URL(), e.service.process.PID()); err != nil {
		return 0, err
	}
	e.stops = append(e.stops, func() error { e.meter.close(); return nil })
	if err := sleep(ctx, 3*time.Second); err != nil {
		return 0, err
	}
	memory, err := kit.Memory(e.service.process.PID(), "VmRSS")
	return byteSize(memory), err
}

func (e *benchEnv) stopPostgres() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return e.postgres.Stop(ctx)
}

// stop stops everything that was started, and removes the folder.
func (e *benchEnv) stop() error {
	var errs []error
	for _, stop := range slices.Backward(e.stops) {
		errs = append(errs, stop())
	}
	return errors.Join(append(errs, os.RemoveAll(e.folder))...)
}

// createDatabase creates a database beside the service's, with the same owner.
func (e *benchEnv) createDatabase(ctx context.Context, name string) (string, error) {
	address, err := url.Parse(e.postgres.URL())
	if err != nil {
		return "", err
	}
	owner := pgx.Identifier{address.User.Username()}.Sanitize()
	address.Path = "/" + name
	return address.String(), e.meter.exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+owner)
}

// ledgerService is a service on a database of its own, whose ledger is also written directly.
type ledgerService struct {
	*service
	store *postgres.DB
	ids   *ids.Generator
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// newLedgerService creates a database with a service, which is not started yet. It seals when
// it starts, and not during other measurements.
func (b *bench) newLedgerService(ctx context.Context, name string, connections int32, settings ...string) (*ledgerService, error) {
	database, err := b.env.createDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	s := &ledgerService{ids: ids.New()}
	if s.service, err = newService(ctx, b.binary, database, append(settings, "CAUSEWAY_SEAL_EVERY=1h")...); err != nil {
		return nil, err
	}
	s.store, err = postgres.Open(ctx, postgres.Options{URL: database, MaxConnections: connections, Clock: wallClock{}, IDs: s.ids})
	return s, err
}

// commit writes postings in one commit.
func (s *ledgerService) commit(ctx context.Context, postings []ledger.Posting) error {
	return s.store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings) })
}

// maxSetupConnections is how many connections customers are created over.
const maxSetupConnections = 16

// create makes a resource and returns its id.
func (t target) create(ctx context.Context, path string, body any) (id string, err error) {
	var created struct{ ID string }
	err = t.api.Call(ctx, "POST", path, body, &created)
	return created.ID, err
}

// createCustomers sets the platform's webhook endpoint and creates customers, each with a
// bitcoin wallet.
func (e *benchEnv) createCustomers(ctx context.Context, count int) ([]customer, error) {
	if err := e.target.api.Call(ctx, "PATCH", "/config", kit.Object{"webhookEndpoint": e.receiver.url()}, nil); err != nil {
		return nil, err
	}
	customers := make([]customer, count)
	return customers, forEach(ctx, count, func(ctx context.Context, i int) error {
		id, err := e.target.create(ctx, "/customers", kit.CustomerBody())
		if err != nil {
			return err
		}
		wallet, err := e.target.create(ctx, "/customers/external-accounts", kit.WalletBody(id, ""))
		customers[i] = newCustomer(id, wallet)
		return err
	})
}

// forEach calls do n times, over several connections.
func forEach(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxSetupConnections)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// fundingAmount is what each account is funded with, in cents: the maximum of a simulated
// deposit, and more than any run pays out.
const fundingAmount = 100_000_000_000

// fundCustomers gives each customer a bank account, and money in its account in dollars.
func (e *benchEnv) fundCustomers(ctx context.Context, customers []customer) error {
	accounts, err := e.target.usdAccounts(ctx)
	if err != nil {
		return err
	}
	return forEach(ctx, len(customers), func(ctx context.Context, i int) error {
		owner := &customers[i]
		bank, err := e.target.create(ctx, "/customers/external-accounts", kit.USAccountBody(owner.id, "555"))
		if err != nil {
			return err
		}
		owner.fundedAccount = newFundedAccount(*owner, accounts[owner.id].ID, bank)
		owner.deposited.Add(fundingAmount)
		return e.target.fund(ctx, owner.accountID, fundingAmount)
	})
}

func (t target) fund(ctx context.Context, accountID string, cents int64) error {
	return t.api.Call(ctx, "POST", "/sandbox/internal-accounts/"+accountID+"/fund", kit.Object{"amount": cents}, nil)
}

// internalAccount is an internal account as the service lists it.
type internalAccount struct {
	ID, CustomerID string
	Balance        struct{ Amount int64 }
}

// usdAccounts returns the accounts in dollars by customer.
func (t target) usdAccounts(ctx context.Context) (map[string]internalAccount, error) {
	accounts := map[string]internalAccount{}
	for cursor := ""; ; {
		var page struct {
			Data       []internalAccount
			NextCursor string
		}
		if err := t.api.Call(ctx, "GET", "/customers/internal-accounts?currency=USD&limit=100"+cursor, nil, &page); err != nil {
			return nil, err
		}
		for _, account := range page.Data {
			accounts[account.CustomerID] = account
		}
		if page.NextCursor == "" {
			return accounts, nil
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// addStart measures how long causeway dev takes to start twice on one new folder.
func (b *bench) addStart(ctx context.Context) error {
	logf("starting the service twice on a new folder")
	var slowestStop time.Duration
	names := [2]string{"First start of `causeway dev`, until ready", "Second start, until ready"}
	for i, limit := range []time.Duration{10 * time.Second, 3 * time.Second} {
		address, err := kit.FreeAddress()
		if err != nil {
			return err
		}
		began := time.Now()
		dev, err := kit.Start(kit.Command{Program: b.binary, Args: []string{"dev", "--no-demo", "--listen", address, "--data", filepath.Join(b.env.folder, "dev")}})
		if err != nil {
			return err
		}
		err = dev.AwaitReady(ctx, "http://"+address)
		took, stopping := time.Since(began), time.Now()
		if err := errors.Join(err, dev.Stop(stopTimeout)); err != nil {
			return fmt.Errorf("start causeway dev: %w", err)
		}
		slowestStop = max(slowestStop, time.Since(stopping))
		b.report.add(memoryAndStart, names[i], took, goal("under "+limit.String(), took < limit))
	}
	b.report.add(memoryAndStart, "Stop, Postgres included", slowestStop)
	return nil
}

// sleep waits for a duration, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
