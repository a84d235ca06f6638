package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/apiclient"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/e2e/kit"
	"causeway/ledger"
	"causeway/ports"
)

// basePath is the version of the interface that the benchmark uses.
const basePath = "/2025-10-13"

// stopTimeout is how long a program may take to stop.
const stopTimeout = 15 * time.Second

// service is causeway serve on a database of its own.
type service struct {
	binary, databaseURL, address string
	settings                     []string
	process                      *kit.Process // nil until start
}

// newService migrates a database, whose owner the URL names. The settings are the defaults of the service
// without the rate limit, which would measure itself, and extra ones. Webhooks are received on loopback.
func newService(ctx context.Context, binary, databaseURL string, extra ...string) *service {
	s := &service{binary: binary, databaseURL: databaseURL, address: must(kit.FreeAddress())}
	s.command(ctx, "migrate")
	serviceURL := must(kit.CreateServiceLogin(ctx, databaseURL))
	masterKey := base64.StdEncoding.EncodeToString(make([]byte, 32))
	s.settings = append(extra, "DATABASE_URL="+serviceURL, "CAUSEWAY_LISTEN="+s.address, "CAUSEWAY_MASTER_KEY="+masterKey,
		"CAUSEWAY_RATE_LIMIT=1000000", "CAUSEWAY_RATE_BURST=1000000", "CAUSEWAY_ALLOW_PRIVATE_WEBHOOKS=true")
	return s
}

// command runs a command of the program on the database.
func (s *service) command(ctx context.Context, args ...string) kit.Result {
	command := kit.Command{Program: s.binary, Args: args, Env: []string{"DATABASE_URL=" + s.databaseURL}}
	return must(kit.MustSucceed(ctx, command))
}

// start starts the service, or starts it again.
func (s *service) start(ctx context.Context) {
	check(s.stop())
	s.process = must(kit.Start(kit.Command{Program: s.binary, Args: []string{"serve"}, Env: s.settings}))
	check(s.process.AwaitReady(ctx, "http://"+s.address))
}

func (s *service) stop() error {
	if s.process == nil {
		return nil
	}
	process := s.process
	s.process = nil
	return process.Stop(stopTimeout)
}

// whileRunning does what needs the service, and stops it. An error has the end of its log.
func (s *service) whileRunning(do func()) {
	err := try(do)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, s.lastOutput())
	}
	check(err, s.stop())
}

// lastOutput returns the end of the service's log.
func (s *service) lastOutput() string {
	if s == nil || s.process == nil {
		return "the service does not run"
	}
	return s.process.Tail()
}

// platform is a platform of a service, and its client.
type platform struct {
	*apiclient.Client
	id ident.Platform
}

func (s *service) createPlatform(ctx context.Context) platform {
	created := must(kit.CreatePlatform(ctx, s.binary, s.databaseURL, "Bench", "SANDBOX"))
	client := newClient(s.address, created.ClientID, created.ClientSecret)
	return platform{client, must(ident.ParsePlatform(created.PlatformID))}
}

// call makes a request that must succeed.
func (p platform) call(ctx context.Context, method, path string, body, result any) {
	check(p.Call(ctx, method, path, body, result))
}

// get makes a request that must succeed, and returns the response.
func (p platform) get(ctx context.Context, path string) *apiclient.Response {
	response := must(p.Do(ctx, apiclient.Request{Method: "GET", Path: path}))
	check(response.Err("GET", path))
	return response
}

// awaitSealed returns the key of the log when all postings are sealed, and published if
// checkpoints are.
func (p platform) awaitSealed(ctx context.Context, publishing bool) (verifierKey string) {
	for {
		var log struct {
			Postings, Sealed, Published int64
			Keys                        []struct{ VerifierKey string }
		}
		p.call(ctx, "GET", "/ledger/log", nil, &log)
		if log.Sealed == log.Postings && (log.Published == log.Sealed || !publishing) && len(log.Keys) > 0 {
			return log.Keys[0].VerifierKey
		}
		check(sleep(ctx, 20*time.Millisecond))
	}
}

// createDatabase creates a database beside the service's, with the same owner.
func (b *bench) createDatabase(ctx context.Context, name string) (databaseURL string) {
	address := must(url.Parse(b.postgres.URL()))
	owner := pgx.Identifier{address.User.Username()}.Sanitize()
	b.meter.exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+owner)
	address.Path = "/" + name
	return address.String()
}

// ledgerService is a service on a database of its own, whose ledger is also written directly.
type ledgerService struct {
	*service
	store *postgres.DB
	ids   *ids.Generator
}

// newLedgerService creates a database with a service, which is not started yet. It seals when
// it starts, and not during other measurements.
func (b *bench) newLedgerService(ctx context.Context, name string, connections int32, settings ...string) ledgerService {
	database := b.createDatabase(ctx, name)
	s := ledgerService{ids: ids.New()}
	s.service = newService(ctx, b.binary, database, append(settings, "CAUSEWAY_SEAL_EVERY=1h")...)
	options := postgres.Options{URL: database, AllPlatforms: true, MaxConnections: connections, Clock: wallClock{}, IDs: s.ids}
	s.store = must(postgres.Open(ctx, options))
	return s
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// commit writes postings in one commit.
func (s ledgerService) commit(ctx context.Context, postings []ledger.Posting) {
	check(s.store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings) }))
}
