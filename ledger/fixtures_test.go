package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

var (
	platform    = must(ident.ParsePlatform("PlatformConfig:01900000-0000-7000-8000-000000000001"))
	transaction = must(ident.ParseTransaction("Transaction:01900000-0000-7000-8000-000000000002"))
	alice       = must(ident.ParseInternalAccount("InternalAccount:01900000-0000-7000-8000-00000000000a"))
	bob         = must(ident.ParseInternalAccount("InternalAccount:01900000-0000-7000-8000-00000000000b"))
	noon        = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func usd(minor int64) money.Amount  { return money.Amount{Minor: minor, Currency: money.USD} }
func btc(minor int64) money.Amount  { return money.Amount{Minor: minor, Currency: money.BTC} }
func usdc(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USDC} }

// header returns a header with the nth id.
func header(n byte) ledger.Header {
	return ledger.Header{ID: postingID(n), Platform: platform, Transaction: transaction, Effective: noon, Memo: "test"}
}

func postingID(n byte) uuid.UUID {
	return uuid.UUID{0x01, 0x90, 6: 0x70, 8: 0x80, 14: 1, 15: n}
}

func account(path string, currency money.Currency) ledger.Account {
	return ledger.Account{Platform: platform, Path: path, Currency: currency}
}

// formatEntries returns the entries, one per line: "rails/RTP → funding/jit 10050 USD".
func formatEntries(p ledger.Posting) string {
	var lines []string
	for _, e := range p.Entries {
		lines = append(lines, fmt.Sprintf("%s → %s %d %s", e.Debit, e.Credit, e.Amount, e.Currency))
	}
	return strings.Join(lines, "\n")
}

func apply(t *testing.T, balances ledger.Balances, postings ...ledger.Posting) {
	t.Helper()
	for _, p := range postings {
		if err := balances.Apply(p); err != nil {
			t.Fatalf("%s with\n%s\nwas refused: %v", p.Kind, formatEntries(p), err)
		}
	}
}

// wantBalances compares all balances that are not zero, by path and currency.
func wantBalances(t *testing.T, balances ledger.Balances, want map[string]int64) {
	t.Helper()
	got := map[string]int64{}
	for a, b := range balances {
		if b != 0 {
			got[a.Path+" "+string(a.Currency)] = b
		}
	}
	for key, w := range want {
		if got[key] != w {
			t.Errorf("%s: balance %d, want %d", key, got[key], w)
		}
		delete(got, key)
	}
	for key, g := range got {
		t.Errorf("%s: balance %d, want none", key, g)
	}
}

// paths are the paths of random postings, at least one for every line of the chart.
var paths = []string{
	ledger.CustomerAccount(alice), ledger.CustomerAccount(bob), ledger.PlatformAccount(alice), ledger.Wallet(bob),
	ledger.FundingJIT, ledger.FundingUnmatched, ledger.TransitPayouts, ledger.TransitRefunds, ledger.TransitInternal,
	ledger.Rail("RTP"), ledger.Rail("SEPA_INSTANT"), ledger.Chain("LAYER2"),
	ledger.FXPosition, ledger.IncomeFees, ledger.IncomeRounding, ledger.ExpenseRails,
}

// anyPosting draws a valid posting of up to six entries with amounts up to maxAmount.
func anyPosting(maxAmount int64) *rapid.Generator[ledger.Posting] {
	return rapid.Custom(func(t *rapid.T) ledger.Posting {
		p := ledger.Posting{
			ID:        uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Filter(func(b []byte) bool { return b[0] != 0 }).Draw(t, "id")),
			Platform:  platform,
			Kind:      rapid.SampledFrom(ledger.Kinds()).Filter(func(k ledger.Kind) bool { return k != ledger.KindReversal }).Draw(t, "kind"),
			Effective: noon,
		}
		for range rapid.IntRange(1, 6).Draw(t, "entries") {
			debit := rapid.IntRange(0, len(paths)-1).Draw(t, "debit")
			credit := (debit + rapid.IntRange(1, len(paths)-1).Draw(t, "credit")) % len(paths)
			p.Entries = append(p.Entries, ledger.Entry{
				Debit:    paths[debit],
				Credit:   paths[credit],
				Currency: rapid.SampledFrom([]money.Currency{money.USD, money.BTC}).Draw(t, "currency"),
				Amount:   rapid.Int64Range(1, maxAmount).Draw(t, "amount"),
			})
		}
		return p
	})
}
