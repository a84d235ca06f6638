package books

import (
	"fmt"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/ledger"
)

func fieldsOf(bad []fault.Field) string {
	var names []string
	for _, f := range bad {
		names = append(names, f.Field)
	}
	return strings.Join(names, " ")
}

func TestAddedAccount_Check(t *testing.T) {
	t.Parallel()
	// An account that finance adds has a path of its class, a name, and perhaps a description, each in one line.
	for name, test := range map[string]struct {
		account AddedAccount
		bad     string
	}{
		"valid":                   {AddedAccount{Path: "expense/office-rent", Name: "Office rent", Description: "Lisbon and Porto"}, ""},
		"a built-in account":      {AddedAccount{Path: "expense/rails", Name: "Rails"}, "path"},
		"a group of the chart":    {AddedAccount{Path: "rails/RTP", Name: "RTP"}, "path"},
		"no such class":           {AddedAccount{Path: "costs/rent", Name: "Rent"}, "path"},
		"capital letters":         {AddedAccount{Path: "expense/Rent", Name: "Rent"}, "path"},
		"no name":                 {AddedAccount{Path: "asset/cars"}, "name"},
		"two lines":               {AddedAccount{Path: "asset/cars", Name: "Cars\nand vans", Description: "x\u2028y"}, "name description"},
		"spaces around":           {AddedAccount{Path: "asset/cars", Name: " Cars"}, "name"},
		"a name that is too long": {AddedAccount{Path: "asset/cars", Name: strings.Repeat("ä", MaxAccountName+1)}, "name"},
		"the longest texts": {AddedAccount{Path: "asset/cars", Name: strings.Repeat("ä", MaxAccountName),
			Description: strings.Repeat("ö", MaxAccountDescription)}, ""},
	} {
		if got := fieldsOf(test.account.Check()); got != test.bad {
			t.Errorf("%s: wrong fields %q, want %q", name, got, test.bad)
		}
	}
	if class := (AddedAccount{Path: "liability/loans"}).Class(); class != ledger.Liability {
		t.Errorf("class %s", class)
	}
}

func TestAddedAccounts_CheckEntries(t *testing.T) {
	t.Parallel()
	// Entries may use built-in accounts and accounts that were added and not retired.
	accounts := AddedAccounts{"asset/cars": {Path: "asset/cars"}, "expense/rent": {Path: "expense/rent", Retired: true}}
	entries := []ledger.Entry{
		{Debit: "expense/rails", Credit: "rails/RTP"},
		{Debit: "asset/cars", Credit: "liability/loans"},
		{Debit: "expense/rent", Credit: "asset/cars"},
	}

	bad := accounts.CheckEntries(entries)

	if got := fieldsOf(bad); got != "entries[1].credit entries[2].debit" {
		t.Fatalf("wrong fields %q", got)
	}
	if !strings.Contains(bad[0].Message, "POST /ledger/chart") || !strings.Contains(bad[1].Message, "retired") {
		t.Errorf("messages %+v", bad)
	}
	if got := fmt.Sprint(AddedPaths(entries)); got != "[asset/cars expense/rent liability/loans]" {
		t.Errorf("paths %s", got)
	}
}
