package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/search"
)

var (
	id  = uuid.MustParse("01a224d6-6a87-7000-b90f-0aa36c498060")
	own = platform(1)
)

func platform(n byte) (p ident.Platform) {
	p.SetUUID(uuid.UUID{15: n})
	return p
}

func TestParse_WhatATextMayName(t *testing.T) {
	t.Parallel()
	// A text names what it has the form of; one of several forms is looked for in all of them.
	amount := func(minor int64, c money.Currency) []money.Amount { return []money.Amount{{Minor: minor, Currency: c}} }
	for text, want := range map[string]search.Query{
		"":                                 {},
		"Transaction:" + id.String():       {ID: id, Prefix: "Transaction"},
		" " + id.String() + " ":            {ID: id, Partner: []string{id.String()}},
		"01A224D66A877000B90F0AA36C498060": {ID: id, Partner: []string{"01A224D66A877000B90F0AA36C498060", "01a224d66a877000b90f0aa36c498060"}},
		"$Ana@Bank.example":                {UMA: "$ana@bank.example"},
		"12.50 EUR":                        {Amounts: amount(12_50, "EUR"), Number: "1250EUR"},
		"eur 1,234.5":                      {Amounts: amount(1_234_50, "EUR"), Number: "EUR12345"},
		"12 JPY":                           {Amounts: amount(12, "JPY"), Number: "12JPY"},
		"100,50 USD":                       {Amounts: amount(100_50, "USD"), Number: "10050USD"},
		"12.345 EUR":                       {Amounts: amount(12_345_00, "EUR"), Number: "12345EUR"},
		"12.3456 EUR":                      {Number: "123456EUR", Words: []string{"12", "3456", "eur"}},
		"-12 EUR":                          {Number: "12EUR", Words: []string{"12", "eur"}},
		"4321":                             {Partner: []string{"4321"}, Number: "4321"},
		"321":                              {Partner: []string{"321"}},
		"DE89 3704 0044":                   {Number: "DE8937040044", Words: []string{"de89", "3704", "0044"}},
		"Zoë  Müller-Łukasz":               {Words: []string{"zoe", "muller", "lukasz"}},
		"Ana ana X":                        {Words: []string{"ana"}},
		"REF":                              {Partner: []string{"REF", "ref"}, Words: []string{"ref"}},
		"0xABC123":                         {Partner: []string{"0xABC123", "0xabc123"}, Number: "0XABC123", Words: []string{"0xabc123"}},
		"a:b":                              {Partner: []string{"a:b"}},
		strings.Repeat("a", 201):           {},
		"\xff":                             {},
		"a\x00":                            {},
	} {
		got := search.Parse(text)
		if got.Text = ""; got.ID != want.ID || got.Prefix != want.Prefix || got.UMA != want.UMA || !slices.Equal(got.Amounts, want.Amounts) ||
			!slices.Equal(got.Partner, want.Partner) || !slices.Equal(got.Words, want.Words) || got.Number != want.Number {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestParse_AnAmountWithoutCurrency(t *testing.T) {
	t.Parallel()
	// An amount with decimals alone is one of each currency that has as many, in its smallest units, whatever the decimal mark is.
	for _, text := range []string{"100.50", "100,50"} {
		q := search.Parse(text)
		for _, want := range []money.Amount{{Minor: 100_50, Currency: "EUR"}, {Minor: 100_500, Currency: "KWD"}} {
			if !slices.Contains(q.Amounts, want) || !slices.Contains(q.CurrenciesByMinor()[want.Minor], want.Currency) {
				t.Errorf("%s: %v", text, q.Amounts)
			}
		}
		if slices.ContainsFunc(q.Amounts, func(a money.Amount) bool { return a.Currency == "JPY" }) {
			t.Errorf("%s: yen have no decimals: %v", text, q.Amounts)
		}
	}
	if q := search.Parse("10050"); len(q.Amounts) > 0 {
		t.Errorf("a whole number is the number of an account: %v", q.Amounts)
	}
}

func TestKeys_AreFoundByWordsAndNumbers(t *testing.T) {
	t.Parallel()
	// A customer is found by any words of its name in any order and spelling of marks, an account by its number and by the last four
	// characters. The keys of another platform differ, and no key shows what it is of.
	keys := search.KeysOfCustomer(customer.Customer{Platform: own, FullName: "María José  Núñez"})
	for text, found := range map[string]bool{"nunez maria": true, "JOSÉ": true, "maria smith": false, "mar": false} {
		wanted := search.Parse(text).NameKeys(own)
		got := len(wanted) > 0 && !slices.ContainsFunc(wanted, func(k search.Key) bool { return !slices.Contains(keys, k) })
		if got != found {
			t.Errorf("%s is found: %t", text, got)
		}
		for _, k := range search.Parse(text).NameKeys(platform(2)) {
			if slices.Contains(keys, k) {
				t.Errorf("%s is found from another platform", text)
			}
		}
	}
	iban := account.External{Platform: own, Type: "EUR_ACCOUNT", Fields: map[string]string{"iban": "DE89370400440532013000"}}
	numbers := search.KeysOfAccount(iban)
	for text, found := range map[string]bool{"3000": true, "DE89 3704 0044 0532 0130 00": true, "de89370400440532013000": true, "DE89": false,
		"013000": false} {
		if slices.Contains(numbers, search.Parse(text).NumberKey(own)) != found {
			t.Errorf("%s is found: %t", text, !found)
		}
	}
	for _, k := range append(keys, numbers...) {
		if len(k) != 64 || strings.Contains(string(k), "3000") && strings.Contains(string(k), "maria") {
			t.Errorf("key %s", k)
		}
	}
	if n := len(search.KeysOfCustomer(customer.Customer{Platform: own})); n > 0 {
		t.Errorf("a customer without a name has %d keys", n)
	}
	if n := len(search.KeysOfAccount(account.External{Platform: own, Type: "EUR_ACCOUNT"})); n > 0 || search.Parse("ab").NumberKey(own) != "" {
		t.Errorf("an account without a number has %d keys", n)
	}
}

func TestParse_AnyText(t *testing.T) {
	t.Parallel()
	// No text makes it fail, and the name of a customer finds that customer by each of its words.
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		search.Parse(text)
		keys := search.KeysOfCustomer(customer.Customer{Platform: own, FullName: text})
		for _, k := range search.Parse(text).NameKeys(own) {
			if !slices.Contains(keys, k) {
				t.Fatalf("%q is not found by its own name", text)
			}
		}
	})
}
