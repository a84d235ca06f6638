package limit_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
)

var (
	noon  = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	today = limit.DayOf(noon)
	acme  = ident.NewPlatform(number(1), noon)
	ana   = ident.NewCustomer(number(2), noon)
	bob   = ident.NewCustomer(number(3), noon)
)

// number makes an id with a number.
func number(n byte) func(time.Time) uuid.UUID {
	return func(time.Time) uuid.UUID { return uuid.UUID{6: 0x70, 8: 0x80, 15: n} }
}

func key(customer, region string) limit.Key {
	return limit.Key{Platform: acme, Currency: "USD", Customer: customer, Region: region}
}

func rule(customer, region string, perPayment, daily int64) limit.Rule {
	return limit.Rule{Key: key(customer, region), PerPayment: perPayment, Daily: daily, ChangedAt: noon.AddDate(0, 0, -3)}
}

func payment(c ident.Customer, region string, minor int64) limit.Payment {
	return limit.Payment{Customer: c, Region: region, Sent: money.Amount{Minor: minor, Currency: "USD"}}
}

func scope(c ident.Customer) limit.Scope { return limit.Scope(c.String()) }

func TestRules_CheckAndScopes(t *testing.T) {
	t.Parallel()
	// Each rule that matches a payment holds, up to its amount, and the strictest of a kind is named. A payment is added to one counter of
	// each scope that has a daily limit.
	sent := limit.Counts{{Scope: limit.WholePlatform, Currency: "USD"}: {Transactions: 2, Sent: 60},
		{Scope: "region:DE", Currency: "USD"}: {Sent: 90},
		{Scope: scope(ana), Currency: "USD"}:  {Transactions: 1, Sent: 30}, {Scope: limit.WholePlatform, Currency: "EUR"}: {Sent: 1000}}
	for name, c := range map[string]struct {
		rules   limit.Rules
		payment limit.Payment
		code    fault.Code
		text    string
		scopes  []limit.Scope
	}{
		"none":         {nil, payment(ana, "DE", 100), "", "", nil},
		"size reached": {limit.Rules{rule("", "", 100, 0)}, payment(ana, "DE", 100), "", "", nil},
		"size exceeded": {limit.Rules{rule("", "", 100, 0)}, payment(ana, "DE", 101),
			fault.TransactionSizeLimitExceeded, "at most 1.00 USD", nil},
		"strictest size": {limit.Rules{rule("", "", 100, 0), rule("each", "", 50, 0), rule("", "DE", 70, 0)},
			payment(ana, "DE", 60), fault.TransactionSizeLimitExceeded, "at most 0.50 USD", nil},
		"size before volume": {limit.Rules{rule("", "", 10, 20)}, payment(ana, "", 60), fault.TransactionSizeLimitExceeded,
			"", []limit.Scope{"platform"}},
		"day reached": {limit.Rules{rule("", "", 0, 100)}, payment(ana, "DE", 40), "", "", []limit.Scope{"platform"}},
		"day exceeded": {limit.Rules{rule("", "", 0, 100)}, payment(ana, "DE", 41), fault.DailyVolumeLimitExceeded,
			"0.40 USD of the daily limit of 1.00 USD is left", []limit.Scope{"platform"}},
		"more was sent before the limit": {limit.Rules{rule("", "", 0, 50)}, payment(ana, "DE", 1), fault.DailyVolumeLimitExceeded,
			"0.00 USD of the daily limit of 0.50 USD", []limit.Scope{"platform"}},
		"least left": {limit.Rules{rule("", "", 0, 100), rule("each", "", 0, 50), rule("", "DE", 0, 200)}, payment(ana,
			"DE", 21), fault.DailyVolumeLimitExceeded,
			"0.20 USD of the daily limit of 0.50 USD", []limit.Scope{scope(ana), "platform", "region:DE"}},
		"no region": {limit.Rules{rule("", "DE", 0, 200), rule("", "FR", 0, 200), rule("each", "IT", 20, 0)}, payment(ana, "", 21),
			fault.TransactionSizeLimitExceeded, "at most 0.20 USD", []limit.Scope{"region:DE", "region:FR"}},
		"platform itself":  {limit.Rules{rule("", "DE", 1, 1)}, payment(ident.Customer{}, "", 100), "", "", nil},
		"another customer": {limit.Rules{rule(bob.String(), "", 1, 1)}, payment(ana, "DE", 100), "", "", nil},
		"this customer": {limit.Rules{rule(ana.String(), "", 0, 50)}, payment(ana, "DE", 21),
			fault.DailyVolumeLimitExceeded, "", []limit.Scope{scope(ana)}},
		"one counter of two": {limit.Rules{rule(ana.String(), "", 0, 500), rule("each", "DE", 0, 500)}, payment(ana, "DE",
			21), "", "", []limit.Scope{scope(ana)}},
		"each has its own": {limit.Rules{rule("each", "", 0, 50)}, payment(bob, "DE", 50), "", "", []limit.Scope{scope(bob)}},
		"another region":   {limit.Rules{rule("", "DE", 1, 1), rule("each", "DE", 1, 1)}, payment(ana, "FR", 100), "", "", nil},
		"the platform pays": {limit.Rules{rule("each", "", 1, 1), rule("", "", 0, 100)}, payment(ident.Customer{}, "",
			41), fault.DailyVolumeLimitExceeded, "", []limit.Scope{"platform"}},
		"another currency": {limit.Rules{{Key: limit.Key{Platform: acme, Currency: "EUR"}, PerPayment: 1, Daily: 1}},
			payment(ana, "DE", 100), "", "", nil},
		"cleared today":     {limit.Rules{{Key: key("", ""), ChangedAt: noon}}, payment(ana, "DE", 100), "", "", []limit.Scope{"platform"}},
		"cleared yesterday": {limit.Rules{{Key: key("", ""), ChangedAt: noon.AddDate(0, 0, -1)}}, payment(ana, "DE", 100), "", "", nil},
	} {
		err := c.rules.Check(c.payment, sent)
		if c.code == "" && err != nil || c.code != "" && (!fault.Is(err, c.code) || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if scopes := c.rules.Scopes(c.payment, today); !slices.Equal(scopes, c.scopes) {
			t.Errorf("%s: scopes %q, want %q", name, scopes, c.scopes)
		}
	}
	f, _ := fault.As(limit.Rules{rule("", "", 0, 100)}.Check(payment(ana, "", 41), sent))
	want := map[string]any{"currency": "USD", "amount": int64(41), "limit": int64(100), "remaining": int64(40)}
	if !maps.Equal(f.Details, want) {
		t.Errorf("details %v", f.Details)
	}
}

func TestRules_CheckRefusesSumThatDoesNotFit(t *testing.T) {
	t.Parallel()
	// What cannot be counted is refused, also for a rule that only counts.
	full := limit.Counts{{Scope: limit.WholePlatform, Currency: "USD"}: {Sent: 1<<63 - 1}}
	if err := (limit.Rules{{Key: key("", ""), ChangedAt: noon}}).Check(payment(ana, "", 1), full); !fault.Is(err, fault.AmountOutOfRange) {
		t.Error(err)
	}
}

func TestRules_NeverMoreThanLimits(t *testing.T) {
	t.Parallel()
	// Whatever payments start, and fail later, in whatever order: what was sent on the day and has not failed never exceeds a limit, and
	// the counters are what it adds up to.
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.Int64Range(0, 100)
		var rules limit.Rules
		for _, k := range []limit.Key{key("", ""), key("each", ""), key(ana.String(), ""), key("", "DE"), key("each", "DE")} {
			if rapid.Bool().Draw(t, "has rule") {
				rules = append(rules, limit.Rule{Key: k, PerPayment: amounts.Draw(t, "per payment"), Daily: amounts.Draw(t, "daily")})
			}
		}
		type started struct {
			limit.Payment
			scopes []limit.Scope
		}
		counts := limit.Counts{}
		var sent []started
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(sent) > 0 && rapid.IntRange(0, 3).Draw(t, "step") == 0 { // one fails
				i := rapid.IntRange(0, len(sent)-1).Draw(t, "which")
				for _, s := range sent[i].scopes {
					c := limit.Counter{Scope: s, Currency: "USD"}
					counts[c] = limit.Count{Transactions: counts[c].Transactions - 1, Sent: counts[c].Sent - sent[i].Sent.Minor}
				}
				sent = slices.Delete(sent, i, i+1)
				continue
			}
			p := payment(rapid.SampledFrom([]ident.Customer{ana, bob, {}}).Draw(t, "customer"), "", rapid.Int64Range(1, 60).Draw(t, "amount"))
			if p.Customer == ana {
				p.Region = "DE"
			}
			if rules.Check(p, counts) == nil {
				scopes := rules.Scopes(p, today)
				counts.Add(scopes, p.Sent)
				sent = append(sent, started{p, scopes})
			}
		}

		for _, r := range rules {
			sums := map[ident.Customer]int64{}
			for _, p := range sent {
				if r.Region != "" && r.Region != p.Region || r.Customer == limit.EachCustomer && p.Customer.IsZero() ||
					r.Customer != "" && r.Customer != limit.EachCustomer && r.Customer != p.Customer.String() {
					continue
				}
				if r.PerPayment > 0 && p.Sent.Minor > r.PerPayment {
					t.Fatalf("%+v was sent, with %+v", p, r)
				}
				of := p.Customer
				if r.Customer == "" {
					of = ident.Customer{}
				}
				sums[of] += p.Sent.Minor
			}
			for of, sum := range sums {
				if r.Daily > 0 && sum > r.Daily {
					t.Fatalf("%d was sent by %s, with %+v", sum, of, r)
				}
			}
		}
	})
}

func TestRules_Headroom(t *testing.T) {
	t.Parallel()
	// The platform sees every rule in force, and a customer those about it, each with its counter and what is left.
	rules := limit.Rules{rule("", "", 0, 100), rule("each", "", 5, 0), rule(bob.String(), "", 0, 40), rule("", "FR", 0,
		10), {Key: key("each", "FR"), ChangedAt: noon}}
	platform, customer := rules.Headroom(ident.Customer{}, ""), rules.Headroom(bob, "DE")
	scopes := func(hs []limit.Headroom) (found []limit.Scope) {
		for _, h := range hs {
			found = append(found, h.Counter.Scope)
		}
		return found
	}
	if got := scopes(platform); !slices.Equal(got, []limit.Scope{"platform", "", scope(bob), "region:FR"}) {
		t.Errorf("platform %q", got)
	}
	if got := scopes(customer); !slices.Equal(got, []limit.Scope{"platform", scope(bob), scope(bob)}) {
		t.Errorf("customer %q", got)
	}
	if h := customer[2].With(limit.Count{Transactions: 2,
		Sent: 30}); h.Left != 10 || h.Sent.Sent != 30 || h.With(limit.Count{Sent: 50}).Left != 0 {
		t.Errorf("%+v", h)
	}
}
