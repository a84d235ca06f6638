package uma_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/core/transaction"
	"causeway/core/uma"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func reasonOf(err error) uma.Reason {
	if refusal, is := errors.AsType[*uma.Refusal](err); is {
		return refusal.Reason
	}
	return ""
}

func TestSupportsVersion(t *testing.T) {
	t.Parallel()
	// Any minor version of a major one that is spoken will do; what is no version will not.
	for version, want := range map[string]bool{"1.0": true, "1.7": true, "0.3": false, "2.0": false, "1": false, "": false, "1.": false,
		"1.x": false, "-1.0": false, "1.0.0": false, "10.0": false} {
		if uma.SupportsVersion(version) != want {
			t.Errorf("%q: want %t", version, want)
		}
	}
	if !uma.SharesVersion([]int{0, 1}) || uma.SharesVersion([]int{0, 2}) || uma.SharesVersion(nil) {
		t.Error("shared versions")
	}
}

func TestWireName_BothWays(t *testing.T) {
	t.Parallel()
	// Facts have the names of the protocol, which lead back to them; other names stay as they are.
	for fact, wire := range map[string]string{"FULL_NAME": "name", "BIRTH_DATE": "birthDate", "COUNTRY_OF_RESIDENCE": "countryCode",
		"ACCOUNT_IDENTIFIER": "accountNumber", "FI_LEGAL_ENTITY_NAME": "fiLegalEntityName", "EMAIL": "email", "shoeSize": "shoeSize"} {
		if got := uma.WireName(fact); got != wire || uma.FactName(wire) != fact {
			t.Errorf("%s: %s, back %s", fact, got, uma.FactName(wire))
		}
	}
	facts := uma.Facts(map[string]string{"name": "Ana", "identifier": "$a@b", "compliance": "x", "email": "", "long": strings.Repeat("x", 501),
		"birthDate": "1990\x00-01"})
	if len(facts) != 2 || facts["FULL_NAME"] != "Ana" || facts["BIRTH_DATE"] != "1990-01" {
		t.Errorf("%v", facts)
	}
	// Of two that are the same fact, that with the name of the protocol counts, each time. Nothing is hidden in a value or turned round.
	for range 20 {
		facts = uma.Facts(map[string]string{"FULL_NAME": "Eve", "name": "Ana", "zz": "\u202eev\u3164\u2800E\u200b \u00ad\ufeff\uffa0",
			"email": "\u200b ", "address": "Line 1\nLine 2", "other": "\u0645\u06cc\u200c\u062e"})
		if len(facts) != 4 || facts["FULL_NAME"] != "Ana" || facts["zz"] != "evE" || facts["address"] != "Line 1 Line 2" ||
			facts["other"] != "\u0645\u06cc\u200c\u062e" {
			t.Fatalf("%q", facts)
		}
	}
	stated := uma.FactsToState(map[string]string{"FULL_NAME": "Ana", "EMAIL": "a@b"}, []transaction.InfoField{{Name: "FULL_NAME"},
		{Name: "TAX_ID"}})
	if len(stated) != 1 || stated["name"] != "Ana" {
		t.Errorf("%v", stated)
	}
}

func TestStamp_OnlyFreshMessages(t *testing.T) {
	t.Parallel()
	// A message is accepted within a window around its time, whatever the numbers are, and its nonce is kept beyond the window.
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.OneOf(rapid.Int64Range(-400, 100), rapid.Int64()).Draw(t, "offset")
		s := uma.Stamp{Nonce: rapid.StringMatching(`[a-z0-9-]{1,40}`).Draw(t, "nonce"), Seconds: noon.Unix() + offset}
		err := s.Check(noon)
		fresh := s.Seconds >= noon.Unix()-300 && s.Seconds <= noon.Unix()+60
		if fresh != (err == nil) || !fresh && reasonOf(err) != uma.InvalidTimestamp {
			t.Fatalf("%d: %v", offset, err)
		}
		if fresh && s.Check(s.NonceUntil()) == nil {
			t.Fatal("a repeated message is accepted after its nonce is forgotten")
		}
	})
	for _, nonce := range []string{"", strings.Repeat("x", 129), "a|b"} {
		if reasonOf((uma.Stamp{Nonce: nonce, Seconds: noon.Unix()}).Check(noon)) != uma.InvalidNonce {
			t.Errorf("%.10q is accepted", nonce)
		}
	}
}

