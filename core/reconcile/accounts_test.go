package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/reconcile"
)

func newNumbered(number string, currency money.Currency) reconcile.Statement {
	return reconcile.Statement{Header: reconcile.Header{PartnerAccount: number, Currency: currency}}
}

// knownAccounts are those of earlier statements.
var knownAccounts = []reconcile.PartnerAccount{
	{Number: "DE02 1203", Currency: "EUR", Path: "rails/SEPA"},
	{Number: "777", Currency: "USD", Path: "rails/ACH"}, {Number: "777", Currency: "USD", Path: "rails/RTP"},
}

func TestAccountPaths_Assign(t *testing.T) {
	t.Parallel()
	// Each statement goes to the ledger account that a person names, or to that of the earlier
	// statements of its number; what is unknown is refused by name.
	euro, dollar := newNumbered("DE021203", "EUR"), newNumbered("777", "USD")
	for _, c := range []struct {
		name, accounts string
		statements     []reconcile.Statement
		want           string
	}{
		{"known", "", []reconcile.Statement{euro}, "[rails/SEPA]"},
		{"named", "GB1=rails/FASTER_PAYMENTS", []reconcile.Statement{newNumbered("gb 1", "GBP"), euro}, "[rails/FASTER_PAYMENTS rails/SEPA]"},
		{"named otherwise than before", "DE021203=rails/SEPA_INSTANT;", []reconcile.Statement{euro}, "[rails/SEPA_INSTANT]"},
		{"the same in two currencies", "DE021203=rails/SEPA", []reconcile.Statement{euro, newNumbered("DE021203", "USD")},
			"[rails/SEPA rails/SEPA]"},
		{"unknown", "", []reconcile.Statement{euro, newNumbered("GB1", "GBP"), newNumbered("DE021203", "USD")},
			"no ledger account is known for: GB1 in GBP, DE021203 in USD; name it with accounts, as in accounts=GB1=rails/RTP"},
		{"the company's own account", "GB1=own/OPERATING", []reconcile.Statement{newNumbered("gb 1", "GBP"), euro}, "[own/OPERATING rails/SEPA]"},
		{"of two rails", "", []reconcile.Statement{dollar}, "which was imported for rails/ACH and rails/RTP; name one"},
		{"of two rails, named", "777=rails/RTP", []reconcile.Statement{dollar}, "[rails/RTP]"},
		{"two accounts of one rail", "778=rails/RTP;777=rails/RTP", []reconcile.Statement{dollar, newNumbered("778", "USD")},
			"has statements of the accounts 777 and 778, which are both of rails/RTP in USD"},
		{"without a number", "", []reconcile.Statement{newNumbered("", "USD")}, "does not say its account"},
		{"named in vain", "GB1=rails/RTP", []reconcile.Statement{euro}, "names the account GB1, of which the file has no statement"},
		{"not a partner", "GB1=income/fees", nil,
			`"income/fees" is not the ledger account of a partner, rails/<RAIL>, chains/<network> or own/<NAME>`},
		{"no pair", "GB1", nil, `"GB1" is not of the form number=path`},
		{"twice", "GB1=rails/RTP;gb1=rails/RTP", nil, "the account gb1 is named twice"},
	} {
		named, err := reconcile.ParseAccountPaths(c.accounts)
		var paths []string
		if err == nil {
			paths, err = named.Assign(c.statements, knownAccounts)
		}
		got := fmt.Sprint(paths)
		if err != nil {
			got = err.Error()
		}
		if err != nil && !fault.Is(err, fault.InvalidInput) || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestAccountPaths_CheckNumber(t *testing.T) {
	t.Parallel()
	// A statement of another account than the earlier ones is refused, unless a person names it.
	for _, c := range []struct{ name, accounts, number, path, want string }{
		{"the first", "", "GB1", "rails/FASTER_PAYMENTS", ""},
		{"the same", "", "777", "rails/RTP", ""},
		{"without a number", "", "", "rails/RTP", ""},
		{"another", "", "778", "rails/RTP", "is a statement of the account 778, and the earlier statements of rails/RTP in USD are of 777; if " +
			"that is right, name it: accounts=778=rails/RTP"},
		{"another, named", "778=rails/RTP", "778", "rails/RTP", ""},
		{"of another rail", "", "777", "rails/WIRE", "is a statement of the account 777, whose earlier statements are of rails/ACH and " +
			"rails/RTP, not rails/WIRE"},
		{"of another rail, named", "777=rails/WIRE", "777", "rails/WIRE", ""},
		{"named for another", "777=rails/WIRE", "777", "rails/RTP", "names rails/WIRE for the account 777, and account is rails/RTP"},
		{"named in vain", "5=rails/RTP", "777", "rails/RTP", "names the account 5, of which the file has no statement"},
	} {
		named, err := reconcile.ParseAccountPaths(c.accounts)
		if err == nil {
			err = named.CheckNumber(newNumbered(c.number, "USD"), c.path, knownAccounts)
		}
		if (err == nil) != (c.want == "") || err != nil && (!fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestStatement_CheckContinues(t *testing.T) {
	t.Parallel()
	// A statement continues the one before it if it opens with the balance that one closed with, or
	// if either does not say.
	balance := func(minor int64) *int64 { return &minor }
	for _, c := range []struct {
		closing, opening *int64
		gap              bool
	}{{balance(5), balance(5), false}, {balance(5), balance(6), true}, {nil, balance(6), false}, {balance(5), nil, false}} {
		s := newNumbered("1", "USD")
		s.Opening = c.opening
		var before reconcile.Run
		before.Closing = c.closing
		if got := s.CheckContinues(before); strings.Contains(got, "a statement between them is missing") != c.gap {
			t.Errorf("%v: %q", c, got)
		}
	}
}
