package bankfile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// fees describes what is posted of the fees that were reported: of those with one id, one. Another content would be refused.
func (i *inbox) fees() string {
	i.t.Helper()
	var texts []string
	posted := map[string]rail.Fee{}
	for _, f := range i.got.Fees {
		fee := rail.Fee(f)
		id := fee.Posting().ID.String()
		if before, again := posted[id]; again && !before.Posting().Equal(fee.Posting()) {
			i.t.Errorf("%+v was reported as %+v before", fee, before)
		} else if !again {
			texts = append(texts, fmt.Sprintf("%s %s %s %t", f.Rail, f.PartnerID, f.Amount, f.Platform == i.platform))
		}
		posted[id] = fee
	}
	return strings.Join(texts, ", ")
}

func TestIncoming_ReturnsOfAnotherAmount(t *testing.T) {
	t.Parallel()
	// A payment that comes back with less is returned, and the difference is a fee of its platform, once, also if the bank
	// reports the return again in the same file under another name. A second credit, one with more, or in another currency, changes
	// nothing: it is money received, and a contradiction for a person.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", func(c *rail.Connection) {
		c.Currencies = []money.Currency{"EUR", "CHF"}
		c.Settings["receiptRail"] = "SEPA_INSTANT" // fees of payments are of their own rail
		c.Rails = append(c.Rails, corridor.SEPAInstant)
	})
	i.send(4)
	returned := `<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`
	content := notification(
		entry("CRDT", "9.80", "B1", "", payment(i.id(0), returned)),
		entry("CRDT", "10.02", "B2", "", payment(i.id(1), returned)),
		strings.ReplaceAll(entry("CRDT", "9.00", "B3", "", payment(i.id(2), returned)), `"EUR"`, `"CHF"`),
		entry("CRDT", "10.03", "B4", "", payment(i.id(3), returned)))
	i.put("1.xml", content)
	i.poll()
	i.put("2.xml", content)
	i.poll()
	d.clock.Advance(time.Hour)
	i.put("3.xml", strings.ReplaceAll(notification(entry("CRDT", "9.80", "B9", "", payment(i.id(0), returned))), "T10:30:00Z", "T10:40:00Z"))
	i.poll()

	if got := i.states(); got != "RETURNED AC04, IN_FILE, IN_FILE, RETURNED AC04" {
		t.Error(got)
	}
	if got, want := i.fees(), "SEPA "+i.id(0)+"/return 0.20 EUR true"; got != want {
		t.Errorf("%d fees: %s, want %s", len(i.got.Fees), got, want)
	}
	for _, n := range []int{0, 1, 2} {
		if got := i.notices(); strings.Count(got, "CONTRADICTION "+i.id(n)+" AC04") != 1 || strings.Count(got, ",") != 2 {
			t.Errorf("payment %d: %s", n, got)
		}
	}
	if got, want := received(i.got.Receipts), "B2 10.02 EUR "+i.id(1)+", B3 9.00 CHF "+i.id(2)+", B9 9.80 EUR "+i.id(0); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	said := map[string]bool{}
	for _, c := range i.got.Contradictions {
		said[c.Name+" "+c.Recorded.State+" "+c.Reported.State+" "+c.Reported.PartnerID] = c.Subject != uuid.Nil && c.Recorded.Amount.Minor > 0 &&
			c.Reported.Amount.Minor > 0
	}
	if len(said) != 3 || !said[i.id(0)+" RETURNED RETURNED B9"] || !said[i.id(1)+" IN_FILE RETURNED B2"] {
		t.Errorf("contradictions %v", said)
	}
}