func TestVerify_NothingChangedIsAccepted(t *testing.T) {
	t.Parallel()
	// A signature is right for its text and key only: with any byte of the signature, the text or the key changed it is refused.
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.ByteRange(1, 255), 32, 32).Draw(t, "key")
		key[0] = 1 // below the order of the curve
		text := uma.SignedText(uma.Stamp{Nonce: "n", Seconds: rapid.Int64Range(0, 1<<40).Draw(t, "seconds")}, "$a@bank.test",
			rapid.StringMatching(`\$[a-z]{1,8}@pay.test`).Draw(t, "address"))
		signature, public := uma.Sign(key, text), uma.PublicKey(key)
		if err := uma.Verify(public, text, signature); err != nil {
			t.Fatal(err)
		}
		flip := func(s string) string {
			i, bit := rapid.IntRange(0, len(s)-1).Draw(t, "at"), byte(1)<<rapid.IntRange(0, 6).Draw(t, "bit")
			return s[:i] + string([]byte{s[i] ^ bit}) + s[i+1:]
		}
		if changed := flip(text); uma.Verify(public, changed, signature) == nil {
			t.Fatalf("%q is accepted for %q", changed, text)
		}
		if changed := flip(signature); !strings.EqualFold(changed, signature) && uma.Verify(public, text, changed) == nil {
			t.Fatalf("the signature %s is accepted", changed)
		}
		key[31] ^= 1
		if uma.Verify(uma.PublicKey(key), text, signature) == nil {
			t.Fatal("another key is accepted")
		}
	})
}

// answerTo returns an honest answer to what is asked for.
func answerTo(t *rapid.T, ask uma.Ask, units money.Rate, fee price.Fee) uma.Answer {
	offer, err := ask.Price(units, fee)
	if errors.Is(err, price.ErrOutOfRange) {
		t.Skip("too little or too much")
	}
	if err != nil {
		t.Fatal(err)
	}
	return uma.Answer{Invoice: lightning.Invoice{MilliSatoshis: offer.Msats(), ExpiresAt: noon.Add(5 * time.Minute)}, Currency: ask.Currency,
		Decimals: ask.Currency.Decimals(), Amount: offer.Price.Receiving, Multiplier: offer.Multiplier, Fee: offer.Fee}
}

func TestAsk_AcceptsWhatAProviderAnswers(t *testing.T) {
	t.Parallel()
	// What one provider answers by its price is what the other accepts, for every amount, rate and fee; and with any amount in it
	// changed it is not.
	rapid.Check(t, func(t *rapid.T) {
		units := money.MustRate(strconv.Itoa(rapid.IntRange(1, 99_999).Draw(t, "units")) + "." +
			rapid.StringMatching(`[0-9]{0,5}[1-9]`).Draw(t, "decimals"))
		fee := price.Fee{Fixed: rapid.Int64Range(0, 500).Draw(t, "fixed"), Percent: money.MustFraction("0.00" +
			strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "percent")))}
		ask := uma.Ask{Currency: "EUR", Amount: rapid.Int64Range(1, 1_000_000_00).Draw(t, "amount")}
		if rapid.Bool().Draw(t, "sending locked") {
			ask = uma.Ask{Currency: "EUR", Msats: rapid.Int64Range(1000, 1_000_000_000_000).Draw(t, "msats")}
		}
		honest := answerTo(t, ask, units, fee)
		if err := ask.Check(honest, noon); err != nil {
			t.Fatalf("%+v to %+v: %v", honest, ask, err)
		}
		lie := honest
		step := rapid.Int64Range(1, 1_000_000).Draw(t, "step")
		switch rapid.SampledFrom([]string{"amount", "invoice", "fee", "currency", "decimals", "expiry"}).Draw(t, "lie") {
		case "amount": // by more than what is rounded to: a satoshi, or a unit
			lie.Amount++
			if ask.Amount == 0 {
				sat, _ := units.Ceil(1)
				lie.Amount += step + 2*sat
			}
		case "invoice":
			if lie.Invoice.MilliSatoshis += step; ask.Amount != 0 {
				lie.Invoice.MilliSatoshis += 2000
			}
		case "fee":
			unit, _ := lie.Multiplier.Ceil(1)
			lie.Fee += step + 2*max(1000, unit)
		case "currency":
			lie.Currency = "USD"
		case "decimals":
			lie.Decimals++
		case "expiry":
			lie.Invoice.ExpiresAt = noon.Add(time.Second)
		}
		if err := ask.Check(lie, noon); err == nil {
			t.Fatalf("%+v is accepted for %+v", lie, ask)
		}
	})
}

func TestReceiver_CheckRate(t *testing.T) {
	t.Parallel()
	// A payment may cost a tenth more than was said before, or some dollars of a fixed fee, and no more.
	to := uma.Receiver{Currencies: []uma.Currency{{Code: "EUR", Decimals: 2, Multiplier: money.MustRate("10000"), Min: 1, Max: 1_000_000}}}
	for msats, want := range map[int64]bool{1_000_000_000: true, 1_100_000_000: true, 1_100_000_001: false, 500_000_000: true} {
		err := to.CheckRate(uma.Answer{Currency: "EUR", Amount: 100_000, Invoice: lightning.Invoice{MilliSatoshis: msats}})
		if (err == nil) != want {
			t.Errorf("%d: %v", msats, err)
		}
	}
	if reasonOf(to.CheckRate(uma.Answer{Currency: "USD", Amount: 1})) != uma.InvalidCurrency {
		t.Error("a currency that was not offered is accepted")
	}
}

