package ledgerdb_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// history is a platform with some thousand postings at regular intervals, before and after
// balance snapshots, some of them backdated or effective later.
type history struct {
	*env
	interval   time.Duration
	alice, bob ident.InternalAccount // who has much on the account, and little
	paid       ident.Transaction     // which has many of the postings with the memo wages
	posted     []recordedPosting
}

type recordedPosting struct {
	ledger.Posting
	seq int64
	at  time.Time
}

func newHistory(t testing.TB, pace time.Duration) *history {
	h := &history{env: newEnv(t), interval: pace, alice: newInternal(), bob: newInternal(), paid: newTransaction()}
	alice, bob := h.alice, h.bob
	drawn := rapid.Custom(func(t *rapid.T) ledger.Posting {
		at := noon.Add(time.Duration(len(h.posted)) * pace)
		var p ledger.Posting
		switch rapid.IntRange(0, 30).Draw(t, "kind") {
		case 0:
			p = h.deposit(bob, 9)
		case 1:
			p = ledger.UnmatchedReceived(h.newHeader(), ledger.Rail("SEPA"), money.Amount{Minor: 70, Currency: "EUR"})
		case 2, 3, 4, 5:
			p = ledger.Converted(h.newHeader(), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(50),
				Fees: 2, Received: btc(9)})
		case 6:
			p = ledger.Reverse(ledger.JITReceived(h.newHeader(), ledger.Rail("RTP"), usd(5)), newID(), noon, "")
			p.Kind, p.Reverses = ledger.KindReturned, [16]byte{}
		default:
			p = h.deposit(alice, rapid.Int64Range(1, 100).Draw(t, "amount"))
		}
		p.Memo = []string{"", "rent", "wages"}[rapid.IntRange(0, 2).Draw(t, "memo")]
		if p.Memo == "wages" && p.Kind == ledger.KindConverted {
			p.Transaction = h.paid
		}
		p.Effective = at
		switch rapid.IntRange(0, 40).Draw(t, "dated") {
		case 0:
			p.Effective = noon.Add(time.Duration(rapid.IntRange(-100, 3000).Draw(t, "effective")) * pace)
		case 1, 2, 3, 4, 5, 6, 7, 8:
			p.Effective = at.Add(time.Duration(rapid.IntRange(-12, 12).Draw(t, "off")) * time.Second)
		}
		return p
	})
	for i := range 2300 {
		at := noon.Add(time.Duration(i) * pace)
		p := drawn.Example(i)
		if i%500 == 499 {
			p = ledger.Reverse(h.posted[i-3].Posting, newID(), p.Effective, "undone")
			if h.posted[i-3].Entries[0].Credit == ledger.CustomerAccount(alice) {
				p = h.deposit(alice, 1)
				p.Effective = at
			}
		}
		if err := h.post(at, p); err != nil {
			t.Fatal(err)
		}
		h.posted = append(h.posted, recordedPosting{p, int64(i + 1), at})
		if i == 1099 || i == 2199 {
			h.advanceSnapshots()
		}
	}
	other := newHeaderFor(newPlatform())
	h.mustPost(ledger.JITReceived(other, ledger.Rail("RTP"), usd(77)))
	return h
}

// timeBy returns the effective or the recorded time of a posting.
func (r recordedPosting) timeBy(by ports.TimeKind) time.Time {
	if by == ports.ByEffective {
		return r.Effective
	}
	return r.at
}

// turnovers returns the plain sums of the postings up to a cutoff, by account.
func (h *history) turnovers(cut ports.Cutoff) map[ledger.Account]*[2]int64 {
	sums := map[ledger.Account]*[2]int64{}
	for _, r := range h.posted {
		if !cut.Moment.IsZero() && r.timeBy(cut.By).After(cut.Moment) {
			continue
		}
		for _, e := range r.Entries {
			for side, path := range []string{e.Debit, e.Credit} {
				a := h.account(path, e.Currency)
				if sums[a] == nil {
					sums[a] = &[2]int64{}
				}
				sums[a][side] += e.Amount
			}
		}
	}
	return sums
}

