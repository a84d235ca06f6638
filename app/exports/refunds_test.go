package exports_test

import (
	"html"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/app/exports"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// add adds a movement of the account, and to its turnover.
func (d *fakeLedger) add(kind ledger.Kind, payment ident.Transaction, other string, amount int64) {
	own := ledger.CustomerAccount(internalAccountID(1))
	entry := ledger.Entry{Debit: other, Credit: own, Currency: money.EUR, Amount: amount}
	if amount < 0 {
		entry.Debit, entry.Credit, entry.Amount = own, other, -amount
		d.turnover.Debits.Count, d.turnover.Debits.Sum = d.turnover.Debits.Count+1, d.turnover.Debits.Sum-amount
	} else {
		d.turnover.Credits.Count, d.turnover.Credits.Sum = d.turnover.Credits.Count+1, d.turnover.Credits.Sum+amount
	}
	d.turnover.Closing -= amount
	at := noon.Add(time.Duration(len(d.movements)) * time.Second)
	d.movements = append(d.movements, ports.RecordedEntry{Entry: entry, Kind: kind, Transaction: payment, Effective: at, Recorded: at})
}

// totals returns the totals of a page, by their labels.
func totals(t *testing.T, page string) map[string]string {
	t.Helper()
	result := map[string]string{}
	for _, line := range strings.Split(page, "\n") {
		if name, value, found := strings.Cut(line, "</span> <b>"); found {
			result[strings.TrimPrefix(name, "<li><span>")] = html.UnescapeString(strings.TrimSuffix(value, "</b></li>"))
		}
	}
	return result
}

func TestStatement_RefundedPayment(t *testing.T) {
	t.Parallel()
	// A payment that failed and was refunded is one group of movements with its sum, and counts
	// neither as money in nor as money out, nor do its fees. The other payment states its rate and
	// the amount received.
	refunded, paid := transactionID(1), transactionID(2)
	pricing := transaction.Pricing{Sent: newAmount(5_050, money.EUR), Received: newAmount(5_425, money.USD), Rate: money.MustRate("1.085"),
		Fees: 50}
	d := &fakeLedger{payments: map[ident.Transaction]transaction.Transaction{
		refunded: {Type: transaction.Outgoing, State: transaction.State{Status: transaction.Failed}, Pricing: pricing},
		paid:     {Type: transaction.Outgoing, State: transaction.State{Status: transaction.Completed}, Pricing: pricing},
	}}
	d.add(ledger.KindDeposit, ident.Transaction{}, ledger.Rail("ACH"), 20_000)
	for _, payment := range []ident.Transaction{refunded, paid} {
		d.add(ledger.KindConverted, payment, ledger.IncomeFees, -50)
		d.add(ledger.KindConverted, payment, ledger.FXPosition, -5_000)
	}
	d.add(ledger.KindReversal, refunded, ledger.IncomeFees, 50)
	d.add(ledger.KindReversal, refunded, ledger.FXPosition, 5_000)
	d.add(ledger.KindRefundOwed, refunded, ledger.TransitRefunds, -5_050)
	d.add(ledger.KindRefundPaid, refunded, ledger.TransitRefunds, 5_050)

	page, err := d.statement(t, exports.HTML)
	if err != nil {
		t.Fatal(err)
	}

	got := totals(t, page)
	for name, want := range map[string]string{"Money in": "+200.00 EUR", "Money out": "-50.50 EUR", "Fees, less returned": "0.50 EUR"} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
	for text, want := range map[string]int{
		"Refunded payment, 0.00 EUR in all": 6, "One refunded payment": 1, refunded.String(): 6, paid.String(): 2,
		"Received 54.25 USD, 1 EUR = 1.085 USD": 1,
	} {
		if n := strings.Count(page, text); n != want {
			t.Errorf("%q occurs %d times, want %d", text, n, want)
		}
	}
}

func TestStatement_RefundOfEarlierPayment(t *testing.T) {
	t.Parallel()
	// The refund of a payment of an earlier period is money in, because it really came.
	d := &fakeLedger{}
	d.add(ledger.KindReversal, transactionID(1), ledger.TransitPayouts, 700)

	page, err := d.statement(t, exports.HTML)
	if err != nil {
		t.Fatal(err)
	}

	if got := totals(t, page); got["Money in"] != "+7.00 EUR" || got["Money out"] != "0.00 EUR" || strings.Contains(page, "efunded payment") {
		t.Errorf("%v", got)
	}
}

func TestStatement_TotalsLeadToClosingBalance(t *testing.T) {
	t.Parallel()
	// Whatever was paid and refunded, money in less money out is the change of the balance.
	rapid.Check(t, func(r *rapid.T) {
		d := &fakeLedger{}
		kinds := []ledger.Kind{ledger.KindConverted, ledger.KindReversal, ledger.KindRefundOwed, ledger.KindRefundPaid}
		in, out := int64(0), int64(0)
		net, refunded := map[ident.Transaction]int64{}, map[ident.Transaction]bool{}
		for range rapid.IntRange(1, 40).Draw(r, "movements") {
			kind, payment := rapid.SampledFrom(kinds).Draw(r, "kind"), transactionID(rapid.Byte().Draw(r, "payment")%4)
			amount := rapid.Int64Range(1, 1000).Draw(r, "amount") * rapid.SampledFrom([]int64{-1, 1}).Draw(r, "sign")
			d.add(kind, payment, ledger.TransitPayouts, amount)
			net[payment] += amount
			refunded[payment] = refunded[payment] || kind != ledger.KindConverted
		}
		for _, e := range d.movements {
			if refunded[e.Transaction] {
				continue
			}
			if e.Debit == ledger.TransitPayouts {
				in += e.Amount
			} else {
				out += e.Amount
			}
		}
		for payment := range refunded {
			if refunded[payment] {
				in, out = in+max(net[payment], 0), out+max(-net[payment], 0)
			}
		}

		page, err := d.statement(t, exports.HTML)
		if err != nil {
			r.Fatal(err)
		}

		got := totals(t, page)
		wantIn, wantOut := formatTotal(in, "+"), formatTotal(out, "-")
		if got["Money in"] != wantIn || got["Money out"] != wantOut || in-out != -d.turnover.Closing {
			r.Fatalf("%v, want %s and %s", got, wantIn, wantOut)
		}
	})
}

func formatTotal(minor int64, sign string) string {
	text := newAmount(minor, money.EUR).String()
	if minor != 0 {
		text = sign + text
	}
	return text
}