func TestKeyRing_Rotation(t *testing.T) {
	t.Parallel()
	// A new key signs once nobody may keep the one before, which is published no longer than until then, and decrypts for a day more.
	first := uma.KeyPair{ID: uuid.UUID{1}, Number: 1, ActiveFrom: noon}
	ring := uma.KeyRing{first}
	rotated := noon.Add(10 * time.Hour)
	second := uma.KeyPair{ID: uuid.UUID{2}, Number: ring.NextNumber(), ActiveFrom: ring.NextActiveFrom(rotated)}
	ring = append(ring, second)
	if second.Number != 2 || !second.ActiveFrom.Equal(rotated.Add(uma.KeysPublishedFor)) {
		t.Fatalf("%+v", second)
	}
	for _, test := range []struct {
		at          time.Time
		active      uuid.UUID
		until       time.Time
		decrypting  int
		firstWasted bool
	}{
		{rotated, first.ID, second.ActiveFrom, 1, false},
		{second.ActiveFrom.Add(-time.Second), first.ID, second.ActiveFrom, 1, false},
		{second.ActiveFrom, second.ID, second.ActiveFrom.Add(uma.KeysPublishedFor), 2, false},
		{second.ActiveFrom.Add(uma.DecryptsFor), second.ID, second.ActiveFrom.Add(uma.DecryptsFor + uma.KeysPublishedFor), 1, true},
	} {
		active, until, found := ring.Active(test.at)
		if !found || active.ID != test.active || !until.Equal(test.until) || len(ring.Decrypting(test.at)) != test.decrypting ||
			ring.Outdated(first, test.at) != test.firstWasted {
			t.Errorf("at %s: %v until %s, %d decrypt", test.at, active.ID, until, len(ring.Decrypting(test.at)))
		}
	}
	if ring.Due(second.ActiveFrom.Add(uma.KeysUsedFor-time.Second)) || !ring.Due(second.ActiveFrom.Add(uma.KeysUsedFor)) {
		t.Error("the next keys are made at another time")
	}
	if _, _, found := (uma.KeyRing{}).Active(noon); found || !(uma.KeyRing{}).NextActiveFrom(noon).Equal(noon) {
		t.Error("an empty ring")
	}
	for said, want := range map[time.Time]time.Time{{}: noon.Add(time.Hour), noon.Add(72 * time.Hour): noon.Add(24 * time.Hour),
		noon.Add(-time.Hour): noon.Add(time.Minute), noon.Add(2 * time.Hour): noon.Add(2 * time.Hour)} {
		if got := uma.KeptUntil(said, noon); !got.Equal(want) {
			t.Errorf("said %s: %s", said, got)
		}
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	// A blocked provider is never allowed; with a list of allowed ones, no other is.
	open, closed := uma.Policy{Blocked: []string{"b.test"}}, uma.Policy{Allowed: []string{"a.test", "b.test"}, Blocked: []string{"b.test"}}
	if !open.Allows("a.test") || open.Allows("b.test") || !closed.Allows("a.test") || closed.Allows("b.test") || closed.Allows("c.test") {
		t.Error("policy")
	}
	// A blocked provider cannot use another port or a subdomain, and nobody can use those of an allowed one, or a name that looks like it.
	for domain, want := range map[string]struct{ open, closed bool }{
		"b.test:8443": {false, false}, "x.y.b.test": {false, false}, "x.b.test:8443": {false, false}, "bb.test": {true, false},
		"b.test.example": {true, false}, "b-test": {true, false},
		"a.test:8443": {true, false}, "x.a.test": {true, false}, "xa.test": {true, false}, "xn--a-7ub.test": {true, false},
	} {
		if open.Allows(domain) != want.open || closed.Allows(domain) != want.closed {
			t.Errorf("%s: allowed %t without a list and %t with one", domain, open.Allows(domain), closed.Allows(domain))
		}
	}
}

func TestCheckChannels(t *testing.T) {
	t.Parallel()
	// What another provider reports of its channels is kept if it is some outputs with possible amounts.
	for outpoint, valid := range map[string]bool{"aB09:0": true, strings.Repeat("f", 64) + ":65535": true, "": false, "ab": false,
		"ab:": false, ":1": false, "xy:1": false, "ab:1:2": false, "ab:-1": false, strings.Repeat("f", 80) + ":1": false} {
		if err := uma.CheckChannels([]uma.ChannelUse{{outpoint, 1}}); (err == nil) != valid {
			t.Errorf("%q: %v", outpoint, err)
		}
	}
	for amount, valid := range map[int64]bool{0: true, 2_100_000_000_000_000_000: true, -1: false, 2_100_000_000_000_000_001: false} {
		if err := uma.CheckChannels([]uma.ChannelUse{{"ab:1", amount}}); (err == nil) != valid {
			t.Errorf("%d: %v", amount, err)
		}
	}
	if uma.CheckChannels(slices.Repeat([]uma.ChannelUse{{"ab:1", 1}}, uma.MaxChannels)) != nil ||
		uma.CheckChannels(slices.Repeat([]uma.ChannelUse{{"ab:1", 1}}, uma.MaxChannels+1)) == nil {
		t.Error("not the limit of entries")
	}
}
