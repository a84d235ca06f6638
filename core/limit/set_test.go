package limit_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
)

func TestInput_Key(t *testing.T) {
	t.Parallel()
	// A limit names a currency, and may name customers and a region; every invalid field is named.
	for name, c := range map[string]struct {
		in  limit.Input
		bad []string
	}{
		"platform":                 {limit.Input{Currency: "USD"}, nil},
		"each":                     {limit.Input{Currency: "BTC", Customer: "each", Region: "DE"}, nil},
		"one":                      {limit.Input{Currency: "USD", Customer: ana.String()}, nil},
		"one in capitals":          {limit.Input{Currency: "USD", Customer: "Customer:" + strings.ToUpper(ana.UUID().String())}, nil},
		"nothing":                  {limit.Input{}, []string{"currency"}},
		"everything":               {limit.Input{Currency: "usd", Customer: "ana", Region: "EU"}, []string{"currency", "customer", "region"}},
		"the region of a customer": {limit.Input{Currency: "USD", Customer: ana.String(), Region: "DE"}, []string{"region"}},
		"a currency of fees":       {limit.Input{Currency: "ETH"}, []string{"currency"}},
	} {
		k, err := c.in.Key(acme)
		if got := badFields(err); !slices.Equal(got, c.bad) {
			t.Errorf("%s: %v, want %q", name, err, c.bad)
		}
		of := strings.Replace(strings.ToLower(c.in.Customer), "customer", "Customer", 1)
		if err == nil && k != (limit.Key{Platform: acme, Currency: money.Currency(c.in.Currency), Customer: of, Region: c.in.Region}) {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

func badFields(err error) (fields []string) {
	if f, ok := fault.As(err); ok {
		for _, field := range f.Fields {
			fields = append(fields, field.Field)
		}
	}
	return fields
}

func TestRules_SetAndClear(t *testing.T) {
	t.Parallel()
	// A change sets the given amounts and keeps the other one; zero ends a limit. What is cleared is a rule without amounts.
	rules := limit.Rules{rule("", "", 10, 20)}
	for name, c := range map[string]struct {
		key                    limit.Key
		perPayment, daily      *int64
		wantPayment, wantDaily int64
		bad                    []string
	}{
		"new":              {key("each", ""), new(int64(5)), nil, 5, 0, nil},
		"keeps the other":  {key("", ""), nil, new(int64(7)), 10, 7, nil},
		"ends one":         {key("", ""), new(int64(0)), nil, 0, 20, nil},
		"ends both":        {key("", ""), new(int64(0)), new(int64(0)), 0, 0, nil},
		"ends nothing":     {key("each", ""), new(int64(0)), nil, 0, 0, []string{"per-payment"}},
		"no amount":        {key("", ""), nil, nil, 0, 0, []string{"per-payment"}},
		"negative and big": {key("", ""), new(int64(-1)), new(money.MaxMinor + 1), 0, 0, []string{"per-payment", "daily"}},
	} {
		r, err := rules.Set(c.key, limit.Input{PerPayment: c.perPayment, Daily: c.daily}, noon)
		if got := badFields(err); !slices.Equal(got, c.bad) || err == nil &&
			r != (limit.Rule{Key: c.key, PerPayment: c.wantPayment, Daily: c.wantDaily, ChangedAt: noon}) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	cleared, err := rules.Clear(key("", ""), noon)
	if err != nil || !cleared.Cleared() || !cleared.ChangedAt.Equal(noon) {
		t.Errorf("%+v, %v", cleared, err)
	}
	for name, rules := range map[string]limit.Rules{"none": nil, "cleared": {cleared}} {
		if _, err := rules.Clear(key("", ""), noon); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRules_SetRefusesMoreThanMaximum(t *testing.T) {
	t.Parallel()
	// The number of rules of a platform is bounded; those that there are can be changed.
	var rules limit.Rules
	for i := range limit.MaxRules {
		rules = append(rules, rule(ident.NewCustomer(number(byte(i)), noon).String()+string(rune(i)), "", 1, 0))
	}
	if _, err := rules.Set(key("", ""), limit.Input{Daily: new(int64(1))}, noon); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	if _, err := rules.Set(rules[0].Key, limit.Input{Daily: new(int64(1))}, noon); err != nil {
		t.Error(err)
	}
}
