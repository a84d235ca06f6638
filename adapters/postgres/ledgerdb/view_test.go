package ledgerdb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

func TestView_ConsistentWhilePosting(t *testing.T) {
	t.Parallel()
	// A view reads one snapshot of the ledger, while others post.
	h := newEnv(t)
	h.postAt(noon, h.deposit(newInternal(), 100), h.deposit(newInternal(), 200))
	views := ledgerdb.NewViews(h.store, h.pool)

	err := views.View(t.Context(), h.platform, time.Time{}, func(ctx context.Context, view ports.LedgerView) error {
		if got := view.LastPosting(); got.Seq != 2 || !got.Recorded.Equal(noon.Add(time.Microsecond)) {
			t.Errorf("the view is up to %+v", got)
		}
		h.postAt(noon.Add(time.Hour), h.deposit(newInternal(), 300))
		entries, sum := 0, int64(0)
		err := view.Entries(ctx, ports.LedgerFilter{}, func(e ports.RecordedEntry) error {
			entries++
			sum += e.Amount
			return nil
		})
		if entries != 2 || sum != 300 {
			t.Errorf("%d entries of %d", entries, sum)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestView_AsOfPastTime(t *testing.T) {
	t.Parallel()
	// A view at a time ends with the last posting recorded by then; before the first posting it
	// is empty.
	h := newEnv(t)
	account := newInternal()
	h.postAt(noon, h.deposit(account, 100))
	h.postAt(noon.Add(time.Hour), h.deposit(account, 200))
	views := ledgerdb.NewViews(h.store, h.pool)
	for _, c := range []struct {
		at      time.Time
		seq     int64
		closing int64
		lines   int
	}{
		{noon.Add(-time.Microsecond), 0, 0, 0}, {noon, 1, 100, 2}, {noon.Add(time.Hour - 1), 1, 100, 2}, {noon.Add(time.Hour), 2, 300, 2}, {noon.AddDate(9, 0, 0), 2, 300, 2},
	} {
		err := views.View(t.Context(), h.platform, c.at, func(ctx context.Context, view ports.LedgerView) error {
			if view.LastPosting().Seq != c.seq {
				t.Errorf("at %s it is up to %+v", c.at, view.LastPosting())
			}
			lines := 0
			return errors.Join(view.Accounts(ctx, ports.LedgerFilter{}, func(turnover ports.AccountTurnover) error {
				lines++
				want := c.closing
				if turnover.Class == ledger.Liability {
					want = -want
				}
				if turnover.Closing != want || turnover.Opening != 0 {
					t.Errorf("at %s: %+v", c.at, turnover)
				}
				return nil
			}), func() error {
				if lines != c.lines {
					t.Errorf("at %s there are %d accounts", c.at, lines)
				}
				return nil
			}())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestView_PeriodByEffectiveTime(t *testing.T) {
	t.Parallel()
	// A period is by effective time, its end excluded: a backdated posting counts at its
	// effective time, in the balances and in the order of entries.
	h := newEnv(t)
	account := newInternal()
	day := func(n int, minor int64) ledger.Posting {
		p := h.deposit(account, minor)
		p.Effective = noon.AddDate(0, 0, n)
		return p
	}
	h.postAt(noon, day(0, 1), day(1, 10), day(3, 100))
	h.postAt(noon.AddDate(0, 1, 0), day(2, 1000)) // late
	interval := period.Interval{From: noon.AddDate(0, 0, 1), To: noon.AddDate(0, 0, 3)}
	at := ledger.Account{Platform: h.platform, Path: ledger.CustomerAccount(account), Currency: "USD"}

	err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, time.Time{}, func(ctx context.Context, view ports.LedgerView) error {
		var amounts []int64
		return errors.Join(
			view.Accounts(ctx, ports.LedgerFilter{Interval: interval, Path: at.Path, Currency: at.Currency}, func(turnover ports.AccountTurnover) error {
				want := ports.AccountTurnover{Account: at, Class: ledger.Liability, Opening: -1, Closing: -1011, Credits: ports.Tally{Count: 2, Sum: 1010},
					First: noon, Last: noon.AddDate(0, 0, 2)}
				if turnover != want {
					t.Errorf("got  %+v\nwant %+v", turnover, want)
				}
				return nil
			}),
			view.EntriesByEffectiveTime(ctx, at, period.Interval{}, func(e ports.RecordedEntry) error {
				amounts = append(amounts, e.Amount)
				return nil
			}),
			func() error {
				if len(amounts) != 4 || amounts[1] != 10 || amounts[2] != 1000 || amounts[3] != 100 {
					t.Errorf("the entries are %v", amounts)
				}
				return nil
			}(),
			view.Entries(ctx, ports.LedgerFilter{Interval: interval}, func(e ports.RecordedEntry) error {
				if !interval.Contains(e.Effective) {
					t.Errorf("outside the period: %+v", e)
				}
				return nil
			}))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestView_StopsAtCallbackError(t *testing.T) {
	t.Parallel()
	// An error of the callback ends the stream and is returned.
	h := newEnv(t)
	h.postAt(noon, h.deposit(newInternal(), 1), h.deposit(newInternal(), 2))
	enough := errors.New("enough")
	seen := 0
	err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, time.Time{}, func(ctx context.Context, view ports.LedgerView) error {
		return view.Entries(ctx, ports.LedgerFilter{}, func(ports.RecordedEntry) error { seen++; return enough })
	})
	if !errors.Is(err, enough) || seen != 1 {
		t.Errorf("%v after %d entries", err, seen)
	}
}

// postAt records postings at a time.
func (h *env) postAt(now time.Time, postings ...ledger.Posting) {
	h.t.Helper()
	if err := h.post(now, postings...); err != nil {
		h.t.Fatal(err)
	}
}
