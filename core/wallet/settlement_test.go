package wallet_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/wallet"
)

func chainPayment() wallet.Payment {
	return wallet.Payment{QuoteID: "Quote:0199f0a5-2d3e-7e4f-9a5b-6c7d8e9f0a14",
		TransactionID: "Transaction:0199f0a5-2d3e-7e4f-9a5b-6c7d8e9f0a15",
		PlatformID:    "PlatformConfig:0199f0a5-2d3e-7e4f-9a5b-6c7d8e9f0a16", AccountID: "InternalAccount:0199f0a5-2d3e-7e4f-9a5b-6c7d8e9f0a17",
		TotalSendingAmount: 25_000_000, SendingCurrency: "USDB", FeesIncluded: 1, TotalReceivingAmount: 2, ReceivingCurrency: "EUR",
		ExchangeRate: "0.92", Destination: `{"umaAddress":"$ana@bank.example"}`, ExpiresAt: "2026-03-14T12:05:00.000Z",
		Settlement: &wallet.Settlement{Network: "BASE", ChainID: 8453, Contract: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
			TokenName: `USD "Coin" <2>`, TokenVersion: "2", To: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", ValidBefore: 1773493500}}
}

func TestParseChainTransfer_ReadsWhatIsSigned(t *testing.T) {
	t.Parallel()
	// The transfer is of the whole amount, as the settlement says; each payload has a nonce of its own. Without a settlement there is none.
	p := chainPayment()
	got, err := wallet.ParseChainTransfer(p.Payload())
	if err != nil || got.Value != 25_000_000 || got.Settlement != *p.Settlement || got.Transaction.String() != p.TransactionID ||
		got.Account.String() != p.AccountID || got.Platform.String() != p.PlatformID {
		t.Fatalf("%+v, %v", got, err)
	}
	other := p
	other.QuoteID = "Quote:0199f0a5-2d3e-7e4f-9a5b-6c7d8e9f0a18"
	if again, err := wallet.ParseChainTransfer(other.Payload()); err != nil || again.Nonce == got.Nonce {
		t.Errorf("%+v, %v", again, err)
	}
	for name, change := range map[string]func(*wallet.Payment){
		"no settlement": func(p *wallet.Payment) { p.Settlement = nil },
		"currency":      func(p *wallet.Payment) { p.SendingCurrency = "USDC" },
		"nothing":       func(p *wallet.Payment) { p.TotalSendingAmount = 0 },
		"negative":      func(p *wallet.Payment) { p.TotalSendingAmount = -1 },
		"account":       func(p *wallet.Payment) { p.AccountID = p.QuoteID },
	} {
		changed := chainPayment()
		if change(&changed); changed.Payload() == p.Payload() {
			t.Fatal(name)
		}
		if got, err := wallet.ParseChainTransfer(changed.Payload()); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestParseChainTransfer_OneReadingOfEachText(t *testing.T) {
	t.Parallel()
	// Whatever is changed of a payload, it is refused, or says exactly what its text does when it is written again.
	text := chainPayment().Payload()
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		end := rapid.IntRange(at, min(len(text), at+20)).Draw(t, "end")
		with := rapid.SampledFrom([]string{"", " ", `"to":"0x1",`, `"TO":"0x1",`, "0", `\u0030`, text[at:end], text[at:end] + text[at:end]}).Draw(t, "with")
		changed := text[:at] + with + text[end:]
		got, err := wallet.ParseChainTransfer(changed)
		if err != nil {
			return
		}
		if n := strings.Count(changed, got.To); n != 1 || !strings.Contains(changed, `"to":"`+got.To+`"`) || strings.Count(strings.ToLower(changed), `"to"`) != 1 {
			t.Fatalf("%s is read as a transfer to %s", changed, got.To)
		}
	})
}

func TestSettlement_For(t *testing.T) {
	t.Parallel()
	// A transfer is valid for an hour after its quote, and via the same contract whatever its time.
	s := *chainPayment().Settlement
	at := time.Date(2026, 3, 14, 12, 5, 0, 0, time.UTC)
	if got := s.For(at); got.ValidBefore != at.Add(time.Hour).Unix() || !got.IsVia(s) {
		t.Errorf("%+v", got)
	}
	if other := s; true {
		if other.To = other.Contract; other.IsVia(s) {
			t.Error("another recipient is the same")
		}
	}
	var none ident.Transaction
	if got, err := wallet.ParseChainTransfer("{}"); err == nil || got.Transaction != none {
		t.Errorf("%+v, %v", got, err)
	}
}