func TestIncoming_ACHReturnsOfAnotherAmount(t *testing.T) {
	t.Parallel()
	// A return of ACH with less is a fee too. Of a collection exactly what was collected is taken back: another amount is
	// shown. A return that names no amount is one of all.
	d := openDatabase(t)
	i := &inbox{database: d, bank: newBank(t), t: t}
	i.connection = america("bank-usd", i.dir)
	i.a = d.open(t, i.connection, d.Store, folderTransport(t, i.dir))
	i.send(3)
	collections := []ports.Collection{d.collection("bank-usd collection", 0)}
	if outcomes := i.a.Collect(t.Context(), collections); !waiting(outcomes) {
		t.Fatalf("%+v", outcomes)
	}
	d.clock.Advance(24 * time.Hour)
	i.poll()
	pulled := rail.ShortID(rail.EndToEndID(collections[0].Transaction.ID.UUID()))
	i.put("1.ach", returnFile(t, achReturn(21, 9_50, rail.ShortID(i.id(0)), "R03"), achReturn(21, 10_02, rail.ShortID(i.id(1)), "R03"),
		achReturn(21, 0, rail.ShortID(i.id(2)), "R03"), achReturn(26, 19_99, pulled, "R01")))
	i.poll()

	if got := i.states(); got != "RETURNED R03, IN_FILE, RETURNED R03" {
		t.Error(got)
	}
	if got, want := i.fees(), "ACH "+i.id(0)+"/return 0.50 USD true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := i.notices(); !strings.Contains(got, "CONTRADICTION "+rail.ShortID(i.id(1))+" R03") ||
		!strings.Contains(got, "CONTRADICTION "+pulled+" R01") || strings.Count(got, ",") != 1 {
		t.Error(got)
	}
	if outcomes := i.a.Collect(t.Context(), collections); !waiting(outcomes) {
		t.Errorf("%+v", outcomes)
	}
}

func TestIncoming_BookingsOfAnotherAmount(t *testing.T) {
	t.Parallel()
	// A debit settles a payment of its amount, without the charges in it, which are fees. One of another amount or currency
	// settles nothing and is shown, once, also if the file comes under another name.
	d := openDatabase(t)
	i := d.inbox(t, "bank-booking", func(c *rail.Connection) {
		with("settlesOn", "BOOKING")(c)
		c.Currencies = []money.Currency{"EUR", "CHF"}
	})
	i.send(5)
	charges := `<Chrgs><Rcrd><Amt Ccy="EUR">0.20</Amt><CdtDbtInd>DBIT</CdtDbtInd><ChrgInclInd>true</ChrgInclInd></Rcrd></Chrgs>`
	content := notification(
		entry("DBIT", "10.20", "B1", charges, payment(i.id(0))),
		entry("DBIT", "10.00", "B2", "", payment(i.id(1))),
		entry("DBIT", "10.03", "B3", "", payment(i.id(2))),
		strings.ReplaceAll(entry("DBIT", "10.03", "B4", "", payment(i.id(3))), `"EUR"`, `"CHF"`),
		entry("DBIT", "0.20", "B5", charges, payment(i.id(4))))
	i.put("1.xml", content)
	i.poll()
	i.put("2.xml", content)
	i.poll()

	if got := i.states(); got != "SETTLED, IN_FILE, IN_FILE, IN_FILE, IN_FILE" {
		t.Error(got)
	}
	for n := 1; n < 5; n++ {
		if got := i.notices(); strings.Count(got, "CONTRADICTION "+i.id(n)) != 1 || strings.Count(got, ",") != 3 {
			t.Errorf("payment %d: %s", n, got)
		}
	}
	if got, want := i.fees(), "SEPA B1/charge/1 0.20 EUR false, SEPA B5/charge/1 0.20 EUR false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestIncoming_BookingsOfWholeFiles(t *testing.T) {
	t.Parallel()
	// A debit without the payments in it settles a file of its sum, or of what of it was not rejected, both without the
	// charges in the debit. Another sum settles nothing and is shown, once, also if the file comes under another name.
	d := openDatabase(t)
	charges := `<Chrgs><Rcrd><Amt Ccy="EUR">0.20</Amt><CdtDbtInd>DBIT</CdtDbtInd><ChrgInclInd>true</ChrgInclInd></Rcrd></Chrgs>`
	for n, c := range []struct{ amount, currency, charges, states, notices, fees string }{
		{"30.03", "EUR", "", "REJECTED AC01, SETTLED, SETTLED", "", ""},
		{"20.03", "EUR", "", "REJECTED AC01, SETTLED, SETTLED", "", ""},
		{"20.23", "EUR", charges, "REJECTED AC01, SETTLED, SETTLED", "", "SEPA B1/charge/1 0.20 EUR false"},
		{"20.02", "EUR", "", "REJECTED AC01, PENDING, PENDING", "CONTRADICTION {message}", ""},
		{"20.23", "EUR", "", "REJECTED AC01, PENDING, PENDING", "CONTRADICTION {message}", ""},
		{"20.03", "CHF", "", "REJECTED AC01, PENDING, PENDING", "CONTRADICTION {message}", ""},
	} {
		i := d.inbox(t, fmt.Sprintf("bank-%d", n), func(connection *rail.Connection) {
			with("settlesOn", "BOOKING")(connection)
			connection.Currencies = []money.Currency{"EUR", "CHF"}
		})
		i.send(3)
		i.put("1.xml", statusReport(i.message, "ACSP", transfer(i.id(0), "RJCT AC01")))
		i.poll()
		batch := c.charges + `<NtryDtls><Btch><MsgId>` + i.message + `</MsgId><NbOfTxs>3</NbOfTxs></Btch></NtryDtls>`
		content := strings.Replace(notification(entry("DBIT", c.amount, "B1", batch)), `"EUR">`+c.amount, `"`+c.currency+`">`+c.amount, 1)
		i.put("2.xml", content)
		i.poll()
		i.put("3.xml", content)
		i.poll()

		if got, want := i.notices(), strings.ReplaceAll(c.notices, "{message}", i.message); i.states() != c.states || got != want ||
			i.fees() != c.fees {
			t.Errorf("%s %s with charges %q: %s; notices %q; fees %q", c.amount, c.currency, c.charges, i.states(), got, i.fees())
		}
	}
}

