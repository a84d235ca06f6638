package payments_test

import (
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

func TestFeeds_FeeIsReportedAgain(t *testing.T) {
	t.Parallel()
	// A partner reports the id of a fee again with another time or amount: the first one stays, each other one is an item with what is
	// posted and what it says now, and what follows is taken at once. A repeat that is equal says nothing, and so does one of
	// another time if the partner has named none.
	e := newFeedEnv(t)
	fee := func(id string, minor int64, at time.Time) ports.RailFee {
		return ports.RailFee{Rail: "ACH", PartnerID: id, Amount: money.Amount{Minor: minor, Currency: "USD"}, At: at, Memo: "March"}
	}
	later := apptest.Noon.Add(-time.Minute)
	undated := fee("F2", 10, later)
	undated.Undated = true
	givenBack := fee("F3", -7, apptest.Noon)
	e.adapter.add(ports.RailReport{Fees: []ports.RailFee{fee("F1", 25, apptest.Noon), fee("F2", 10, apptest.Noon), givenBack}})
	e.adapter.add(ports.RailReport{Fees: []ports.RailFee{fee("F1", 25, apptest.Noon), fee("F1", 25, later), fee("F1", 26, apptest.Noon),
		undated, fee("F3", 7, apptest.Noon)}})
	e.adapter.add(ports.RailReport{Fees: []ports.RailFee{fee("F1", 25, later), fee("F4", 100, apptest.Noon), fee("F4", 101, apptest.Noon)},
		Receipts: []ports.RailReceipt{e.receipt("1", e.dollars.Reference, 10_00)}})

	e.read()

	e.WantBalances(map[string]int64{e.account(): -10_00, "expense/rails USD": 25 + 10 - 7 + 100, "rails/ACH USD": 10_00 - 128})
	type said struct {
		id               string
		posted, reported int64
		at               time.Time
	}
	found := map[said]bool{}
	for _, c := range e.contradictions(t, ident.Transaction{}) {
		if c.Platform != e.Platform.ID || !c.Recorded.At.Equal(apptest.Noon) || c.Reported.PartnerID != c.Name {
			t.Errorf("item %+v", c)
		}
		found[said{c.Name, c.Recorded.Amount.Minor, c.Reported.Amount.Minor, c.Reported.At}] = true
	}
	if len(e.items()) != 4 || !found[said{"F1", 25, 25, later.UTC()}] || !found[said{"F1", 25, 26, apptest.Noon}] ||
		!found[said{"F3", -7, 7, apptest.Noon}] || !found[said{"F4", 100, 101, apptest.Noon}] {
		t.Errorf("%d items: %+v", len(e.items()), found)
	}
}
