package ledgerdb_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

func TestView_ConsistentWhilePosting(t *testing.T) {
	t.Parallel()
	// What others post while a view is read is not in it.
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
		{noon.Add(-time.Microsecond), 0, 0, 0}, {noon, 1, 100, 2}, {noon.Add(time.Hour - 1), 1, 100, 2}, {noon.Add(time.Hour), 2, 300, 2},
		{noon.AddDate(9, 0, 0), 2, 300, 2},
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

	err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, time.Time{},
		func(ctx context.Context, view ports.LedgerView) error {
			var amounts []int64
			return errors.Join(
				view.Accounts(ctx, ports.LedgerFilter{Interval: interval, Path: at.Path, Currency: at.Currency},
					func(turnover ports.AccountTurnover) error {
						want := ports.AccountTurnover{Account: at, Class: ledger.Liability, Opening: -1, Closing: -1011,
							Credits: ports.Tally{Count: 2, Sum: 1010},
							First:   noon, Last: noon.AddDate(0, 0, 2)}
						if turnover != want {
							t.Errorf("got  %+v\nwant %+v", turnover, want)
						}
						return nil
					}),
				view.EntriesByEffectiveTime(ctx, []ledger.Account{at}, period.Interval{}, func(_ ledger.Account, e ports.RecordedEntry) error {
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

func TestView_HoldsNoSnapshotWhileReaderWaits(t *testing.T) {
	t.Parallel()
	// While a callback runs, however long, no session of the view is in a transaction, so vacuum
	// is not held back.
	h := newEnv(t)
	account := newInternal()
	h.postAt(noon, h.deposit(account, 1), h.deposit(account, 2))
	at := ledger.Account{Platform: h.platform, Path: ledger.CustomerAccount(account), Currency: "USD"}
	callbacks := 0
	check := func() error {
		callbacks++
		const holding = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR state LIKE 'idle in transaction%')`
		if n := h.count(holding); n != 0 {
			t.Errorf("callback %d: %d sessions hold a snapshot or a transaction", callbacks, n)
		}
		return nil
	}

	err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, time.Time{},
		func(ctx context.Context, view ports.LedgerView) error {
			entry := func(ports.RecordedEntry) error { return check() }
			return errors.Join(check(),
				view.Entries(ctx, ports.LedgerFilter{}, entry), view.Entries(ctx, ports.LedgerFilter{Path: at.Path}, entry),
				view.EntriesByEffectiveTime(ctx, []ledger.Account{at}, period.Interval{},
					func(_ ledger.Account, e ports.RecordedEntry) error { return entry(e) }),
				view.Accounts(ctx, ports.LedgerFilter{}, func(ports.AccountTurnover) error { return check() }))
		})
	if err != nil || callbacks != 1+2+2+2+2 {
		t.Errorf("%d callbacks, %v", callbacks, err)
	}
}

func TestView_ManyEntriesInOrder(t *testing.T) {
	t.Parallel()
	// A ledger of more postings than one transaction reads is read completely and in order, in
	// whole and on one path with several currencies, also if only some are in the interval.
	const postings, accounts = 12_345, 3
	h := newEnv(t)
	owners := make([]ident.InternalAccount, accounts)
	for i := range owners {
		owners[i] = newInternal()
	}
	h.postAt(noon, ledger.Deposit(h.newHeader(), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(owners[0]),
		Amount: money.Amount{Minor: 9, Currency: money.EUR}}))
	for first := 2; first <= postings; first += 1000 {
		var batch []ledger.Posting
		for n := first; n < min(first+1000, postings+1); n++ {
			p := h.deposit(owners[n%accounts], int64(n))
			p.Effective = noon.Add(time.Duration(n%2) * time.Second)
			batch = append(batch, p)
		}
		h.postAt(noon, batch...)
	}
	odd := period.Interval{From: noon.Add(time.Second)}
	for name, c := range map[string]struct {
		filter ports.LedgerFilter
		want   func(seq int64) bool
	}{
		"all":          {ports.LedgerFilter{}, func(int64) bool { return true }},
		"one currency": {ports.LedgerFilter{Currency: "EUR"}, func(seq int64) bool { return seq == 1 }},
		"one path":     {ports.LedgerFilter{Path: "rails/ACH"}, func(int64) bool { return true }},
		"a path of fewer": {ports.LedgerFilter{Path: ledger.CustomerAccount(owners[1])}, func(seq int64) bool {
			return seq > 1 &&
				seq%accounts == 1
		}},
		"an interval on one path": {ports.LedgerFilter{Path: "rails/ACH", Interval: odd},
			func(seq int64) bool { return seq > 1 && seq%2 == 1 }},
		"an interval and a currency": {ports.LedgerFilter{Path: "rails/ACH", Currency: "USD", Interval: odd},
			func(seq int64) bool { return seq > 1 && seq%2 == 1 }},
		"a path that is not there": {ports.LedgerFilter{Path: "rails/WIRE"}, func(int64) bool { return false }},
	} {
		var got, want []int64
		for seq := int64(1); seq <= postings; seq++ {
			if c.want(seq) {
				want = append(want, seq)
			}
		}
		err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, time.Time{},
			func(ctx context.Context, view ports.LedgerView) error {
				return view.Entries(ctx, c.filter, func(e ports.RecordedEntry) error {
					got = append(got, e.Position.Seq)
					return nil
				})
			})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d entries, want %d, %v", name, len(got), len(want), err)
		}
	}
}

func TestView_MonthArchivedMeanwhileIsRefused(t *testing.T) {
	t.Parallel()
	// If a month is archived while a view is read, the view fails instead of leaving it out.
	h := newEnv(t)
	h.postAt(noon, h.deposit(newInternal(), 1))
	h.postAt(noon.AddDate(0, 1, 0), h.deposit(newInternal(), 2))
	owner := h.ownerConn()
	suffix := noon.Format("200601")

	err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, time.Time{},
		func(ctx context.Context, view ports.LedgerView) error {
			for _, statement := range []string{
				"INSERT INTO ledger_archived_months (month) VALUES (date_trunc('month', '" + noon.Format(time.DateOnly) + "'::date))",
				"ALTER TABLE ledger_entries DETACH PARTITION ledger_entries_" + suffix,
				"ALTER TABLE ledger_postings DETACH PARTITION ledger_postings_" +
					suffix,
			} {
				if _, err := owner.Exec(ctx, statement); err != nil {
					t.Fatal(err)
				}
			}
			return view.Entries(ctx, ports.LedgerFilter{}, func(e ports.RecordedEntry) error {
				t.Errorf("got entry %v", e.Position)
				return nil
			})
		})
	if !fault.Is(err, fault.MonthArchived) {
		t.Errorf("%v, want MONTH_ARCHIVED", err)
	}
}

func TestView_StopsAtCallbackError(t *testing.T) {
	t.Parallel()
	// An error of the callback ends the stream and is returned.
	h := newEnv(t)
	h.postAt(noon, h.deposit(newInternal(), 1), h.deposit(newInternal(), 2))
	enough := errors.New("enough")
	seen := 0
	err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, time.Time{},
		func(ctx context.Context, view ports.LedgerView) error {
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

func TestView_DaysOfAccount(t *testing.T) {
	t.Parallel()
	// The days of an account are those on which its entries are effective, in UTC, up to the last posting
	// of the view. Days before the interval have no turnover in it.
	h := newEnv(t)
	account, other := newInternal(), newInternal()
	at := func(moment time.Time, minor int64) ledger.Posting {
		p := h.deposit(account, minor)
		p.Effective = moment
		return p
	}
	midnight := noon.Truncate(24 * time.Hour)
	h.postAt(noon, at(noon, 1), at(noon.Add(6*time.Hour), 2), h.deposit(other, 1000))
	h.postAt(noon.AddDate(0, 0, 5), at(midnight.AddDate(0, 0, 2), 4), at(midnight.AddDate(0, 0, 2).Add(-time.Microsecond), 8))
	h.postAt(noon.AddDate(0, 0, 6), at(noon.Add(-time.Hour), 16)) // after the view
	path := ledger.CustomerAccount(account)
	from := noon.Add(time.Hour)
	type day struct {
		day, count int
		sum        int64
		last       time.Time
	}
	for name, c := range map[string]struct {
		path     string
		since    time.Time
		interval period.Interval
		want     []day
	}{
		"all": {path, time.Time{}, period.Interval{}, []day{
			{0, 2, 3, noon.Add(6 * time.Hour)}, {1, 1, 8, midnight.AddDate(0, 0, 2).Add(-time.Microsecond)}, {2, 1, 4, midnight.AddDate(0, 0, 2)}}},
		"from within a day": {path, midnight, period.Interval{From: from, To: midnight.AddDate(0, 0, 2)}, []day{
			{0, 1, 2, noon.Add(6 * time.Hour)}, {1, 1, 8, midnight.AddDate(0, 0, 2).Add(-time.Microsecond)}}},
		"a day before": {path, midnight, period.Interval{From: midnight.AddDate(0, 0, 1), To: midnight.AddDate(0, 0, 2)}, []day{
			{0, 0, 0, noon.Add(6 * time.Hour)}, {1, 1, 8, midnight.AddDate(0, 0, 2).Add(-time.Microsecond)}}},
		"since the interval": {path, midnight.AddDate(0, 0, 2), period.Interval{From: midnight.AddDate(0, 0, 2)},
			[]day{{2, 1, 4, midnight.AddDate(0, 0, 2)}}},
		"an unknown account": {"rails/UNKNOWN", time.Time{}, period.Interval{}, nil},
	} {
		var got []day
		err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, noon.AddDate(0, 0, 5).Add(time.Second),
			func(ctx context.Context, view ports.LedgerView) error {
				return view.Days(ctx, ledger.Account{Platform: h.platform, Path: c.path, Currency: "USD"}, c.since, c.interval,
					func(d ports.DayTurnover) error {
						if d.Debits != (ports.Tally{}) {
							t.Errorf("%s: debits %+v", name, d)
						}
						got = append(got, day{int(d.Day.Sub(midnight) / (24 * time.Hour)), int(d.Credits.Count), d.Credits.Sum, d.Last})
						return nil
					})
			})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v\nwant %v", name, got, err, c.want)
		}
	}
}
