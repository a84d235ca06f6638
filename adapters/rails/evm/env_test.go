package evm_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"
	"github.com/tyler-smith/go-bip39"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/devnet"
	"causeway/adapters/rails/evm/eth"
	"causeway/adapters/rails/evm/localkeys"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// testSeed is that of some words, from which it follows slowly.
var testSeed = hex.EncodeToString(bip39.NewSeed("legal winner thank year wave sausage worth useful legal winner thank yellow", ""))

// env is a devnet with a token, a database and a platform.
type env struct {
	t        testing.TB
	chain    *devnet.Chain
	usdc     devnet.Token   // the contract of the currency
	currency money.Currency // of the connection
	db       *postgres.DB
	url      string // of the database
	clock    *portstest.FakeClock
	platform ident.Platform
	proxy    *proxy
	cursor   string
	extra    map[string]string // settings
	account  uint32            // of the seed
	wallets  ports.TransferKeys
	ids      *ids.Generator
}

func newEnv(t testing.TB) *env {
	t.Helper()
	return newEnvOn(t, devnet.Start(t, "node"), 0)
}

// newEnvOn returns an env on a chain that others use too, with a wallet of its own.
func newEnvOn(t testing.TB, chain *devnet.Chain, account uint32) *env {
	t.Helper()
	e := &env{t: t, chain: chain, clock: portstest.NewFakeClock(noon), ids: ids.New(), account: account, currency: money.USDC,
		extra: map[string]string{"account": strconv.Itoa(int(account))}}
	e.chain.Call("evm_setAutomine", false)
	e.usdc = e.chain.Deploy("USDC", 6)
	e.proxy = newProxy(t, e.chain.URL)
	e.openDatabase()
	e.chain.Call("hardhat_setBalance", e.wallet(), "0xde0b6b3a7640000") // one ether
	return e
}

func (e *env) openDatabase() {
	e.t.Helper()
	e.url = pgtest.SimulateClock(e.t, pgtest.New(e.t))
	db, err := postgres.Open(e.t.Context(), postgres.Options{URL: e.url, AllPlatforms: true, MaxConnections: 8, Clock: e.clock, IDs: e.ids})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(db.Close)
	e.db = db
	p, err := platform.New(ident.NewPlatform(e.ids.New, noon), "Here", platform.Sandbox, false, noon)
	if err != nil {
		e.t.Fatal(err)
	}
	e.platform = p.ID
	e.do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
}

func (e *env) do(fn func(context.Context, *postgres.Unit) error) {
	e.t.Helper()
	if err := e.db.Do(e.t.Context(), fn); err != nil {
		e.t.Fatal(err)
	}
}

// newAccount returns an internal account of a new customer.
func (e *env) newAccount(currency money.Currency) account.Internal {
	e.t.Helper()
	a := e.unstoredAccount(currency)
	e.do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{a})
	})
	return a
}

// unstoredAccount returns an account of a new customer that is not stored yet.
func (e *env) unstoredAccount(currency money.Currency) account.Internal {
	e.t.Helper()
	owner := customer.Customer{ID: ident.NewCustomer(e.ids.New, noon), Platform: e.platform, Type: customer.Individual,
		Status: customer.Approved, FullName: "Ana Silva", CreatedAt: noon, UpdatedAt: noon}
	owner.PlatformCustomerID, owner.UMAAddress = owner.ID.String(), "$"+owner.ID.UUID().String()+"@uma.test"
	e.do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateCustomer(ctx, owner) })
	a, err := account.NewInternal(ident.NewInternalAccount(e.ids.New, e.clock.Now()), e.platform, owner.ID, currency, e.clock.Now())
	if err != nil {
		e.t.Fatal(err)
	}
	return a
}

func (e *env) connection() rail.Connection {
	settings := map[string]string{"urls": "env:NODE", "chainId": "31337", "seed": "env:SEED", strings.ToLower(string(e.currency)) +
		"Contract": e.usdc.Address, "confirmations": "3", "sweepFrom": "never"}
	for name, value := range e.extra {
		settings[name] = value
	}
	return rail.Connection{Name: "base-main", Adapter: rail.EVM, Version: 1, Rails: []corridor.Rail{corridor.Base},
		Currencies: []money.Currency{e.currency}, Settings: settings}
}

func (e *env) secrets() portstest.Secrets {
	return portstest.Secrets{"env:NODE": e.proxy.url, "env:SEED": testSeed}
}

// open opens the connection, as another process would.
func (e *env) open(pool storage.Pool) *recorded { return e.openAt(pool, "env:NODE") }

// openAt opens the connection with other URLs of nodes.
func (e *env) openAt(pool storage.Pool, urls string) *recorded {
	e.t.Helper()
	c := e.connection()
	c.Settings["urls"] = urls
	r, err := e.tryOpen(pool, c)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = r.Close() })
	return r
}