func (h *history) sampleTimes() []time.Time {
	return []time.Time{noon.Add(-time.Hour), noon, noon.Add(777 * h.interval), noon.Add(1100 * h.interval), noon.Add(2250 * h.interval),
		noon.Add(9000 * h.interval)}
}

func TestReader_MatchesPlainSums(t *testing.T) {
	t.Parallel()
	// All reports equal plain sums over the postings, whatever part of them is in snapshots and
	// in which months, on pages of any size, in both orders.
	for name, pace := range map[string]time.Duration{"an hour": time.Second, "months": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, pace)
			t.Run("turnovers", h.testTurnovers)
			t.Run("accounts", h.testAccounts)
			t.Run("entries", h.testEntries)
			t.Run("postings", h.testPostings)
		})
	}
}

func (h *history) testTurnovers(t *testing.T) {
	var cuts []ports.Cutoff
	for _, m := range append(h.sampleTimes(), time.Time{}) {
		cuts = append(cuts, ports.Cutoff{By: ports.ByRecorded, Moment: m}, ports.Cutoff{By: ports.ByEffective, Moment: m})
	}
	for _, class := range []ledger.Class{"", ledger.Income} {
		var last ledger.Account
		seen := 0
		err := h.reader().Turnovers(t.Context(), h.platform, class, cuts, func(a ports.AccountTurnovers) error {
			if seen++; seen > 1 && cmp.Or(strings.Compare(string(last.Currency), string(a.Account.Currency)),
				strings.Compare(last.Path, a.Account.Path)) >= 0 {
				t.Errorf("%s comes after %s", a.Account, last)
			}
			last = a.Account
			for i, cut := range cuts {
				want := h.turnovers(cut)[a.Account]
				if want == nil {
					want = &[2]int64{}
				}
				got := a.Turnovers[i]
				if !got.Debits.Equal(money.TotalOf(want[0])) || !got.Credits.Equal(money.TotalOf(want[1])) {
					t.Errorf("%s by %d at %s: debits %s, credits %s; want %v", a.Account, cut.By, cut.Moment, got.Debits, got.Credits, *want)
				}
			}
			return nil
		})
		want := len(h.turnovers(ports.Cutoff{}))
		if class == ledger.Income {
			want = 1
		}
		if err != nil || seen != want {
			t.Errorf("class %q: %d accounts, %v; want %d", class, seen, err, want)
		}
	}
}

func (h *history) testAccounts(t *testing.T) {
	all := h.turnovers(ports.Cutoff{})
	for name, c := range map[string]struct {
		filter ports.LedgerAccountFilter
		want   func(ledger.Account) bool
	}{
		"all": {ports.LedgerAccountFilter{}, func(ledger.Account) bool { return true }},
		"prefix": {ports.LedgerAccountFilter{Prefix: "customers/"},
			func(a ledger.Account) bool { return strings.HasPrefix(a.Path, "customers/") }},
		"currency":  {ports.LedgerAccountFilter{Currency: "BTC"}, func(a ledger.Account) bool { return a.Currency == "BTC" }},
		"none":      {ports.LedgerAccountFilter{Prefix: "customers/~"}, func(ledger.Account) bool { return false }},
		"last byte": {ports.LedgerAccountFilter{Prefix: "\x7f"}, func(ledger.Account) bool { return false }},
	} {
		var want []string
		for a := range all {
			if c.want(a) {
				want = append(want, a.Path+" "+string(a.Currency))
			}
		}
		slices.Sort(want)
		for _, limit := range []int{1, 3, 100} {
			var got []string
			f := c.filter
			f.Limit = limit
			for more := true; more; {
				page, err := h.reader().LedgerAccounts(t.Context(), h.platform, f)
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range page.Accounts {
					got = append(got, a.Account.Path+" "+string(a.Account.Currency))
					f.AfterPath, f.AfterCurrency = a.Account.Path, a.Account.Currency
					h.wantAccountBalance(t, a, all[a.Account])
				}
				more = page.More
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, pages of %d: %v, want %v", name, limit, got, want)
			}
		}
	}
	for _, at := range append(h.sampleTimes(), time.Time{}) {
		for _, by := range []ports.TimeKind{ports.ByRecorded, ports.ByEffective} {
			cut := ports.Cutoff{By: by, Moment: at}
			sums := h.turnovers(cut)
			accounts, err := h.reader().AccountsAtCutoff(t.Context(), h.platform, ledger.FXPosition, "", cut)
			if err != nil || len(accounts) != 2 || accounts[0].Account.Currency != "BTC" {
				t.Fatalf("%+v, %v", accounts, err)
			}
			for _, owner := range []ident.InternalAccount{h.alice, h.bob} { // accounts that may not be overdrawn
				found, err := h.reader().AccountsAtCutoff(t.Context(), h.platform, ledger.CustomerAccount(owner), "USD", cut)
				if err != nil || len(found) != 1 {
					t.Fatalf("%+v, %v", found, err)
				}
				accounts = append(accounts, found...)
			}
			for _, a := range accounts {
				h.wantAccountBalance(t, a, sums[a.Account])
			}
		}
	}
	if accounts, err := h.reader().AccountsAtCutoff(t.Context(), h.platform, ledger.ExpenseRails, "", ports.Cutoff{}); err != nil ||
		len(accounts) > 0 {
		t.Errorf("an account never used: %v, %v", accounts, err)
	}
}

