package ledgerdb_test

import (
	"context"
	"slices"
	"testing"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

func TestEntries_Filters(t *testing.T) {
	t.Parallel()
	// Every filter returns exactly its entries, in order, whatever the page size.
	h := newEnv(t)
	alice := newInternal()
	transaction := newTransaction()
	other := newPlatform()
	with := func(p ledger.Posting) ledger.Posting {
		p.Transaction = transaction
		return p
	}
	out := ledger.TransferOut(h.newHeader(), ledger.OutgoingFunds{From: ledger.CustomerAccount(alice), Amount: usd(10), Fees: 1})
	postings := []ledger.Posting{
		h.deposit(alice, 100), with(out), h.deposit(newInternal(), 5), with(ledger.Delivered(h.newHeader(), ledger.Rail("ACH"), usd(10))),
		ledger.Converted(h.newHeader(), ledger.Conversion{From: ledger.CustomerAccount(alice), To: ledger.TransitPayouts, Sent: usd(50),
			Received: btc(9)}),
		h.deposit(alice, 1),
	}
	h.mustPost(postings...)
	h.mustPost(ledger.JITReceived(newHeaderFor(other), ledger.Rail("ACH"), usd(77)))

	type place struct {
		seq int64
		n   int
	}
	for name, c := range map[string]struct {
		filter ports.EntryFilter
		want   []place
	}{
		"platform":       {ports.EntryFilter{}, []place{{1, 1}, {2, 1}, {2, 2}, {3, 1}, {4, 1}, {5, 1}, {5, 2}, {6, 1}}},
		"other platform": {ports.EntryFilter{Platform: other}, []place{{1, 1}}},
		"account": {ports.EntryFilter{Path: ledger.CustomerAccount(alice), Currency: money.USD},
			[]place{{1, 1}, {2, 1}, {2, 2}, {5, 1}, {6, 1}}},
		"both sides":     {ports.EntryFilter{Path: ledger.TransitPayouts, Currency: money.USD}, []place{{2, 1}, {4, 1}}},
		"other currency": {ports.EntryFilter{Path: ledger.TransitPayouts, Currency: money.BTC}, []place{{5, 2}}},
		"unused account": {ports.EntryFilter{Path: ledger.TransitRefunds, Currency: money.BTC}, nil},
		"transaction":    {ports.EntryFilter{Transaction: transaction}, []place{{2, 1}, {2, 2}, {4, 1}}},
		"posting":        {ports.EntryFilter{Posting: postings[4].ID}, []place{{5, 1}, {5, 2}}},
		"account in transaction": {ports.EntryFilter{Transaction: transaction, Path: ledger.CustomerAccount(alice), Currency: money.USD},
			[]place{{2, 1}, {2, 2}}},
		"posting of another transaction": {ports.EntryFilter{Transaction: newTransaction(), Posting: out.ID}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{0, 1, 2, 3, 1000} {
				filter := c.filter
				if filter.Platform.IsZero() {
					filter.Platform = h.platform
				}
				filter.Limit = limit
				var got []place
				for more := true; more; {
					page, err := h.reader().Entries(context.Background(), filter)
					if err != nil {
						t.Fatal(err)
					}
					if more = page.More; more && len(page.Entries) != limit {
						t.Fatalf("a page of %d with more to come, want %d", len(page.Entries), limit)
					}
					for _, e := range page.Entries {
						got = append(got, place{e.Position.Seq, e.Position.N})
						filter.After = e.Position
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("pages of %d: %v, want %v", limit, got, c.want)
				}
			}
		})
	}

	for name, filter := range map[string]ports.EntryFilter{
		"no platform":               {},
		"a path without a currency": {Platform: h.platform, Path: ledger.FundingJIT},
	} {
		if _, err := h.reader().Entries(context.Background(), filter); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestReader_PostingAndTrialBalance(t *testing.T) {
	t.Parallel()
	// A posting is read as it was posted. The trial balance has every account in order, and
	// its debits equal its credits.
	h := newEnv(t)
	alice, ctx := newInternal(), context.Background()
	p := ledger.Converted(h.newHeader(), ledger.Conversion{From: ledger.FundingJIT, To: ledger.CustomerAccount(alice), Sent: usd(50),
		Fees: 2, Received: btc(9)})
	h.mustPost(p, ledger.JITReceived(h.newHeader(), ledger.Rail("ACH"), usd(50)))
	h.mustPost(ledger.JITReceived(newHeaderFor(newPlatform()), ledger.Rail("ACH"), usd(77)))

	got, found, err := h.reader().Posting(ctx, h.platform, p.ID)
	if err != nil || !found || !got.Equal(p) {
		t.Errorf("got %+v, %t, %v; want %+v", got, found, err, p)
	}
	if _, found, err = h.reader().Posting(ctx, h.platform, newID()); found || err != nil {
		t.Errorf("a posting that does not exist: %t, %v", found, err)
	}

	type line struct {
		path     string
		currency money.Currency
		class    ledger.Class
		balance  int64
	}
	var lines []line
	err = h.reader().TrialBalance(ctx, h.platform, func(l ports.AccountBalance) error {
		lines = append(lines, line{l.Account.Path, l.Account.Currency, l.Class, l.Balance})
		return nil
	})
	want := []line{
		{ledger.CustomerAccount(alice), money.BTC, ledger.Liability, 9},
		{ledger.FXPosition, money.BTC, ledger.Trading, -9},
		{ledger.FundingJIT, money.USD, ledger.Liability, 0},
		{ledger.FXPosition, money.USD, ledger.Trading, 48},
		{ledger.IncomeFees, money.USD, ledger.Income, 2},
		{ledger.Rail("ACH"), money.USD, ledger.Asset, 50},
	}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("got %v, %v\nwant %v", lines, err, want)
	}
	all := 0
	if err := h.reader().TrialBalance(ctx, ident.Platform{}, func(ports.AccountBalance) error { all++; return nil }); err != nil || all != 8 {
		t.Errorf("%d accounts on all platforms, %v; want 8", all, err)
	}
}
