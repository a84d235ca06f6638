package quote_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// embeddedWallet returns the wallet of Ana.
func embeddedWallet() *account.Internal {
	a := internalAccount(ana, money.USDB)
	a.ID, a.Type = testID(ident.InternalAccount{}, 6), account.EmbeddedWallet
	return a
}

// makeQuote makes a quote that sends 100.50 to some parties at a rate.
func makeQuote(t interface{ Fatal(...any) }, p quote.Parties, rate money.Rate,
	changes ...func(*quote.Request)) (quote.Quote, transaction.Transaction) {
	r := newRequest(p)
	r.Amount = 100_500_000
	for _, change := range changes {
		change(&r)
	}
	route, err := r.Route(p)
	if err != nil {
		t.Fatal(err)
	}
	q, tx, err := r.Make(p, route, quote.MakeParams{Quote: testID(ident.Quote{}, 3), Transaction: testID(ident.Transaction{}, 4),
		Market: rate, Terms: route.Corridor.Terms, Now: noon.Add(123456789)})
	if err != nil {
		t.Fatal(err)
	}
	return q, tx
}

func payloadOf(q quote.Quote) string {
	text, _ := q.Instructions[0].Info["payloadToSign"].(string)
	return text
}

func TestMake_WalletSignsCanonicalPayload(t *testing.T) {
	t.Parallel()
	// A quote from a wallet says what its owner signs: one line of JSON with the fields in this order, which
	// names the address of a wallet on a chain, and has the time in milliseconds, as the API shows it. It says
	// so in its payment instructions.
	to := walletAccount(ana)
	to.Fields["address"] = "spark1<good>&\u2028"
	q, tx := makeQuote(t, quote.Parties{Customer: ana, FromInternal: embeddedWallet(), ToExternal: to}, money.MustRate("0.0011"))

	const want = `{"type":"PAYMENT","version":1,"quoteId":"Quote:00000000-0000-0000-0000-000000000003","transactionId":"Transaction:00000000-0000-0000-0000-000000000004",` +
		`"platformId":"PlatformConfig:00000000-0000-0000-0000-000000000001","accountId":"InternalAccount:00000000-0000-0000-0000-000000000006",` +
		`"totalSendingAmount":100500000,"sendingCurrency":"USDB","feesIncluded":FEES,"totalReceivingAmount":RECEIVED,"receivingCurrency":"BTC","exchangeRate":0.0011,` +
		`"destination":{"accountId":"ExternalAccount:00000000-0000-0000-0000-000000000009","address":"spark1<good>&\u2028"},"expiresAt":"EXPIRES"}`
	replaced := strings.NewReplacer("FEES", jsonOf(t, q.Pricing.Fees), "RECEIVED", jsonOf(t, q.Pricing.Received.Minor), "EXPIRES",
		q.ExpiresAt.Format("2006-01-02T15:04:05.000Z")).Replace(want)
	if got := payloadOf(q); got != replaced || tx.Payload != got || len(q.Instructions) != 1 ||
		q.Instructions[0].Info["accountType"] != "EMBEDDED_WALLET" {
		t.Errorf("got  %s\nwant %s", got, replaced)
	}
	if !quote.PayloadMatches(tx.Payload, tx) || !transaction.IsSigned(tx.Instructions) {
		t.Error("the payload is not that of its transaction")
	}
	if flow := tx.Flow(); flow.Funding != transaction.Wallet || tx.SourceRail != "LAYER2" ||
		tx.SourceAccount != embeddedWallet().LedgerPath() {
		t.Errorf("%+v from %s %s", flow, tx.SourceRail, tx.SourceAccount)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPayloadMatches_OnlyItsTransaction(t *testing.T) {
	t.Parallel()
	// A payload is that of a transaction only while everything that it names is the same: who pays, who
	// receives, the amounts, the fees, the rate and the time.
	rapid.Check(t, func(t *rapid.T) {
		_, tx := makeQuote(t, quote.Parties{Customer: ana, FromInternal: embeddedWallet(), ToExternal: walletAccount(ana)},
			money.MustRate("0.0011"),
			func(r *quote.Request) { r.Amount = rapid.Int64Range(2_000_000, 1_000_000_000).Draw(t, "amount") })
		tx.ExpiresAt = tx.ExpiresAt.Truncate(time.Microsecond) // as it is stored
		other := tx
		switch rapid.IntRange(0, 15).Draw(t, "change") {
		case 0:
			other.Pricing.Sent.Minor += rapid.Int64Range(1, 1000).Draw(t, "more")
		case 1:
			other.Pricing.Received.Minor += rapid.Int64Range(1, 1000).Draw(t, "more")
		case 2:
			other.Pricing.Received.Currency = "USD"
		case 3:
			other.ID = testID(ident.Transaction{}, 5)
		case 4:
			other.Source.InternalAccount = testID(ident.InternalAccount{}, 7)
		case 5:
			other.Platform = testID(ident.Platform{}, 2)
		case 6:
			other.Quote = testID(ident.Quote{}, 5)
		case 7:
			other.Pricing.Fees++
		case 8:
			other.Pricing.Rate = money.MustRate("0.0012")
		case 9:
			other.ExpiresAt = other.ExpiresAt.Add(time.Millisecond)
		case 10:
			other.Destination.ExternalAccount = testID(ident.ExternalAccount{}, 7)
		case 11:
			other.Destination.ExternalAccount, other.Destination.InternalAccount = ident.ExternalAccount{}, testID(ident.InternalAccount{}, 7)
		case 12:
			other.Destination.UMA = "$eve@bank.example"
		case 13:
			other.DestinationAccount = "customers/" + testID(ident.InternalAccount{}, 7).String()
		case 14:
			other.SourceAccount = "wallets/" + testID(ident.InternalAccount{}, 7).String()
		default:
			other.Pricing.Sent.Currency = "USDC"
		}

		if !quote.PayloadMatches(tx.Payload, tx) {
			t.Fatalf("%s does not match its transaction", tx.Payload)
		}
		if quote.PayloadMatches(tx.Payload, other) {
			t.Fatalf("%s matches %+v", tx.Payload, other)
		}
	})
	if quote.PayloadMatches("", transaction.Transaction{}) || quote.PayloadMatches("{}", transaction.Transaction{}) {
		t.Error("no payload matches a transaction")
	}
}

func TestPayloadMatches_UMAAddress(t *testing.T) {
	t.Parallel()
	// A payload names the UMA address that receives. It still matches when the name was erased with the
	// customer, and not with the address of anybody else.
	lookup := &quote.Lookup{ID: testID(ident.Lookup{}, 5), Customer: ana.ID, ReceiverUMA: "$bob@bank.example",
		Currencies: []money.Currency{money.USDB}, ExpiresAt: noon.Add(time.Hour)}
	_, tx := makeQuote(t, quote.Parties{Customer: ana, FromInternal: embeddedWallet(), Receiver: lookup}, money.MustRate("1"),
		func(r *quote.Request) { r.Destination.UMA, r.Lookup = lookup.ReceiverUMA, lookup.ID })

	for address, want := range map[string]bool{"$bob@bank.example": true, "$erased@bank.example": true, "$erased@other.example": false,
		"$eve@bank.example": false, "": false} {
		tx.Destination.UMA = address
		if got := quote.PayloadMatches(tx.Payload, tx); got != want {
			t.Errorf("%q: %t, want %t", address, got, want)
		}
	}
}

func TestMake_WalletWithinOneCurrency(t *testing.T) {
	t.Parallel()
	// A wallet cannot use transfers, so it pays within its currency by a quote, without a fee and without
	// conversion.
	own := internalAccount(ana, money.USDB)
	own.Type = account.InternalCrypto
	outside := walletAccount(ana)
	outside.Currency = money.USDB
	for name, p := range map[string]quote.Parties{
		"to an internal account": {Customer: ana, FromInternal: embeddedWallet(), ToInternal: own},
		"to a wallet outside":    {Customer: ana, FromInternal: embeddedWallet(), ToExternal: outside},
	} {
		q, tx := makeQuote(t, p, money.MustRate("1"))

		if q.Pricing.Fees != 0 || q.Pricing.Sent != q.Pricing.Received || tx.Flow().Converts || tx.Flow().Internal != (p.ToInternal != nil) {
			t.Errorf("%s: %+v", name, tx)
		}
	}
}

func TestMake_ToWalletNamesItsChain(t *testing.T) {
	t.Parallel()
	// A payment to a wallet is delivered on its chain; its owner signs nothing.
	q, tx := makeQuote(t, quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToInternal: embeddedWallet()},
		money.MustRate("10000"),
		func(r *quote.Request) { r.Amount = 10050 })

	if flow := tx.Flow(); !flow.ToWallet || flow.Internal || tx.DestinationRail != "LAYER2" ||
		tx.DestinationAccount != embeddedWallet().LedgerPath() || len(q.Instructions) > 0 {
		t.Errorf("%+v: %+v", flow, tx)
	}
}

func TestQuote_CheckFunds(t *testing.T) {
	t.Parallel()
	// A wallet that holds less than the quote needs gets no quote.
	q, _ := makeQuote(t, quote.Parties{Customer: ana, FromInternal: embeddedWallet(), ToExternal: walletAccount(ana)},
		money.MustRate("0.0011"))

	if err := q.CheckFunds(q.Pricing.Sent.Minor); err != nil {
		t.Error(err)
	}
	if err := q.CheckFunds(q.Pricing.Sent.Minor - 1); !fault.Is(err, fault.InsufficientFunds) {
		t.Error(err)
	}
}