func (h *history) wantAccountBalance(t *testing.T, a ports.LedgerAccount, turned *[2]int64) {
	t.Helper()
	if turned == nil {
		turned = &[2]int64{}
	}
	want := turned[1] - turned[0]
	if a.Class.IsDebitNormal() {
		want = -want
	}
	if !a.Balance.Equal(money.TotalOf(want)) {
		t.Errorf("%s: balance %s, want %d", a.Account, a.Balance, want)
	}
}

func (h *history) testEntries(t *testing.T) {
	type line struct {
		seq     int64
		n       int
		balance int64
	}
	moments := h.sampleTimes()
	spans := []period.Interval{{}, {From: moments[2]}, {To: moments[2]}, {From: moments[2], To: moments[4]},
		{From: moments[3], To: moments[3].Add(9 * h.interval)}, {From: moments[5]}}
	for _, a := range []ledger.Account{h.account(ledger.FundingJIT, "USD"), h.account(ledger.FXPosition, "USD"),
		h.account(ledger.Rail("SEPA"), "EUR"),
		h.account(ledger.CustomerAccount(h.alice), "USD"), h.account(ledger.CustomerAccount(h.bob), "USD")} {
		for _, by := range []ports.TimeKind{ports.ByRecorded, ports.ByEffective} {
			for _, span := range spans {
				line0, err := ledger.FindChartLine(a.Path)
				if err != nil {
					t.Fatal(err)
				}
				var want []line
				var balance int64
				for _, r := range h.posted {
					for i, e := range r.Entries {
						if e.Currency != a.Currency || e.Debit != a.Path && e.Credit != a.Path {
							continue
						}
						if (e.Debit == a.Path) == line0.Class.IsDebitNormal() {
							balance += e.Amount
						} else {
							balance -= e.Amount
						}
						if span.Contains(r.timeBy(by)) {
							want = append(want, line{r.seq, i + 1, balance})
						}
					}
				}
				for _, ascending := range []bool{true, false} {
					for _, limit := range []int{max(7, len(want)/40), 1000} { // some dozens of pages, or one
						f := ports.AccountEntryFilter{Account: a, By: by, Interval: span, Limit: limit, Ascending: ascending}
						var got []line
						for more := true; more; {
							page, found, err := h.reader().AccountEntries(t.Context(), f)
							if err != nil || !found {
								t.Fatal(found, err)
							}
							for _, e := range page.Entries {
								minor, _ := e.Balance.Minor()
								got = append(got, line{e.Position.Seq, e.Position.N, minor})
								f.After = e.Position
							}
							more = page.More
						}
						if !ascending {
							slices.Reverse(got)
						}
						if !slices.Equal(got, want) {
							t.Errorf("%s by %d in %v, ascending %t, pages of %d: %d entries, want %d: %s", a, by, span, ascending, limit, len(got), len(want),
								firstDifference(got, want))
						}
					}
				}
			}
		}
	}
	if _, found, err := h.reader().AccountEntries(t.Context(), ports.AccountEntryFilter{Account: h.account(ledger.Rail("RTP"), "GBP"),
		Limit: 5}); found || err != nil {
		t.Errorf("an account never used: %t, %v", found, err)
	}
}

