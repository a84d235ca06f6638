package ledger_test

import (
	"strings"
	"testing"

	"causeway/ledger"
)

func TestOpeningBalances_CheckFindsOtherEntries(t *testing.T) {
	t.Parallel()
	// A posting that is not between equity/brought-forward and other accounts, in one currency and with the derived
	// id, is not one of opening balances.
	platform := header(1).Platform
	valid := func() ledger.Posting {
		h := ledger.Header{ID: ledger.OpeningBalancesID(platform, "USD", 1), Platform: platform, Effective: header(1).Effective}
		return ledger.OpeningBalances(h, "USD", []ledger.OpeningBalance{{"rails/RTP", 5}, {"income/fees", -5}, {ledger.EquityBroughtForward, 0}})
	}
	if err := valid().CheckOpeningBalances(1); err != nil || valid().Validate() != nil {
		t.Fatalf("valid: %v, %v", err, valid().Validate())
	}
	for want, damage := range map[string]func(*ledger.Posting){
		"number 1 in USD":     func(*ledger.Posting) {}, // checked as the first
		"is not between":      func(p *ledger.Posting) { p.Entries[0].Credit = ledger.IncomeFees },
		"is in EUR":           func(p *ledger.Posting) { p.Entries[1].Currency = "EUR" },
		"its id is not that ": func(p *ledger.Posting) { p.ID = header(1).ID },
	} {
		p, nth := valid(), 1
		if want == "number 1 in USD" {
			nth = 0
		}
		damage(&p)
		if err := p.CheckOpeningBalances(nth); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestValidate_OpeningBalancesMayHaveManyEntries(t *testing.T) {
	t.Parallel()
	// Opening balances and their reversal may have as many entries as a platform has customers, up to a limit that
	// an entry number can hold; other postings may not.
	many := func(kind ledger.Kind, n int) ledger.Posting {
		p := ledger.Reverse(ledger.Posting{}, header(1).ID, header(1).Effective, "")
		p.Platform, p.Kind = header(1).Platform, kind
		for range n {
			p.Entries = append(p.Entries, ledger.Entry{"rails/RTP", ledger.EquityBroughtForward, "USD", 1})
		}
		if kind == ledger.KindReversal {
			p.Reverses = ledger.OpeningBalancesID(p.Platform, "USD", 0)
		}
		return p
	}
	for _, c := range []struct {
		kind  ledger.Kind
		n     int
		valid bool
	}{
		{ledger.KindOpeningBalances, ledger.MaxOpeningBalances, true}, {ledger.KindOpeningBalances, ledger.MaxOpeningBalances + 1, false},
		{ledger.KindReversal, ledger.MaxOpeningBalances, true},
		{ledger.KindReversal, ledger.MaxOpeningBalances + 1, false}, {ledger.KindAdjustment, ledger.MaxEntries, true},
		{ledger.KindAdjustment, ledger.MaxEntries + 1, false},
	} {
		if err := many(c.kind, c.n).Validate(); (err == nil) != c.valid {
			t.Errorf("%s with %d entries: %v", c.kind, c.n, err)
		}
	}
	if ledger.MaxOpeningBalances > 1<<15-1 {
		t.Error("an entry number does not fit into a smallint")
	}
}