// recorded is the adapter of a process. Payments are recorded as handed over before they are sent.
type recorded struct {
	opened
	portstest.HandingOver
}

type opened struct{ *evm.Rail }

func (e *env) tryOpen(pool storage.Pool, c rail.Connection) (*recorded, error) {
	r, err := evm.New(e.t.Context(), evm.Config{Connection: c, Store: evm.NewStore(storage.New(pool, e.clock)),
		Keys: localkeys.New(e.secrets(), "env:SEED"), Secrets: e.secrets(), Wallets: e.wallets, Clock: e.clock, Log: quiet()})
	if err != nil {
		return nil, err
	}
	return &recorded{opened{r}, portstest.HandingOver{To: r, Handover: e.handover(c.Name)}}, nil
}

// store returns what the processes have stored.
func (e *env) store() *evm.Store { return evm.NewStore(e.db.Storage()) }

// handover records the payments of a connection.
func (e *env) handover(connection string) *portstest.RailHandover {
	return portstest.NewRailHandover(e.db, connection, e.clock)
}

// quiet returns a logger whose lines are shown if EVM_LOG is set.
func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	if os.Getenv("EVM_LOG") != "" {
		log.SetOutput(os.Stderr)
		log.SetLevel(logrus.DebugLevel)
	}
	return log
}

func (e *env) rail() *recorded { return e.open(e.db.Pool()) }

// wallet returns the address of the wallet that pays.
func (e *env) wallet() string {
	key, err := localkeys.New(portstest.Secrets{"s": testSeed}, "s").AccountKey(e.t.Context(),
		[]uint32{44 | ports.ChainHardened, 60 | ports.ChainHardened, e.account | ports.ChainHardened, 0, 0})
	if err != nil {
		e.t.Fatal(err)
	}
	a, err := eth.AddressOf(key.PublicKey)
	if err != nil {
		e.t.Fatal(err)
	}
	return eth.FormatAddress(a)
}

// address returns the deposit address of an account.
func (e *env) address(r *recorded, a account.Internal) string {
	e.t.Helper()
	instructions, err := r.Funding(e.platform, "", a.Reference, a.Currency)
	if err != nil || len(instructions) != 1 {
		e.t.Fatalf("%v, %v", instructions, err)
	}
	address, _ := instructions[0].Info["address"].(string)
	return address
}

// mine adds blocks to the chain, and polls.
func (e *env) mine(r *recorded, blocks int) ports.RailReport {
	e.t.Helper()
	e.chain.Mine(blocks)
	return e.poll(r)
}

// poll polls until there is nothing more, and returns everything that was reported.
func (e *env) poll(r *recorded) ports.RailReport {
	e.t.Helper()
	var all ports.RailReport
	for range 100 {
		report, err := r.Poll(e.t.Context(), e.cursor)
		if err != nil {
			e.t.Fatal(err)
		}
		e.cursor = report.Cursor
		all.Receipts = append(all.Receipts, report.Receipts...)
		all.Reversals = append(all.Reversals, report.Reversals...)
		all.Changed = append(all.Changed, report.Changed...)
		all.Fees = append(all.Fees, report.Fees...)
		all.Contradictions = append(all.Contradictions, report.Contradictions...)
		all.Addresses = append(all.Addresses, report.Addresses...)
		if !report.More {
			return all
		}
	}
	e.t.Fatal("poll does not end")
	return all
}

// payee returns an address that nobody else uses.
func (e *env) payee() string {
	id := uuid.New()
	var a eth.Address
	copy(a[:], id[:])
	return eth.FormatAddress(a)
}

func (e *env) payout(to string, amount int64) ports.Payout {
	p := ports.Payout{Account: external(to), Transaction: transaction.Transaction{Platform: e.platform,
		Pricing: transaction.Pricing{Received: money.Amount{Minor: amount, Currency: e.currency}}, UpdatedAt: noon}}
	p.Transaction.ID = ident.NewTransaction(e.ids.New, noon)
	return p
}

func external(address string) account.External {
	return account.External{Type: account.BaseWallet, Currency: money.USDC, Fields: map[string]string{"address": address},
		Rails: []corridor.Rail{corridor.Base}}
}

// fund gives the wallet tokens.
func (e *env) fund(amount int64) {
	e.usdc.Mint(e.wallet(), amount)
	e.chain.Mine(1)
}

func (e *env) send(r *recorded, p ports.Payout) ports.Outcome {
	return r.Send(e.t.Context(), []ports.Payout{p})[0]
}

func hexOf(parts ...[]byte) string { return hex.EncodeToString(bytes.Join(parts, nil)) }
