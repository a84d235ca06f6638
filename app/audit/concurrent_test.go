package audit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	storage "causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// unitOfWork is one unit of work of a random worker.
type unitOfWork struct {
	batch        []ledger.Posting
	lockBalances bool // read and hold the guarded balances first
	rollback     bool
}

func TestCheck_RandomConcurrentPosting(t *testing.T) {
	t.Parallel()
	// Workers of several processes post random batches at once: new postings and repeats,
	// spending what may not be there, reversing what may be reversed already, on two
	// platforms, some rolled back, while checkpoints move. Afterwards every rule holds,
	// and the books hold exactly what was accepted, once.
	h := newEnv(t)
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		world := newWorkload(t)
		var (
			group    sync.WaitGroup
			mu       sync.Mutex
			accepted = map[uuid.UUID]ledger.Posting{}
		)
		for worker := range 6 {
			acts := world.drawUnits(t)
			process := storage.New()
			group.Go(func() {
				for i, a := range acts {
					err := retry(func() error { return world.run(ctx, h.pool, process, a, noon.Add(time.Duration(worker-i)*time.Second)) })
					var short *ledger.InsufficientBalanceError
					switch {
					case err == nil:
						mu.Lock()
						for _, p := range a.batch {
							accepted[p.ID] = p
						}
						mu.Unlock()
					case errors.As(err, &short), errors.Is(err, ledger.ErrNotReversible), errors.Is(err, errRolledBack):
					default:
						t.Errorf("refused for another reason: %v", err)
					}
				}
			})
		}
		group.Go(func() {
			if _, err := h.ledgerDB.AdvanceBalanceSnapshots(ctx, h.pool); err != nil {
				t.Errorf("move checkpoints: %v", err)
			}
		})
		group.Wait()

		want := map[ledger.Account]int64{}
		for _, p := range accepted {
			changes, err := ledger.NetChanges(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				want[c.Account] += c.Amount
			}
		}
		for a, w := range want {
			got, err := storage.NewReader(h.ledgerDB, h.pool).Balances(ctx, []ledger.Account{a})
			if err != nil || got[a] != w {
				t.Fatalf("%s: balance %d, %v; what was accepted makes %d", a, got[a], err, w)
			}
		}
		var numbered int
		err := h.pool.QueryRow(ctx, "SELECT coalesce(sum(seq), 0) FROM ledger_clocks WHERE platform_id IN ($1, $2)",
			world.platforms[0].UUID(), world.platforms[1].UUID()).Scan(&numbered)
		if err != nil || numbered != len(accepted) {
			t.Fatalf("%d postings were numbered, %v; %d were accepted", numbered, err, len(accepted))
		}
	})

	h.updateSnapshots()
	report := h.check(nil)
	for _, f := range report.Findings {
		t.Error(f)
	}
}

func TestBalanceSnapshots_ConcurrentWithPosting(t *testing.T) {
	t.Parallel()
	// Checkpoints that several processes move forward while others post are as right as
	// those of quiet books, and the check may run meanwhile.
	h := newEnv(t)
	ctx := context.Background()
	alice := newInternalAccountID()
	var posting, moving sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		posting.Go(func() {
			for range 15 {
				batch := h.ramp(newTransactionID())
				for range 97 {
					batch = append(batch, h.deposit(alice, 1))
				}
				if err := h.post(noon, batch...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		moving.Go(func() {
			for {
				if _, err := h.ledgerDB.AdvanceBalanceSnapshots(ctx, h.pool); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	during := h.check(checkDelivered)
	posting.Wait()
	close(done)
	moving.Wait()
	h.updateSnapshots()
	after := h.check(checkDelivered)

	for _, f := range append(during.Findings, after.Findings...) {
		t.Error(f)
	}
	for _, r := range after.Rules {
		if r.Rule == audit.RuleBalanceSnapshots && r.Checked < 4 {
			t.Errorf("%d checkpoints, want a few", r.Checked)
		}
	}
}

// workload is what the random postings of one run are about.
type workload struct {
	platforms [2]ident.Platform
	customers []string
	drawn     []ledger.Posting // to be repeated or reversed
}

func newWorkload(t *rapid.T) *workload {
	w := &workload{}
	for i := range w.platforms {
		ident.SetUUID(&w.platforms[i], newID())
	}
	for range rapid.IntRange(1, 4).Draw(t, "customers") {
		w.customers = append(w.customers, ledger.CustomerAccount(newInternalAccountID()))
	}
	return w
}

func (w *workload) drawUnits(t *rapid.T) []unitOfWork {
	acts := make([]unitOfWork, rapid.IntRange(1, 8).Draw(t, "acts"))
	for i := range acts {
		for range rapid.IntRange(1, 4).Draw(t, "batch") {
			acts[i].batch = append(acts[i].batch, w.drawPosting(t))
		}
		acts[i].lockBalances = rapid.Bool().Draw(t, "lock")
		acts[i].rollback = rapid.IntRange(0, 9).Draw(t, "rollback") == 0
	}
	return acts
}

func (w *workload) drawPosting(t *rapid.T) ledger.Posting {
	header := ledger.Header{ID: newID(), Platform: rapid.SampledFrom(w.platforms[:]).Draw(t, "platform"), Effective: noon}
	amount := money.Amount{Minor: rapid.Int64Range(1, 100).Draw(t, "amount"), Currency: rapid.SampledFrom([]money.Currency{money.USD, money.BTC}).Draw(t, "currency")}
	customer := rapid.SampledFrom(w.customers).Draw(t, "customer")
	var p ledger.Posting
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2, 3, 4:
		p = ledger.Deposit(header, ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: customer, Amount: amount})
	case 5, 6:
		p = ledger.TransferOut(header, ledger.OutgoingFunds{From: customer, Amount: amount, Fees: 1})
	case 7:
		p = ledger.Converted(header, ledger.Conversion{From: customer, To: rapid.SampledFrom(w.customers).Draw(t, "to"),
			Sent: money.Amount{Minor: 30, Currency: money.USD}, Fees: 2, RoundingSent: 1, Received: money.Amount{Minor: 7, Currency: money.BTC}, RoundingReceived: 1})
	default:
		if len(w.drawn) == 0 {
			return w.drawPosting(t)
		}
		p = rapid.SampledFrom(w.drawn).Draw(t, "known")
		if rapid.Bool().Draw(t, "reverse") {
			p = ledger.Reverse(p, header.ID, noon, "")
		}
	}
	w.drawn = append(w.drawn, p)
	return p
}

var errRolledBack = errors.New("rolled back")

func (w *workload) run(ctx context.Context, db interface {
	Begin(context.Context) (pgx.Tx, error)
}, process *storage.Store, a unitOfWork, now time.Time) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if a.lockBalances {
			var accounts []ledger.Account
			for _, p := range a.batch {
				for _, account := range p.Accounts() {
					if line, err := ledger.FindChartLine(account.Path); err == nil && line.NoOverdraft {
						accounts = append(accounts, account)
					}
				}
			}
			if _, err := process.Balances(ctx, tx, accounts, storage.Lock); err != nil {
				return err
			}
		}
		if err := process.Post(ctx, tx, now, a.batch); err != nil {
			return err
		}
		if a.rollback {
			return errRolledBack
		}
		return nil
	})
}

// retry does what a unit of work does: it runs once more when the database asks for it.
func retry(do func() error) error {
	for {
		err := do()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || (pg.Code != "40P01" && pg.Code != "40001") {
			return err
		}
	}
}
