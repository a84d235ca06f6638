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

	"causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// unitOfWork is one unit of work of a random worker.
type unitOfWork struct {
	batch        []ledger.Posting
	lockBalances bool // lock the balances of accounts without overdraft first
	rollback     bool
}

func TestCheck_RandomConcurrentPosting(t *testing.T) {
	t.Parallel()
	// Workers of several processes post random batches concurrently on two platforms: new postings,
	// repeats, spending beyond a balance and reversals, some rolled back, while balance snapshots
	// advance. Afterwards every rule holds, and each accepted posting is in the ledger once.
	env := newEnv(t)
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		work := newWorkload(t)
		var (
			running  sync.WaitGroup
			mu       sync.Mutex
			accepted = map[uuid.UUID]ledger.Posting{}
		)
		for worker := range 6 {
			units := work.drawUnits(t)
			process := ledgerdb.New()
			running.Go(func() {
				for i, u := range units {
					err := retry(func() error {
						return work.run(ctx, env.Store.Pool(), process, u, noon.Add(time.Duration(worker-i)*time.Second))
					})
					var short *ledger.InsufficientBalanceError
					switch {
					case err == nil:
						mu.Lock()
						for _, p := range u.batch {
							accepted[p.ID] = p
						}
						mu.Unlock()
					case errors.As(err, &short), errors.Is(err, ledger.ErrNotReversible), errors.Is(err, errRolledBack):
					default:
						t.Errorf("rejected for another reason: %v", err)
					}
				}
			})
		}
		running.Go(func() {
			if _, err := env.ledgerDB.AdvanceBalanceSnapshots(ctx, env.Store.Pool()); err != nil {
				t.Errorf("advance balance snapshots: %v", err)
			}
		})
		running.Wait()

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
			got, err := ledgerdb.NewReader(env.ledgerDB, env.Store.Pool()).Balances(ctx, []ledger.Account{a})
			if err != nil || got[a] != w {
				t.Fatalf("%s: balance %d, %v; the accepted postings add up to %d", a, got[a], err, w)
			}
		}
		var numbered int
		err := env.Store.Pool().QueryRow(ctx, "SELECT coalesce(sum(seq), 0) FROM ledger_clocks WHERE platform_id IN ($1, $2)",
			work.platforms[0].UUID(), work.platforms[1].UUID()).Scan(&numbered)
		if err != nil || numbered != len(accepted) {
			t.Fatalf("%d postings were numbered, %v; %d were accepted", numbered, err, len(accepted))
		}
	})

	env.updateSnapshots()
	report := env.check(nil)
	for _, f := range report.Findings {
		t.Error(f)
	}
}

func TestBalanceSnapshots_ConcurrentWithPosting(t *testing.T) {
	t.Parallel()
	// Balance snapshots that several processes advance while others post are correct, and the check
	// can run at the same time.
	env := newEnv(t)
	ctx := context.Background()
	alice := newInternalAccountID()
	var posting, advancing sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		posting.Go(func() {
			for range 15 {
				batch := env.ramp(newTransactionID())
				for range 97 {
					batch = append(batch, env.deposit(alice, 1))
				}
				if err := env.post(noon, batch...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		advancing.Go(func() {
			for {
				if _, err := env.ledgerDB.AdvanceBalanceSnapshots(ctx, env.Store.Pool()); err != nil {
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
	during := env.check(checkDelivered)
	posting.Wait()
	close(done)
	advancing.Wait()
	env.updateSnapshots()
	after := env.check(checkDelivered)

	for _, f := range append(during.Findings, after.Findings...) {
		t.Error(f)
	}
	for _, r := range after.Rules {
		if r.Rule == audit.RuleBalanceSnapshots && r.Checked < 4 {
			t.Errorf("%d balance snapshots, want at least 4", r.Checked)
		}
	}
}

// workload is the platforms, accounts and postings of one random run.
type workload struct {
	platforms [2]ident.Platform
	customers []string
	drawn     []ledger.Posting // may be repeated or reversed
}

func newWorkload(t *rapid.T) *workload {
	w := &workload{}
	for i := range w.platforms {
		w.platforms[i].SetUUID(newID())
	}
	for range rapid.IntRange(1, 4).Draw(t, "customers") {
		w.customers = append(w.customers, ledger.CustomerAccount(newInternalAccountID()))
	}
	return w
}

func (w *workload) drawUnits(t *rapid.T) []unitOfWork {
	units := make([]unitOfWork, rapid.IntRange(1, 8).Draw(t, "units"))
	for i := range units {
		for range rapid.IntRange(1, 4).Draw(t, "batch") {
			units[i].batch = append(units[i].batch, w.drawPosting(t))
		}
		units[i].lockBalances = rapid.Bool().Draw(t, "lock")
		units[i].rollback = rapid.IntRange(0, 9).Draw(t, "rollback") == 0
	}
	return units
}

func (w *workload) drawPosting(t *rapid.T) ledger.Posting {
	header := ledger.Header{ID: newID(), Platform: rapid.SampledFrom(w.platforms[:]).Draw(t, "platform"), Effective: noon}
	amount := money.Amount{Minor: rapid.Int64Range(1, 100).Draw(t, "amount"),
		Currency: rapid.SampledFrom([]money.Currency{money.USD, money.BTC}).Draw(t, "currency")}
	customer := rapid.SampledFrom(w.customers).Draw(t, "customer")
	var p ledger.Posting
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2, 3, 4:
		p = ledger.Deposit(header, ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: customer, Amount: amount})
	case 5, 6:
		p = ledger.TransferOut(header, ledger.OutgoingFunds{From: customer, Amount: amount, Fees: 1})
	case 7:
		p = ledger.Converted(header, ledger.Conversion{From: customer, To: rapid.SampledFrom(w.customers).Draw(t, "to"),
			Sent: money.Amount{Minor: 30, Currency: money.USD}, Fees: 2, RoundingSent: 1, Received: money.Amount{Minor: 7, Currency: money.BTC},
			RoundingReceived: 1})
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
}, process *ledgerdb.Store, u unitOfWork, now time.Time) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if u.lockBalances {
			var accounts []ledger.Account
			for _, p := range u.batch {
				for _, account := range p.Accounts() {
					if line, err := ledger.FindChartLine(account.Path); err == nil && line.NoOverdraft {
						accounts = append(accounts, account)
					}
				}
			}
			if _, err := process.Balances(ctx, tx, accounts, ledgerdb.Lock); err != nil {
				return err
			}
		}
		if err := process.Post(ctx, tx, now, u.batch); err != nil {
			return err
		}
		if u.rollback {
			return errRolledBack
		}
		return nil
	})
}

// retry runs do again after a deadlock or a serialization failure, as a unit of work does.
func retry(do func() error) error {
	for {
		err := do()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || (pg.Code != "40P01" && pg.Code != "40001") {
			return err
		}
	}
}
