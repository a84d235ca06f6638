package audit_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	storage "causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// env is a fresh database with its books, as the service sees it.
type env struct {
	t        testing.TB
	url      string
	pool     *pgxpool.Pool
	ledgerDB *storage.Store
	platform ident.Platform
}

func newEnv(t testing.TB) *env {
	t.Helper()
	h := &env{t: t, url: pgtest.New(t), ledgerDB: storage.New()}
	ident.SetUUID(&h.platform, newID())
	h.pool = pgtest.Pool(t, h.url, 8)
	return h
}

func (h *env) post(now time.Time, postings ...ledger.Posting) error {
	ctx := context.Background()
	return pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error { return h.ledgerDB.Post(ctx, tx, now, postings) })
}

func (h *env) mustPost(postings ...ledger.Posting) {
	h.t.Helper()
	if err := h.post(noon, postings...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *env) newService(explain audit.StateChecker) *audit.Checker {
	return audit.NewChecker(storage.NewReader(h.ledgerDB, h.pool), storage.NewAudit(h.ledgerDB, h.pool), explain)
}

func (h *env) newAudit() ports.LedgerAudit { return storage.NewAudit(h.ledgerDB, h.pool) }

func (h *env) newLog() *storage.Log { return storage.NewLog(h.ledgerDB, h.pool) }

func (h *env) check(explain audit.StateChecker) audit.Report {
	h.t.Helper()
	report, err := h.newService(explain).Check(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return report
}

func (h *env) updateSnapshots() {
	h.t.Helper()
	for {
		moved, err := h.ledgerDB.AdvanceBalanceSnapshots(context.Background(), h.pool)
		if err != nil {
			h.t.Fatal(err)
		}
		if !moved {
			return
		}
	}
}

// execAsSuperuser runs statements as somebody who may do everything and whom no trigger stops.
func (h *env) execAsSuperuser(statement string) {
	h.t.Helper()
	pgtest.ExecAsSuperuser(h.t, h.url, statement)
}

func (h *env) header() ledger.Header {
	return ledger.Header{ID: newID(), Platform: h.platform, Effective: noon}
}

func (h *env) deposit(to ident.InternalAccount, minor int64) ledger.Posting {
	return ledger.Deposit(h.header(), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(to), Amount: usd(minor)})
}

func (h *env) transferOut(from ident.InternalAccount, minor int64) ledger.Posting {
	return ledger.TransferOut(h.header(), ledger.OutgoingFunds{From: ledger.CustomerAccount(from), Amount: usd(minor)})
}

// ramp is what a ramp posts, up to its delivery.
func (h *env) ramp(transaction ident.Transaction) []ledger.Posting {
	header := func() ledger.Header {
		header := h.header()
		header.Transaction = transaction
		return header
	}
	return []ledger.Posting{
		ledger.JITReceived(header(), ledger.Rail("RTP"), usd(10050)),
		ledger.Converted(header(), ledger.Conversion{
			From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50,
			Received: money.Amount{Minor: 100_000, Currency: money.BTC}}),
		ledger.Delivered(header(), ledger.Chain("LAYER2"), money.Amount{Minor: 100_000, Currency: money.BTC}),
	}
}

// checkDelivered explains transactions that are all delivered ramps.
func checkDelivered(_ context.Context, _ ident.Platform, stories []ports.TransactionKinds) ([]error, error) {
	wrong := make([]error, len(stories))
	for i, s := range stories {
		if !slices.Equal(s.Kinds, []ledger.Kind{ledger.KindJITReceived, ledger.KindConverted, ledger.KindDelivered}) {
			wrong[i] = errors.New("a delivered ramp is received, converted and delivered")
		}
	}
	return wrong, nil
}

func newID() uuid.UUID {
	n := lastID.Add(1)
	return uuid.UUID{0x01, 0x93, 6: 0x70, 8: 0x80, 12: byte(n >> 24), 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

var lastID atomic.Uint32

func newInternalAccountID() (a ident.InternalAccount) {
	ident.SetUUID(&a, newID())
	return a
}

func newTransactionID() (t ident.Transaction) {
	ident.SetUUID(&t, newID())
	return t
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }
