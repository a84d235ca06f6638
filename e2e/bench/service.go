package main

import (
	"context"
	"encoding/base64"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"causeway/adapters/apiclient"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/e2e/kit"
	"causeway/ledger"
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

	store *postgres.DB // nil unless its ledger is also written directly
	ids   *ids.Generator
}

// newService migrates a database, whose owner the URL names. The settings are the defaults of the service
// without the rate limit, which would measure itself, and extra ones. Webhooks are received on loopback.
func (b *bench) newService(ctx context.Context, databaseURL string, extra ...string) *service {
	s := &service{binary: b.binary, databaseURL: databaseURL, address: must(kit.FreeAddress())}
	s.command(ctx, "migrate")
	serviceURL := must(kit.CreateServiceLogin(ctx, databaseURL))
	masterKey := base64.StdEncoding.EncodeToString(make([]byte, 32))
	s.settings = append(extra, "DATABASE_URL="+serviceURL, "CAUSEWAY_LISTEN="+s.address, "CAUSEWAY_MASTER_KEY="+masterKey,
		"CAUSEWAY_RATE_LIMIT=1000000", "CAUSEWAY_RATE_BURST=1000000", "CAUSEWAY_ALLOW_PRIVATE_WEBHOOKS=true")
	b.services = append(b.services, s)
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
	return s.process.Stop(stopTimeout)
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

// get makes a request that must succeed, and returns the response.
func (p platform) get(ctx context.Context, path string) *apiclient.Response {
	return p.do(ctx, apiclient.Request{Method: "GET", Path: path})
}

func (p platform) do(ctx context.Context, r apiclient.Request) *apiclient.Response {
	response := must(p.Do(ctx, r))
	check(response.Err(r.Method, r.Path))
	return response
}

// awaitSealed returns the key of the log when all postings are sealed and published.
func (p platform) awaitSealed(ctx context.Context) (verifierKey string) {
	for {
		var log struct {
			Postings, Sealed, Published int64
			Keys                        []struct{ VerifierKey string }
		}
		check(p.Call(ctx, "GET", "/ledger/log", nil, &log))
		if log.Sealed == log.Postings && log.Published == log.Sealed && len(log.Keys) > 0 {
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

// newLedgerService creates a database with a service, which is not started yet, and whose ledger is
// also written directly. It seals when it starts, and not during other measurements.
func (b *bench) newLedgerService(ctx context.Context, name string, connections int32) *service {
	checkpoints := "CAUSEWAY_CHECKPOINTS=" + filepath.Join(b.folder, name)
	s := b.newService(ctx, b.createDatabase(ctx, name), "CAUSEWAY_SEAL_EVERY=1h", checkpoints)
	s.ids = ids.New()
	s.store = must(postgres.Open(ctx, postgres.Options{URL: s.databaseURL, AllPlatforms: true,
		MaxConnections: connections, Clock: wallClock{}, IDs: s.ids}))
	b.stops = append(b.stops, func() error { s.store.Close(); return nil })
	return s
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// commit writes postings in one commit.
func (s *service) commit(ctx context.Context, postings []ledger.Posting) {
	check(s.store.Do(ctx, func(ctx context.Context, tx *postgres.Unit) error { return tx.Post(ctx, postings) }))
}

// customer is a customer with a bitcoin wallet, and if payments need one an account with money.
type customer struct {
	id, walletID string
	platform     caller

	accountID, bankID string       // its account in dollars here, and its bank account
	netMoved          atomic.Int64 // cents, by payouts and transfers

	embeddedID string       // its account in USDB, an embedded wallet
	walletPaid atomic.Int64 // millionths of a USDB, by payouts

	agentID string // its agent, if payments need one
	agent   caller
}

// fundingAmount is what each account is funded with, in cents: the maximum of a simulated
// deposit, and more than any run pays out.
const fundingAmount = 100_000_000_000

const maxSetupConnections = 16

// The paths of webhooks: those of the platform, and those of which none is kept.
const sampledPath, unsampledPath = "/webhooks", "/unsampled"

// receiveWebhooks sets a platform's webhook endpoint and returns the secret that signs them.
func (b *bench) receiveWebhooks(ctx context.Context, p platform, path string) (secret string) {
	var created struct{ Secret string }
	check(p.Call(ctx, "POST", "/webhook-secrets", nil, &created))
	endpoint := "http://" + b.receiver.listener.Addr().String() + path
	check(p.Call(ctx, "PATCH", "/config", kit.Object{"webhookEndpoint": endpoint}, nil))
	return created.Secret
}

// createCustomersOf creates customers of a platform, each with a wallet.
func (b *bench) createCustomersOf(ctx context.Context, p platform, n int) []*customer {
	logf("creating %d customers", n)
	customers := make([]*customer, n)
	forEach(ctx, n, func(ctx context.Context, i int) {
		c := &customer{platform: callerOf(p.Client), id: p.create(ctx, "/customers", kit.CustomerBody())}
		c.walletID = p.create(ctx, "/customers/external-accounts", kit.WalletBody(c.id, ""))
		customers[i] = c
	})
	return customers
}

// createCustomers sets the platform's webhook endpoint and creates its customers. If payments need it, each gets a bank account and
// money in its account in dollars, and an agent.
func (b *bench) createCustomers(ctx context.Context) {
	p := b.platform
	b.webhookSecret = b.receiveWebhooks(ctx, p, sampledPath)
	b.customers = b.createCustomersOf(ctx, p, b.customerCount)
	if !b.needsFundedAccounts() {
		return
	}
	b.done[deposits] = int64(b.customerCount)
	if b.includes("wallets") {
		b.done[deposits] *= 2
	}
	forEach(ctx, b.customerCount, func(ctx context.Context, i int) {
		c := b.customers[i]
		c.bankID = p.create(ctx, "/customers/external-accounts", kit.USAccountBody(c.id, "555"))
		c.accountID, _ = p.account(ctx, c.id, money.USD)
		p.fund(ctx, c.accountID, fundingAmount)
		if b.includes("wallets") {
			c.embeddedID, _ = p.account(ctx, c.id, money.USDB)
			p.fund(ctx, c.embeddedID, fundingAmount)
		}
		if b.needsAgents() {
			b.createAgent(ctx, c, i)
		}
	})
}

// forEach calls do n times, over several connections.
func forEach(ctx context.Context, n int, do func(ctx context.Context, i int)) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxSetupConnections)
	for i := range n {
		group.Go(func() error { return try(func() { do(ctx, i) }) })
	}
	check(group.Wait())
}

// create makes a resource and returns its id.
func (p platform) create(ctx context.Context, path string, body any) string {
	var created struct{ ID string }
	check(p.Call(ctx, "POST", path, body, &created))
	return created.ID
}

func (p platform) fund(ctx context.Context, accountID string, cents int64) {
	check(p.Call(ctx, "POST", "/sandbox/internal-accounts/"+accountID+"/fund", kit.Object{"amount": cents}, nil))
}

// account returns the account of a customer in a currency, and its balance.
func (p platform) account(ctx context.Context, customerID string, currency money.Currency) (id string, minor int64) {
	var page struct {
		Data []struct {
			ID      string
			Balance struct{ Amount int64 }
		}
	}
	check(p.Call(ctx, "GET", "/customers/internal-accounts?currency="+string(currency)+"&customerId="+customerID, nil, &page))
	if len(page.Data) != 1 {
		failf("%s has %d accounts in %s", customerID, len(page.Data), currency)
	}
	return page.Data[0].ID, page.Data[0].Balance.Amount
}
