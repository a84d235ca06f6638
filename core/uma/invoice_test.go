package uma_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/core/uma"
)

// Invoices that the protocol's libraries write of one invoice: those for Node, Kotlin and Python with binary numbers, and that for Go
// with decimal ones. Both have the text "signature" as their signature, and the version 0.3.
const (
	binaryInvoice = "uma1qqxzgen0daqxyctj9e3k7mgpy33nwcesxanx2cedvdnrqvpdxsenzced8ycnve3dxe3nzvmxvv6xyd3evcusyqsraqp3vqqr24f5gqgf24fjq3r0d3kxzuszqyjqxqgzqszqqr6zgqzszqgxrd3k7mtsd35kzmnrv5arztr9d4skjmp6xqkxuctdv5arqpcrxqhrxzcg2ez4yj2xf9z5grqudp68gurn8ghj7etcv9khqmr99e3k7mf0vdskcmrzv93kkeqfwd5kwmnpw36hyeg73rn40"
	goInvoice     = "uma1qqxzgen0daqxyctj9e3k7mgpy33nwcesxanx2cedvdnrqvpdxsenzced8ycnve3dxe3nzvmxvv6xyd3evcusypp3xqcrqqckqqp4256yqyy425eqg3hkcmrpwgpqzfqrqyeqgpe3xqcrqvpsxqzszqgxrd3k7mtsd35kzmnrv5arztr9d4skjmp6xqkxuctdv5arqpcrxqhrxzcg2ez4yj2xf9z5grqudp68gurn8ghj7etcv9khqmr99e3k7mf0vdskcmrzv93kkeqfwd5kwmnpw36hyegy0tgay"
)