func firstDifference[T comparable](got, want []T) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("at %d %v, want %v", i, got[i], want[i])
		}
	}
	return "one is longer"
}

func (h *history) testPostings(t *testing.T) {
	moments := h.sampleTimes()
	for name, c := range map[string]struct {
		filter ports.PostingFilter
		want   func(recordedPosting) bool
	}{
		"all":           {ports.PostingFilter{}, func(recordedPosting) bool { return true }},
		"frequent kind": {ports.PostingFilter{Kind: ledger.KindDeposit}, func(r recordedPosting) bool { return r.Kind == ledger.KindDeposit }},
		"rare kind": {ports.PostingFilter{Kind: ledger.KindUnmatchedReceived},
			func(r recordedPosting) bool { return r.Kind == ledger.KindUnmatchedReceived }},
		"memo": {ports.PostingFilter{Memos: []string{"rent"}}, func(r recordedPosting) bool { return r.Memo == "rent" }},
		"memos": {ports.PostingFilter{Memos: []string{"rent", "wages"}}, func(r recordedPosting) bool {
			return r.Memo == "rent" || r.Memo == "wages" && r.Transaction.IsZero()
		}},
		"of a transaction": {ports.PostingFilter{Transaction: h.paid}, func(r recordedPosting) bool { return r.Transaction == h.paid }},
		"memo, or of a transaction": {ports.PostingFilter{Memos: []string{"rent"}, OrOf: h.paid},
			func(r recordedPosting) bool { return r.Memo == "rent" || r.Transaction == h.paid }},
		"memo and kind": {ports.PostingFilter{Memos: []string{"rent"}, Kind: ledger.KindReturned}, func(r recordedPosting) bool {
			return r.Memo == "rent" &&
				r.Kind == ledger.KindReturned
		}},
		"recorded": {ports.PostingFilter{Interval: period.Interval{From: moments[2], To: moments[4]}},
			func(r recordedPosting) bool { return period.Interval{From: moments[2], To: moments[4]}.Contains(r.at) }},
		"effective": {ports.PostingFilter{By: ports.ByEffective, Interval: period.Interval{From: moments[2], To: moments[4]}},
			func(r recordedPosting) bool {
				return period.Interval{From: moments[2], To: moments[4]}.Contains(r.Effective)
			}},
		"effective around": {ports.PostingFilter{By: ports.ByEffective, Interval: period.Interval{From: moments[3],
			To: moments[3].Add(9 * h.interval)}},
			func(r recordedPosting) bool {
				return period.Interval{From: moments[3], To: moments[3].Add(9 * h.interval)}.Contains(r.Effective)
			}},
		"effective early": {ports.PostingFilter{By: ports.ByEffective, Interval: period.Interval{To: noon}},
			func(r recordedPosting) bool { return r.Effective.Before(noon) }},
		"another transaction": {ports.PostingFilter{Transaction: newTransaction()}, func(recordedPosting) bool { return false }},
		"another customer":    {ports.PostingFilter{Customer: newCustomer()}, func(recordedPosting) bool { return false }},
	} {
		want := slices.DeleteFunc(slices.Clone(h.posted), func(r recordedPosting) bool { return !c.want(r) })
		for _, ascending := range []bool{true, false} {
			f := c.filter
			f.Platform, f.Ascending, f.Limit = h.platform, ascending, 400
			var got []ports.RecordedPosting
			for more := true; more; {
				page, err := h.reader().Postings(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range page.Postings {
					got = append(got, p)
					f.After = p.Seq
				}
				more = page.More
			}
			if !ascending {
				slices.Reverse(got)
			}
			if !slices.EqualFunc(got, want, func(g ports.RecordedPosting, w recordedPosting) bool {
				return g.Seq == w.seq && g.Recorded.Equal(w.at) && g.Posting.Equal(w.Posting)
			}) {
				t.Errorf("%s, ascending %t: %d postings, want %d", name, ascending, len(got), len(want))
			}
		}
	}
	for _, r := range h.posted {
		if r.Reverses == [16]byte{} {
			continue
		}
		reversal, found, err := h.reader().RecordedPosting(t.Context(), h.platform, r.ID)
		original, _, also := h.reader().RecordedPosting(t.Context(), h.platform, r.Reverses)
		if err != nil || also != nil || !found || original.ReversedBy != r.ID || reversal.Reverses != original.ID ||
			reversal.ReversedBy != [16]byte{} {
			t.Errorf("%+v and %+v, %v, %v", reversal, original, err, also)
		}
		if _, found, err := h.reader().RecordedPosting(t.Context(), newPlatform(), r.ID); found || err != nil {
			t.Errorf("seen by another platform: %v", err)
		}
	}
}

func TestTurnovers_SumsBeyondMaxAmount(t *testing.T) {
	t.Parallel()
	// Sums larger than any single amount are exact.
	h := newEnv(t)
	const most = ledger.MaxAmount
	n := math.MaxInt64/most + 2
	for range n {
		h.mustPost(ledger.JITReceived(h.newHeader(), ledger.Rail("RTP"), usd(most)))
	}
	want := money.Total{}
	for range n {
		want = want.Add(money.TotalOf(most))
	}
	if _, fits := want.Minor(); fits {
		t.Fatal("the sum fits into 64 bits, so the test checks nothing")
	}
	rtp := h.account(ledger.Rail("RTP"), "USD")
	page, _, err := h.reader().AccountEntries(t.Context(), ports.AccountEntryFilter{Account: rtp, Limit: 1})
	if err != nil || !page.Entries[0].Balance.Equal(want) {
		t.Errorf("%+v, %v; want %s", page, err, want)
	}
	for _, cut := range []ports.Cutoff{{}, {Moment: time.Now().Add(time.Hour)}, {By: ports.ByEffective, Moment: time.Now().Add(time.Hour)}} {
		accounts, err := h.reader().AccountsAtCutoff(t.Context(), h.platform, rtp.Path, "USD", cut)
		if err != nil || !accounts[0].Balance.Equal(want) {
			t.Errorf("%+v, %v; want %s", accounts, err, want)
		}
	}
}

func newCustomer() (c ident.Customer) {
	c.SetUUID(newID())
	return c
}

func TestTurnovers_MoreAccountsThanInMemory(t *testing.T) {
	t.Parallel()
	// A report on more accounts than it reads at a time has each of them once and in order, with
	// the corrections for backdated postings.
	const accounts = 11_000
	h := newEnv(t)
	var late ident.InternalAccount
	for first := 1; first <= accounts; first += 1000 {
		batch := make([]ledger.Posting, 1000)
		for i := range batch {
			owner := newInternal()
			batch[i] = h.deposit(owner, int64(first+i))
			if first+i == accounts { // recorded now, effective a day later
				late, batch[i].Effective = owner, noon.AddDate(0, 0, 1)
			}
		}
		h.mustPost(batch...)
	}
	cuts := []ports.Cutoff{{}, {By: ports.ByEffective, Moment: noon.Add(time.Hour)}}

	var total, atCut money.Total
	last, seen := "", 0
	err := h.reader().Turnovers(t.Context(), h.platform, ledger.Liability, cuts, func(a ports.AccountTurnovers) error {
		if seen++; a.Account.Path <= last {
			t.Errorf("%s comes after %s", a.Account.Path, last)
		}
		last = a.Account.Path
		total, atCut = total.Add(a.Turnovers[0].Credits), atCut.Add(a.Turnovers[1].Credits)
		if a.Account.Path == ledger.CustomerAccount(late) && a.Turnovers[1].Credits.Sign() != 0 {
			t.Errorf("%s has %s before it is effective", a.Account.Path, a.Turnovers[1].Credits)
		}
		return nil
	})

	sum := int64(accounts) * (accounts + 1) / 2
	if err != nil || seen != accounts || !total.Equal(money.TotalOf(sum)) || !atCut.Equal(money.TotalOf(sum-accounts)) {
		t.Errorf("%d accounts, %s, %s at the cutoff, %v; want %d, %d, %d", seen, total, atCut, err, accounts, sum, sum-accounts)
	}
}
