package ledgerdb_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// env is a new database with an empty ledger and one platform.
type env struct {
	t        testing.TB
	url      string // as the owner of the tables
	pool     *pgxpool.Pool
	store    *ledgerdb.Store
	platform ident.Platform
}

func newEnv(t testing.TB) *env {
	t.Helper()
	url := pgtest.SimulateClock(t, pgtest.New(t))
	return &env{t: t, url: url, pool: pgtest.Pool(t, url, 16), store: ledgerdb.New(), platform: newPlatform()}
}

// ownerConn returns a connection as the owner of the tables.
func (h *env) ownerConn() *pgx.Conn {
	h.t.Helper()
	conn, err := pgx.Connect(context.Background(), h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// post posts in a transaction of its own, which is rolled back on an error.
func (h *env) post(now time.Time, postings ...ledger.Posting) error {
	ctx := context.Background()
	return pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error { return h.store.Post(ctx, tx, now, postings) })
}

func (h *env) mustPost(postings ...ledger.Posting) {
	h.t.Helper()
	if err := h.post(noon, postings...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *env) reader() *ledgerdb.Reader { return ledgerdb.NewReader(h.store, h.pool) }

func (h *env) account(path string, currency money.Currency) ledger.Account {
	return ledger.Account{Platform: h.platform, Path: path, Currency: currency}
}

// newHeader returns the header of a new posting of the platform.
func (h *env) newHeader() ledger.Header { return newHeaderFor(h.platform) }

func newHeaderFor(p ident.Platform) ledger.Header {
	return ledger.Header{ID: newID(), Platform: p, Effective: noon}
}

// deposit returns a posting that credits a customer's account with dollars.
func (h *env) deposit(to ident.InternalAccount, minor int64) ledger.Posting {
	return ledger.Deposit(h.newHeader(), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(to), Amount: usd(minor)})
}

// spend returns a posting that debits dollars from a customer's account.
func (h *env) spend(from ident.InternalAccount, minor int64) ledger.Posting {
	return ledger.TransferOut(h.newHeader(), ledger.OutgoingFunds{From: ledger.CustomerAccount(from), Amount: usd(minor)})
}

// balance reads one balance.
func (h *env) balance(a ledger.Account) int64 {
	h.t.Helper()
	balances, err := h.reader().Balances(context.Background(), []ledger.Account{a})
	if err != nil {
		h.t.Fatal(err)
	}
	return balances[a]
}

func (h *env) wantBalance(a ledger.Account, want int64) {
	h.t.Helper()
	if got := h.balance(a); got != want {
		h.t.Errorf("%s: balance %d, want %d", a, got, want)
	}
}

// count runs a query that returns one number.
func (h *env) count(query string, args ...any) (n int64) {
	h.t.Helper()
	if err := h.pool.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// newID returns the next of ascending ids.
func newID() uuid.UUID {
	n := ids.Add(1)
	return uuid.UUID{0x01, 0x93, 6: 0x70, 8: 0x80, 12: byte(n >> 24), 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

var ids atomic.Uint32

func newPlatform() (p ident.Platform) {
	p.SetUUID(newID())
	return p
}

func newInternal() (a ident.InternalAccount) {
	a.SetUUID(newID())
	return a
}

func newTransaction() (t ident.Transaction) {
	t.SetUUID(newID())
	return t
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }
func btc(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.BTC} }
