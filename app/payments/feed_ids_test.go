package payments_test

import (
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// readOver reads a piece over the connection with a name, which has an adapter of its own.
func (e *feedEnv) readOver(adapters map[string]*feedRail, connection string, receipts ...ports.RailReceipt) {
	e.t.Helper()
	if adapters[connection] == nil {
		adapters[connection] = &feedRail{}
	}
	adapters[connection].add(ports.RailReport{Receipts: receipts})
	e.live.Name, e.live.Adapter = connection, adapters[connection]
	e.read()
}

func TestFeeds_OtherMoneyWithTheSameID(t *testing.T) {
	t.Parallel()
	// The partner's id of money that was received names other money: another amount, or another payment that a second
	// connection reports. It is kept aside with the reason, not taken for a repetition and lost. A repetition with another time,
	// and the same payment over a connection with a new name, change nothing.
	e, adapters := newFeedEnv(t), map[string]*feedRail{}
	first := e.receipt("1", e.dollars.Reference, 5_00)
	later := first
	later.At = first.At.Add(-time.Minute)
	more := first
	more.Amount.Minor = 6_00
	rent := first
	rent.Reference = "RENT"

	e.readOver(adapters, "bank-usd", first)
	e.readOver(adapters, "bank-usd", later)
	e.readOver(adapters, "bank-new-name", first)
	if items := e.items(); len(items) != 0 {
		t.Fatalf("kept aside %+v", items)
	}
	e.readOver(adapters, "bank-usd", more)
	e.readOver(adapters, "bank-b", rent)
	e.readOver(adapters, "bank-c", later)
	e.readOver(adapters, "bank-d", e.receipt("2", e.dollars.Reference, 1_00), e.receipt("2", e.dollars.Reference, 3_00))

	reasons := map[string]string{"bank-usd": "is that of 5.00 USD, and now of 6.00 USD", "bank-b": "the connection bank-usd has reported",
		"bank-c": "the connection bank-usd has reported", "bank-d": "is that of "}
	items := e.items()
	for _, item := range items {
		if want := reasons[item.Connection]; want == "" || !strings.Contains(item.Problem, want) {
			t.Errorf("%s: %s", item.Connection, item.Problem)
		}
	}
	if len(items) != len(reasons) {
		t.Errorf("%d items are kept aside, want %d", len(items), len(reasons))
	}
	if n := e.QueryStrings(`SELECT count(*)::text FROM receipts`); n[0] != "2" { // of those reported together either is taken
		t.Errorf("%s receipts", n[0])
	}
}

func TestFeeds_ReportedAgainForAnotherPlatform(t *testing.T) {
	t.Parallel()
	// Unmatched money is reported again after the connection has another platform for it. It stays that of the first.
	e, adapters := newFeedEnv(t), map[string]*feedRail{}
	other := e.NewPlatform()
	e.live.Platforms = []ident.Platform{e.Platform.ID, other.ID}
	e.live.Unmatched = e.Platform.ID
	e.readOver(adapters, "bank-usd", e.receipt("1", "RENT", 5_00))

	e.live.Unmatched = other.ID
	e.readOver(adapters, "bank-usd", e.receipt("1", "RENT", 5_00), e.receipt("2", "RENT", 7_00))

	if n := e.QueryStrings(`SELECT partner_id FROM receipts ORDER BY partner_id, platform_id`); strings.Join(n, " ") != "1 2" {
		t.Errorf("receipts %v", n)
	}
	e.WantBalances(map[string]int64{"funding/unmatched USD": -5_00, "rails/ACH USD": 5_00})
}
