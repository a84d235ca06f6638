package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
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
	*testing.T
	store   *postgres.DB
	options history.Options
}

func newEnv(t *testing.T, entries, months int) *env {
	t.Helper()
	url, generator := pgtest.SimulateClock(t, pgtest.New(t)), ids.New()
	store, err := postgres.Open(t.Context(), postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 4, ForReports: true,
		Clock: portstest.NewFakeClock(endTime), IDs: generator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	platform := portstest.SandboxPlatform(t, generator, endTime)
	portstest.MustDo(t, store, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, platform) })
	return &env{t, store, history.Options{URL: url, Platform: platform.ID, Entries: entries, Months: months, Until: endTime, Seed: 7}}
}

func (h *env) write() history.Result {
	h.Helper()
	result, err := history.Write(h.Context(), h.options)
	if err != nil {
		h.Fatal(err)
	}
	return result
}

// postings returns all postings, the oldest first.
func (h *env) postings() (all []ports.RecordedPosting) {
	h.Helper()
	filter := ports.PostingFilter{Platform: h.options.Platform, Limit: 1000, Ascending: true}
	for {
		page, err := h.store.Finance().Postings(h.Context(), filter)
		if err != nil {
			h.Fatal(err)
		}
		if all = append(all, page.Postings...); !page.More {
			return all
		}
		filter.After = all[len(all)-1].Seq
	}
}

func (h *env) checker() *audit.Checker {
	return audit.NewChecker(h.store, nil, audit.Since{})
}

// checkLedger runs the ledger check, the states of payments included.
func (h *env) checkLedger() {
	h.Helper()
	report, err := h.checker().Check(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	for _, f := range report.Findings {
		h.Errorf("%s: %s", f.Rule, f.Message)
	}
	for _, r := range report.Rules {
		if r.Rule == audit.RuleCurrency && r.Checked != int64(h.options.Entries) {
			h.Errorf("%d entries", r.Checked)
		}
		if r.Rule == audit.RuleBalanceSnapshots && r.Checked == 0 && h.options.Entries > 5_000 {
			h.Error("no balance snapshots")
		}
	}
}

func TestWrite(t *testing.T) {
	// The ledger has the exact number of entries, in every month and of every kind, and the
	// ledger check passes.
	t.Parallel()
	for _, c := range []struct{ entries, months int }{
		{history.MinEntries, 1}, {6_001, 12}, {history.MinEntries, history.MaxMonths}, {20_000, 2},
	} {
		t.Run(fmt.Sprintf("%d entries, %d months", c.entries, c.months), func(t *testing.T) {
			t.Parallel()
			h := newEnv(t, c.entries, c.months)
			result := h.write()

			h.checkLedger()
			if result.From != period.MonthOf(endTime).Start().AddDate(0, -c.months, 0) {
				t.Errorf("wrote from %s", result.From)
			}
			months, kinds, payments := map[period.Month]int{}, map[ledger.Kind]int{}, map[ident.Transaction]bool{{}: true}
			early, late, last := 0, 0, result.From
			all := h.postings()
			for _, p := range all {
				months[period.MonthOf(p.Recorded)]++
				kinds[p.Kind]++
				payments[p.Transaction] = true
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
			if len(all) != result.Postings || len(payments)-1 != result.Payments || len(months) != c.months+1 {
				t.Errorf("%d postings of %d payments in %v; want %d of %d", len(all), len(payments)-1, months, result.Postings, result.Payments)
			}
			want := []ledger.Kind{ledger.KindDelivered, ledger.KindDeposit, ledger.KindTransferIn, ledger.KindTransferOut, ledger.KindFee}
			if c.entries >= 20_000 {
				want = append(want, ledger.KindReversal, ledger.KindReturned, ledger.KindRefundPaid)
			}
			for _, kind := range want {
				if kinds[kind] == 0 {
					t.Errorf("no %s: %v", kind, kinds)
				}
			}
			if kinds[ledger.KindJITReceived]*4 < len(all) || late == 0 || early >= late || c.entries >= 20_000 && early == 0 {
				t.Errorf("%v, %d late, %d early", kinds, late, early)
			}
		})
	}
}

func TestWrite_WhileTheLogIsSealed(t *testing.T) {
	// A running service seals what is written, at any commit: nothing of it changes later, so that the books verify.
	t.Parallel()
	h := newEnv(t, 3_000, 1)
	box, err := encryption.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	log, clock := h.store.LedgerLog(), portstest.NewFakeClock(endTime)
	sealer := audit.NewLog(audit.LogConfig{Log: log, Evidence: h.store.EvidenceLog(), Signer: checkpoints.NewKeyring(log, box, clock,
		ids.New()), Clock: clock})
	seal := func() error { return errors.Join(sealer.SealDue(t.Context()), sealer.SealEvidenceDue(t.Context())) }
	written, sealed := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-written:
				sealed <- seal()
				return
			default:
				if err := seal(); err != nil {
					sealed <- err
					return
				}
			}
		}
	}()

	h.write()
	close(written)

	if err := <-sealed; err != nil {
		t.Fatal(err)
	}
	report, err := h.checker().Verify(t.Context(), audit.VerifyOptions{SealedBefore: endTime})
	if err != nil || !report.Clean() {
		t.Errorf("%d findings, the first of %v; %v", len(report.Findings), report.Findings[:min(1, len(report.Findings))], err)
	}
}

func TestWrite_SameSeedWritesSamePostings(t *testing.T) {
	// The same seed writes the same postings, except ids, and another seed others.
	t.Parallel()
	var written [3][]string
	for i := range written {
		h := newEnv(t, 2_000, 1)
		h.options.Seed = uint64(i / 2)
		h.write()
		for _, p := range h.postings() {
			for _, e := range p.Entries {
				debit, _, _ := strings.Cut(e.Debit, ":")
				credit, _, _ := strings.Cut(e.Credit, ":")
				written[i] = append(written[i], fmt.Sprint(p.Kind, p.Effective, debit, credit, e.Currency, e.Amount))
			}
		}
	}
	if !slices.Equal(written[0], written[1]) || slices.Equal(written[0], written[2]) {
		t.Error("the same seed writes other postings, or another seed the same")
	}
}

func TestWrite_NumberOfCustomers(t *testing.T) {
	// As many customers as asked for are created, else 300.
	t.Parallel()
	for asked, want := range map[int]int{0: 300, 7: 7} {
		h := newEnv(t, history.MinEntries, 1)
		h.options.Customers = asked
		h.write()

		var customers int
		if err := h.store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM customers").Scan(&customers); err != nil || customers != want {
			t.Errorf("%d asked for: %d customers, %v", asked, customers, err)
		}
	}
}

func TestWrite_InvalidOptions(t *testing.T) {
	// Invalid options are rejected before anything is written.
	t.Parallel()
	h := newEnv(t, history.MinEntries, 1)
	right := h.options
	for want, change := range map[string]func(*history.Options){
		"no platform":    func(o *history.Options) { o.Platform = ident.NewPlatform(ids.New().New, endTime) },
		"not 999":        func(o *history.Options) { o.Entries-- },
		"entries must":   func(o *history.Options) { o.Entries = history.MaxEntries + 1 },
		"not 0":          func(o *history.Options) { o.Months = 0 },
		"customers must": func(o *history.Options) { o.Customers = history.MaxCustomers + 1 },
		"not 121":        func(o *history.Options) { o.Months = history.MaxMonths + 1 },
	} {
		o := right
		change(&o)
		if _, err := history.Write(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	h.write()
	if _, err := history.Write(t.Context(), right); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second time: %v", err)
	}
	h.checkLedger()
}
