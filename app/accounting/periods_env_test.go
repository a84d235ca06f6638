package accounting_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	ledgerdb "causeway/adapters/postgres/ledgerdb"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// midMarch is in March: January and February are over.
var midMarch = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// periodEnv has Periods on a real database with one platform.
type periodEnv struct {
	*accounting.Periods
	t     testing.TB
	store *postgres.DB
	clock *portstest.FakeClock
	url   string
	ids   *ids.Generator
	admin platform.Principal
}

func newPeriodEnv(t testing.TB) *periodEnv {
	t.Helper()
	return newPeriodEnvAt(t, midMarch)
}

// newPeriodEnvAt starts the clock at a time.
func newPeriodEnvAt(t testing.TB, now time.Time) *periodEnv {
	t.Helper()
	h := &periodEnv{t: t, clock: portstest.NewFakeClock(now), url: pgtest.New(t), ids: ids.New()}
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: h.url, MaxConnections: 8, Clock: h.clock, IDs: h.ids,
		Render: func(e event.Event) ([]byte, error) { return e.Envelope(nil), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	h.Periods = accounting.NewPeriods(accounting.PeriodsConfig{Store: h.store, Archiver: h.store, Ledger: h.store.LedgerReader(), Clock: h.clock, IDs: h.ids})
	h.admin = h.createPlatform("Acme")
	return h
}

// createPlatform stores a platform and returns a principal with every permission on it.
func (h *periodEnv) createPlatform(name string) platform.Principal {
	h.t.Helper()
	made, err := platform.New(ident.NewPlatform(h.ids.New, midMarch), name, platform.Sandbox, false, midMarch)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.store.Do(context.Background(), func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, made) }); err != nil {
		h.t.Fatal(err)
	}
	return platform.Principal{Platform: made.ID, Environment: platform.Sandbox, Token: ident.NewToken(h.ids.New, midMarch), Permissions: platform.Permissions}
}

// newFeePosting is a posting of some US cents with an effective time.
func (h *periodEnv) newFeePosting(at time.Time, minor int64) ledger.Posting {
	return ledger.FeePaid(ledger.Header{ID: h.ids.New(midMarch), Platform: h.admin.Platform, Effective: at, Memo: "wire"},
		ledger.Rail("WIRE"), money.Amount{Minor: minor, Currency: money.USD})
}

func (h *periodEnv) post(postings ...ledger.Posting) {
	h.t.Helper()
	if err := h.tryPost(postings...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *periodEnv) tryPost(postings ...ledger.Posting) error {
	return h.store.Do(context.Background(), func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings) })
}

// readPosting reads a stored posting.
func (h *periodEnv) readPosting(id uuid.UUID) ledger.Posting {
	h.t.Helper()
	p, found, err := h.store.LedgerReader().Posting(context.Background(), h.admin.Platform, id)
	if err != nil || !found {
		h.t.Fatalf("posting %s: %t, %v", id, found, err)
	}
	return p
}

func (h *periodEnv) changeState(a period.Action, month string) accounting.Month {
	h.t.Helper()
	done, err := h.ChangeState(context.Background(), h.admin.Platform, h.admin.Token, nil, a, mustMonth(month), "")
	if err != nil {
		h.t.Fatalf("%s %s: %v", a, month, err)
	}
	return done
}

// getMonth reads a month with its whole trial balance.
func (h *periodEnv) getMonth(month string) accounting.Month {
	h.t.Helper()
	m, err := h.Get(context.Background(), h.admin.Platform, mustMonth(month), ports.LineFilter{Limit: 1000})
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// checkLedger checks every ledger invariant.
func (h *periodEnv) checkLedger() audit.Report {
	h.t.Helper()
	report, err := h.tryCheckLedger()
	if err != nil {
		h.t.Fatal(err)
	}
	return report
}

func (h *periodEnv) tryCheckLedger() (audit.Report, error) {
	kept := ledgerdb.New()
	return audit.NewChecker(ledgerdb.NewReader(kept, h.store.Pool()), ledgerdb.NewAudit(kept, h.store.Pool()), nil).Check(context.Background())
}

// execAsOwner runs statements as the owner of the tables, for whom triggers fire.
func (h *periodEnv) execAsOwner(statements ...string) error {
	h.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func mustMonth(month string) period.Month {
	m, err := period.ParseMonth(month)
	if err != nil {
		panic(err)
	}
	return m
}

func day(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 9, 30, 0, 0, time.UTC)
}