// rewrite returns an invoice with other fields.
func rewrite(t *testing.T, text string, change func(fields map[byte][]byte)) string {
	t.Helper()
	_, groups, err := bech32.DecodeNoLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	content, err := bech32.ConvertBits(groups, 5, 8, false)
	if err != nil {
		t.Fatal(err)
	}
	fields, order := map[byte][]byte{}, []byte{}
	for rest := content; len(rest) > 0; rest = rest[2+int(rest[1]):] {
		order = append(order, rest[0])
		fields[rest[0]] = rest[2 : 2+int(rest[1])]
	}
	change(fields)
	var changed []byte
	for _, number := range order {
		if value, kept := fields[number]; kept {
			changed = append(append(changed, number, byte(len(value))), value...)
		}
	}
	if groups, err = bech32.ConvertBits(changed, 8, 5, true); err != nil {
		t.Fatal(err)
	}
	if text, err = bech32.Encode("uma", groups); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParseInvoice_OfOtherLibraries(t *testing.T) {
	t.Parallel()
	// An invoice with binary numbers and one with decimal numbers are read alike.
	for name, text := range map[string]string{
		"binary":  rewrite(t, binaryInvoice, func(f map[byte][]byte) { f[7] = []byte("0.3,1.0"); f[4] = []byte{0x6a, 0x2c, 0x88, 0x80} }),
		"decimal": rewrite(t, goInvoice, func(f map[byte][]byte) { f[7] = []byte("1.0"); f[4] = []byte("1781303424") }),
	} {
		i, err := uma.ParseInvoice(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := uma.Invoice{ID: uuid.MustParse("c7c07fec-cf00-431c-916f-6c13fc4b69f9"), Receiver: "$foo@bar.com", Amount: 1000, Currency: "USD",
			Decimals: 2, ExpiresAt: time.Unix(1781303424, 0).UTC(), TravelRule: true, Callback: "https://example.com/callback"}
		wanted := []transaction.InfoField{{Name: "EMAIL"}, {Name: "FULL_NAME"}}
		if !slices.Equal(i.Wanted, wanted) {
			t.Errorf("%s wants %v", name, i.Wanted)
		}
		if i.Wanted = nil; i.ID != want.ID || i.Receiver != want.Receiver || i.Amount != want.Amount || i.Currency != want.Currency ||
			i.Decimals != want.Decimals || !i.ExpiresAt.Equal(want.ExpiresAt) || !i.TravelRule || i.Callback != want.Callback || i.Sender != "" {
			t.Errorf("%s: %+v", name, i.Invoice)
		}
	}
	if _, err := uma.ParseInvoice(binaryInvoice); reasonOf(err) != uma.InvalidInvoice {
		t.Errorf("of version 0.3: %v", err)
	}
}

func someInvoice(t *rapid.T) uma.Invoice {
	i := uma.Invoice{ID: uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")), Receiver: "$bo@pay.test",
		Amount: rapid.Int64Range(1, money.MaxMinor).Draw(t, "amount"), Currency: rapid.SampledFrom([]money.Currency{"USD", "BTC", "JPY"}).Draw(t,
			"currency"),
		ExpiresAt:  time.Unix(rapid.Int64Range(1_700_000_000, 9_000_000_000).Draw(t, "expiry"), 0).UTC(),
		TravelRule: rapid.Bool().Draw(t, "rule"), Callback: "https://pay.test/uma/payreq/%24bo?invoice=1"}
	i.Decimals = i.Currency.Decimals()
	if rapid.Bool().Draw(t, "named") {
		i.Sender = "$ana@bank.test"
	}
	if rapid.Bool().Draw(t, "wants") {
		i.Wanted = []transaction.InfoField{{Name: "BIRTH_DATE"}, {Name: "FULL_NAME", Mandatory: true}}
	}
	return i
}

var invoiceKey = slices.Repeat([]byte{7}, 32)

func TestInvoice_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	// What was written is read, with a signature of the key, which no changed letter and no other key has.
	rapid.Check(t, func(t *rapid.T) {
		written := someInvoice(t)
		text, err := written.Encode(func(text string) string { return uma.Sign(invoiceKey, text) })
		if err != nil {
			t.Fatal(err)
		}
		for _, as := range []string{text, strings.ToUpper(text)} {
			read, err := uma.ParseInvoice(as)
			if err != nil {
				t.Fatal(err)
			}
			same := read.Invoice
			if same.Wanted = nil; !slices.Equal(read.Wanted, written.Wanted) || same.ID != written.ID || same.Sender != written.Sender ||
				same.Amount != written.Amount || !same.ExpiresAt.Equal(written.ExpiresAt) || same.Decimals != written.Decimals ||
				same.Currency != written.Currency || same.Callback != written.Callback || same.TravelRule != written.TravelRule {
				t.Fatalf("%+v, written %+v", read.Invoice, written)
			}
			if err := read.Verify(uma.PublicKey(invoiceKey)); err != nil {
				t.Fatal(err)
			}
			if err := read.Verify(uma.PublicKey(slices.Repeat([]byte{8}, 32))); reasonOf(err) != uma.InvalidSignature {
				t.Fatalf("another key: %v", err)
			}
		}
		at := rapid.IntRange(4, len(text)-1).Draw(t, "letter")
		letter := byte('q')
		if text[at] == 'q' {
			letter = 'p'
		}
		if read, err := uma.ParseInvoice(text[:at] + string(letter) + text[at+1:]); err == nil {
			t.Fatalf("a changed letter is read: %+v", read.Invoice)
		}
	})
}

func TestParseInvoice_Refused(t *testing.T) {
	t.Parallel()
	// What lacks a field, has an impossible one, or is none, is refused; another amount has no right signature.
	good, err := uma.Invoice{ID: uuid.New(), Receiver: "$bo@pay.test", Sender: "$ana@bank.test", Amount: 25_00, Currency: "USD",
		Decimals: 2, ExpiresAt: noon, Callback: "https://pay.test/x"}.Encode(func(text string) string { return uma.Sign(invoiceKey, text) })
	if err != nil {
		t.Fatal(err)
	}
	set := func(number byte, value string) string {
		return rewrite(t, good, func(f map[byte][]byte) { f[number] = []byte(value) })
	}
	for what, text := range map[string]string{
		"nothing": "", "an address": "$bo@pay.test", "letters": "uma1qqqqqq", "too long": "uma1" + strings.Repeat("q", uma.MaxInvoice),
		"no receiver": rewrite(t, good, func(f map[byte][]byte) { delete(f, 0) }), "a receiver without $": set(0, "bo@pay.test"),
		"no signature": rewrite(t, good, func(f map[byte][]byte) { delete(f, 100) }), "an id": set(1, "1"), "no amount": set(2, "\x00"),
		"a negative amount": set(2, "\xff\xff\xff\xff\xff\xff\xff\xff"), "a long amount": set(2, "\x00\x00\x00\x00\x00\x00\x00\x00\x01"),
		"a currency": set(3, "\x00\x09USD"), "a late expiry": set(4, "\x7f\xff\xff\xff\xff\xff\xff\xff"), "a sender": set(9, "ana"),
		"another version": set(7, "2.0"),
	} {
		if read, err := uma.ParseInvoice(text); reasonOf(err) != uma.InvalidInvoice {
			t.Errorf("%s: %+v, %v", what, read.Invoice, err)
		}
	}
	other, err := uma.ParseInvoice(set(2, "\x05"))
	if err != nil || reasonOf(other.Verify(uma.PublicKey(invoiceKey))) != uma.InvalidSignature {
		t.Errorf("another amount: %v", err)
	}
}

func FuzzParseInvoice(f *testing.F) {
	f.Add(binaryInvoice)
	f.Add(goInvoice)
	f.Fuzz(func(t *testing.T, text string) {
		if i, err := uma.ParseInvoice(text); err == nil && (i.Amount < 1 || i.Receiver == "" || i.Callback == "") {
			t.Errorf("%+v", i.Invoice)
		}
	})
}

func TestInvoice_CheckAsk(t *testing.T) {
	t.Parallel()
	// A pay request has to ask for what the invoice is about, in time, and from who is asked to pay.
	i := uma.Invoice{Amount: 25_00, Currency: "USD", Decimals: 2, ExpiresAt: noon.Add(time.Hour), Sender: "$ana@bank.test"}
	ask := uma.Ask{Currency: "USD", Amount: 25_00}
	for what, test := range map[string]struct {
		ask    uma.Ask
		sender string
		now    time.Time
		want   uma.Reason
	}{
		"all right":      {ask, "$ana@bank.test", noon, ""},
		"another sender": {ask, "$eve@bank.test", noon, uma.SenderNotAccepted},
		"later":          {ask, "$ana@bank.test", noon.Add(time.Hour), uma.InvoiceExpired},
		"less":           {uma.Ask{Currency: "USD", Amount: 24_99}, "$ana@bank.test", noon, uma.InvalidInvoice},
		"satoshi":        {uma.Ask{Currency: "USD", Msats: 25_000}, "$ana@bank.test", noon, uma.InvalidInvoice},
		"euros":          {uma.Ask{Currency: "EUR", Amount: 25_00}, "$ana@bank.test", noon, uma.InvalidInvoice},
	} {
		if got := reasonOf(i.CheckAsk(test.ask, test.sender, test.now)); got != test.want {
			t.Errorf("%s: %q", what, got)
		}
	}
	if i.CheckPayable(noon) != nil || reasonOf(i.CheckPayable(noon.Add(2*time.Hour))) != uma.InvoiceExpired ||
		reasonOf(i.CheckPayable(noon.AddDate(-2, 0, 0))) != uma.InvalidInvoice {
		t.Error("whether it is payable")
	}
	if i.Decimals = 3; reasonOf(i.CheckPayable(noon)) != uma.InvalidCurrency {
		t.Error("with other decimals")
	}
}

func TestKeptInvoice_IsPaidOnce(t *testing.T) {
	t.Parallel()
	// Of every status of the last payment, another one may begin only after none, a failed and an expired one, until the invoice expires.
	k := uma.KeptInvoice{ID: ident.UMAInvoice{}, Invoice: uma.Invoice{ExpiresAt: noon.Add(time.Hour)}}
	for payment, want := range map[transaction.Status]uma.InvoiceStatus{"": uma.InvoicePending, transaction.Pending: uma.InvoiceProcessing,
		transaction.Processing: uma.InvoiceProcessing, transaction.Completed: uma.InvoicePaid, transaction.Failed: uma.InvoicePending,
		transaction.Expired: uma.InvoicePending, "PENDING_AUTHORIZATION": uma.InvoiceProcessing} {
		if got := k.Status(payment, noon); got != want || (k.CheckUnpaid(payment, noon) == nil) != (want == uma.InvoicePending) {
			t.Errorf("%q: %s", payment, got)
		}
		later := k.Status(payment, noon.Add(time.Hour))
		if want == uma.InvoicePending && later != uma.InvoiceExpiredNow || want != uma.InvoicePending && later != want ||
			k.CheckUnpaid(payment, noon.Add(time.Hour)) == nil {
			t.Errorf("%q, later: %s", payment, later)
		}
	}
	k.AskedUntil = noon.Add(time.Minute)
	if k.CheckUnpaid("", noon) == nil || k.CheckUnpaid("", noon.Add(time.Minute)) != nil {
		t.Error("a quote that is being made keeps others away for a minute")
	}
}

func TestKeptInvoice_SendAgain(t *testing.T) {
	t.Parallel()
	// An invoice whose provider is not reached is sent after as long as it has been tried, at least half a minute and at most an hour, once
	// more ten seconds before it expires, and then no more.
	k := uma.KeptInvoice{Invoice: uma.Invoice{ExpiresAt: noon.Add(3 * time.Hour)}, CreatedAt: noon}
	for after, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: 2 * time.Minute,
		90 * time.Minute: 150 * time.Minute, 150 * time.Minute: 3*time.Hour - 10*time.Second} {
		if next, intime := k.SendAgain(noon.Add(after)); !intime || next.Sub(noon) != want {
			t.Errorf("after %s: %s, %t; want %s", after, next.Sub(noon), intime, want)
		}
	}
	if next, intime := k.SendAgain(noon.Add(3*time.Hour - 10*time.Second)); intime {
		t.Errorf("after the last time: %s", next)
	}
}

