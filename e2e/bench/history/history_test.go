package history_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	ledgerdb "causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/e2e/bench/history"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

var endTime = time.Date(2026, 3, 14, 12, 30, 0, 0, time.UTC)

// env is a database with one platform.
type env struct {
	url      string
	store    *postgres.DB
	platform ident.Platform
}

func newEnv(t *testing.T) *env {
	t.Helper()
	h := &env{url: pgtest.SimulateClock(t, pgtest.New(t))}
	result := ids.New()
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: h.url, AllPlatforms: true, MaxConnections: 4, ForReports: true, Clock: portstest.NewFakeClock(endTime), IDs: result})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	founded := portstest.SandboxPlatform(t, result, endTime)
	h.platform = founded.ID
	portstest.MustDo(t, h.store, func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, founded) })
	return h
}

func (h *env) options(entries, months int) history.Options {
	return history.Options{URL: h.url, Platform: h.platform, Entries: entries, Months: months, Until: endTime, Seed: 7}
}

func (h *env) write(t *testing.T, o history.Options) history.Result {
	t.Helper()
	result, err := history.Write(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// postings returns all postings, the oldest first.
func (h *env) postings(t *testing.T) (all []ports.RecordedPosting) {
	t.Helper()
	filter := ports.PostingFilter{Platform: h.platform, Limit: 1000, Ascending: true}
	for {
		page, err := h.store.Finance().Postings(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Postings...)
		if !page.More {
			return all
		}
		filter.After = all[len(all)-1].Seq
	}
}

func TestWrite(t *testing.T) {
	// The ledger has the exact number of entries, in every month and of every kind, and the
	// ledger check passes.
	t.Parallel()
	for _, c := range []struct {
		name            string
		entries, months int
	}{
		{"one month, fewest entries", history.MinEntries, 1},
		{"one year, few a day", 6_001, 12},
		{"ten years, fewest entries", history.MinEntries, history.MaxMonths},
		{"two months, many", 20_000, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newEnv(t)
			result := h.write(t, h.options(c.entries, c.months))

			h.checkLedger(t, c.entries)
			if result.From != period.MonthOf(endTime).Start().AddDate(0, -c.months, 0) {
				t.Errorf("wrote from %s", result.From)
			}
			months, kinds := map[period.Month]int{}, map[ledger.Kind]int{}
			early, late, payments := 0, 0, map[ident.Transaction]bool{}
			last := result.From
			all := h.postings(t)
			for _, p := range all {
				months[period.MonthOf(p.Recorded)]++
				kinds[p.Kind]++
				if !p.Transaction.IsZero() {
					payments[p.Transaction] = true
				}
				if apart := p.Recorded.Sub(p.Effective); apart > time.Hour {
					late++
				} else if apart < -time.Hour/2 {
					early++
				}
				if p.Recorded.Before(last) || p.Recorded.After(endTime) || p.Effective.Before(result.From) || p.Effective.After(endTime) {
					t.Fatalf("posting %d is recorded %s and effective %s", p.Seq, p.Recorded, p.Effective)
				}
				last = p.Recorded
			}
			if len(all) != result.Postings || len(payments) != result.Payments {
				t.Errorf("%d postings of %d payments; want %d of %d", len(all), len(payments), result.Postings, result.Payments)
			}
			if len(months) != c.months+1 {
				t.Errorf("recorded in %v", months)
			}
			if kinds[ledger.KindJITReceived]*4 < len(all) || late == 0 || early >= late {
				t.Errorf("%v, %d late, %d early", kinds, late, early)
			}
			for _, kind := range []ledger.Kind{ledger.KindDelivered, ledger.KindDeposit, ledger.KindTransferIn, ledger.KindTransferOut, ledger.KindFee} {
				if kinds[kind] == 0 {
					t.Errorf("no %s: %v", kind, kinds)
				}
			}
			if c.entries >= 20_000 && (kinds[ledger.KindReversal] == 0 || kinds[ledger.KindReturned] == 0 || kinds[ledger.KindRefundPaid] == 0 || early == 0) {
				t.Errorf("%v, %d early", kinds, early)
			}
		})
	}
}

// checkLedger runs the ledger check, the states of payments included.
func (h *env) checkLedger(t *testing.T, entries int) {
	t.Helper()
	ledgerStore := ledgerdb.New()
	report, err := audit.NewChecker(ledgerdb.NewReader(ledgerStore, h.store.Pool()), ledgerdb.NewAudit(ledgerStore, h.store.Pool()), h.store.CheckTransactionStates).Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s: %s", f.Rule, f.Message)
	}
	for _, r := range report.Rules {
		if r.Rule == audit.RuleCurrency && r.Checked != int64(entries) {
			t.Errorf("%d entries", r.Checked)
		}
		if r.Rule == audit.RuleBalanceSnapshots && r.Checked == 0 && entries > 5_000 {
			t.Error("no balance snapshots")
		}
	}
}

func TestWrite_SameSeedWritesSamePostings(t *testing.T) {
	// The same seed writes the same postings, except ids, and another seed others.
	t.Parallel()
	var written [3][]string
	for i := range written {
		h := newEnv(t)
		o := h.options(2_000, 1)
		o.Seed = uint64(i / 2)
		h.write(t, o)
		written[i] = h.amountLines(t)
	}
	if !slices.Equal(written[0], written[1]) {
		t.Error("the same seed writes other postings")
	}
	if slices.Equal(written[0], written[2]) {
		t.Error("another seed writes the same postings")
	}
}

// amountLines returns the postings without what differs in every run.
func (h *env) amountLines(t *testing.T) (all []string) {
	t.Helper()
	for _, p := range h.postings(t) {
		for _, e := range p.Entries {
			debit, _, _ := strings.Cut(e.Debit, ":")
			credit, _, _ := strings.Cut(e.Credit, ":")
			all = append(all, fmt.Sprint(p.Kind, p.Effective, debit, credit, e.Currency, e.Amount))
		}
	}
	return all
}

func TestWrite_InvalidOptions(t *testing.T) {
	// Invalid options are rejected before anything is written.
	t.Parallel()
	h := newEnv(t)
	right := h.options(history.MinEntries, 1)
	for name, c := range map[string]struct {
		change func(*history.Options)
		want   string
	}{
		"no platform":      {func(o *history.Options) { o.Platform = ident.Platform{} }, "no platform"},
		"another platform": {func(o *history.Options) { o.Platform = ident.NewPlatform(ids.New().New, endTime) }, "no platform"},
		"too few entries":  {func(o *history.Options) { o.Entries-- }, "not 999"},
		"too many entries": {func(o *history.Options) { o.Entries = history.MaxEntries + 1 }, "entries must"},
		"no month":         {func(o *history.Options) { o.Months = 0 }, "not 0"},
		"too many months":  {func(o *history.Options) { o.Months = history.MaxMonths + 1 }, "not 121"},
	} {
		o := right
		c.change(&o)
		if _, err := history.Write(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.write(t, right)
	if _, err := history.Write(t.Context(), right); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second time: %v", err)
	}
	h.checkLedger(t, right.Entries)
}
