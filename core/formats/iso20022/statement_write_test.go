package iso20022_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/core/formats/iso20022"
	"causeway/core/money"
)

func TestStatementWriter_ReadsBack(t *testing.T) {
	t.Parallel()
	// What is written as a statement is valid against the schema, and is read as the same account, balances and entries.
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }
	day := at.Truncate(24 * time.Hour)
	report := iso20022.Report{Kind: iso20022.Statement, MessageID: "M", ID: "S", CreatedAt: at,
		Account: iso20022.Account{Number: "rails/ACH", Currency: "EUR"}}
	balances := []iso20022.Balance{{Type: "OPBD", Amount: amount(-500), At: day}, {Type: "CLBD", Amount: amount(700), At: at, HasTime: true}}
	code := iso20022.TransactionCode{Proprietary: "FEE", Issuer: "Causeway"}
	entry := iso20022.Entry{Credit: true, Amount: amount(1200), Reversal: true, Status: "BOOK", Booked: day, BookedAt: at,
		Value: day, ValueAt: at, PartnerID: "P", Reference: "1.2", TransactionCode: code,
		Payments: []iso20022.Payment{{PartnerID: "P", Amount: amount(1200), References: iso20022.References{PartnerID: "P", TransactionID: "T"},
			Remittance: "Müller & <Söhne> " + strings.Repeat("a", 122), TransactionCode: code, Text: "own/OPERATING"}}}

	var file bytes.Buffer
	w := iso20022.NewStatementWriter(&file, report.MessageID, at, "information")
	head := iso20022.StatementHead{Report: report, Number: 7, From: at, To: at, AccountName: "rails/ACH",
		Owner:    iso20022.Party{Name: "Anna", OrganisationID: "1", OrganisationScheme: "CUSTOMER", Person: true},
		Servicer: &iso20022.Agent{Name: "Bank", Address: &iso20022.Address{Lines: []string{"A street"}}},
		Balances: balances, Credits: iso20022.Totals{Count: 1, Sum: money.TotalOf(1200)}}
	head.Account.NumberScheme = "LEDGER"
	for _, step := range []func() error{func() error { return w.Begin(head) }, func() error { return w.Entry(entry) }, w.EndStatement, w.End} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}

	validate(t, "../../../app/exports/testdata/camt.053.001.08.xsd", file.Bytes())
	items, err := readReports(file.Bytes())
	entry.Line = 9
	want := []reportItem{{Report: &report}, {Balance: &balances[0]}, {Balance: &balances[1]}, {Entry: &entry}}
	if err != nil || !reflect.DeepEqual(items, want) {
		t.Errorf("%v\n%s", err, file.String())
	}
}