func TestRefusedDelivery_OfAnyReason(t *testing.T) {
	t.Parallel()
	// A reason has no control characters and no part of a character, whatever another provider has written.
	got := uma.RefusedDelivery("400 \x00\xff" + strings.Repeat("é", 300))
	if got.Status != uma.DeliveryRefused || !strings.HasPrefix(got.Reason, "400 é") || strings.Trim(got.Reason[4:], "é") != "" {
		t.Errorf("%q", got.Reason)
	}
}

func TestMayReplace(t *testing.T) {
	t.Parallel()
	// An approved payment that is not paid gives way to its own sender, and to everybody when its invoice has expired.
	open := transaction.Transaction{Type: transaction.Incoming, State: transaction.Initial, ExpiresAt: noon.Add(time.Minute),
		Approval: &transaction.Approval{ApprovedAt: noon}}
	open.Source.UMA = "$ana@bank.test"
	change := func(f func(*transaction.Transaction)) transaction.Transaction {
		changed := open
		f(&changed)
		return changed
	}
	for what, test := range map[string]struct {
		last   transaction.Transaction
		sender string
		now    time.Time
		want   bool
	}{
		"the same sender":    {open, "$ana@bank.test", noon, true},
		"another one":        {open, "$eve@bank.test", noon, false},
		"another one, later": {open, "$eve@bank.test", noon.Add(time.Minute), true},
		"no payment":         {transaction.Transaction{}, "", noon, false},
		"not approved": {change(func(t *transaction.Transaction) { t.Approval = &transaction.Approval{} }), "$ana@bank.test", noon,
			false},
		"paid": {change(func(t *transaction.Transaction) { t.State.Status = transaction.Completed }), "$ana@bank.test", noon,
			false},
		"of the own platform": {change(func(t *transaction.Transaction) { t.Type = transaction.Outgoing }), "$ana@bank.test", noon, false},
	} {
		if got := uma.MayReplace(test.last, test.sender, test.now); got != test.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