func TestIncoming_HalvesOfAReturn(t *testing.T) {
	t.Parallel()
	// Two halves of a payment that come back are money received, and each a contradiction: the payment is not refunded as a
	// whole, and nothing is booked as deducted.
	d := openDatabase(t)
	i := d.inbox(t, "bank-halves", nil)
	i.send(1)
	returned := `<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`
	i.put("1.xml", notification(entry("CRDT", "5.00", "H1", "", payment(i.id(0), returned)),
		entry("CRDT", "5.00", "H2", "", payment(i.id(0), returned))))
	i.poll()

	if got := i.states() + "; " + i.fees() + "; " + received(i.got.Receipts); got != "IN_FILE; ; H1 5.00 EUR "+i.id(0)+
		", H2 5.00 EUR "+i.id(0) {
		t.Error(got)
	}
	if len(i.got.Contradictions) != 2 || i.got.Contradictions[0].Key() == i.got.Contradictions[1].Key() {
		t.Errorf("%+v", i.got.Contradictions)
	}
}

func TestIncoming_DetailsThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	// Of an entry of 60.00 whose payments add up to 90.00, what was booked is received, and both amounts are a contradiction.
	d := openDatabase(t)
	i := d.inbox(t, "bank-details", nil)
	amount := func(text string) string { return `<Amt Ccy="EUR">` + text + `</Amt><CdtDbtInd>CRDT</CdtDbtInd>` }
	i.put("1.xml", notification(entry("CRDT", "60.00", "E1", "", payment("E1", amount("40.00")), payment("E2", amount("50.00")))))
	i.poll()

	if got := received(i.got.Receipts); !strings.HasPrefix(got, "E1 60.00 EUR") || len(i.got.Receipts) != 1 {
		t.Error(got)
	}
	if c := i.got.Contradictions; len(c) != 1 || c[0].Recorded.Amount.Minor != 60_00 || c[0].Reported.Amount.Minor != 90_00 {
		t.Errorf("%+v", c)
	}
}
