package cli

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/accounting"
	yearendapp "causeway/app/yearend"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/core/yearend"
	"causeway/ports"
)

func TestTables_NamesAreNoFormulas(t *testing.T) {
	t.Parallel()
	// A spreadsheet takes the name of the person who changed a month or a year for text, whatever it begins with.
	by := platform.Author{Actor: "=HYPERLINK(1)"}
	by.Token.SetUUID(uuid.UUID{1})
	m := period.MonthOf(time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC))
	year := yearend.OfNumber(2025, time.December)
	reversed := yearend.Closing{Year: year, By: by, Reversal: &yearend.Reversal{By: by}}
	f := outputFlag{table.CSV}
	report := func(env *Env, years ...yearendapp.Year) error {
		return f.printYears(t.Context(), env, years)
	}
	for name, write := range map[string]func(*Env) error{
		"months": func(env *Env) error {
			return f.printMonths(env, []accounting.Month{{Month: m, Changes: []period.Change{{By: by}}}})
		},
		"years": func(env *Env) error {
			return report(env, yearendapp.Year{Year: year, Closings: []yearend.Closing{{Year: year, By: by}}})
		},
		"reversed year": func(env *Env) error {
			return report(env, yearendapp.Year{Year: year, Closings: []yearend.Closing{reversed}})
		},
	} {
		var out strings.Builder
		if err := write(&Env{Out: &out}); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil || len(rows) != 2 || !slices.ContainsFunc(rows[1], func(cell string) bool {
			return strings.HasPrefix(cell, "'=HYPERLINK")
		}) ||
			slices.ContainsFunc(rows[1], func(cell string) bool { return strings.HasPrefix(cell, "=") }) {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
}

func TestPrint_NamesTokens(t *testing.T) {
	t.Parallel()
	// Tokens of who closed a year, and of who made or saw a report of safeguarding, are printed with their names, which are no formulas.
	var token ident.Token
	token.SetUUID(uuid.UUID{1})
	by := platform.Author{Token: token}
	year := yearendapp.Year{Year: yearend.OfNumber(2025, time.December)}
	year.Closings = []yearend.Closing{{Year: year.Year, By: by}}
	report := ports.KeptReport{Acknowledgements: []safeguarding.Acknowledgement{{By: by}}}
	report.Day, report.By = "2026-03-14", by
	var out strings.Builder
	env := &Env{Out: &out, nameTokens: func(texts ...*string) error {
		for _, text := range texts {
			*text = platform.NameTokens(*text, map[ident.Token]platform.TokenName{token: {Name: "=Laptop", Person: "ana@acme.example"}})
		}
		return nil
	}}
	page := safeguardingPage(report)

	err := errors.Join(outputFlag{table.CSV}.printYears(t.Context(), env, []yearendapp.Year{year}), outputFlag{table.Text}.print(env, &page))

	if got := out.String(); err != nil || !strings.Contains(got, "\"'=Laptop of ana@acme.example, "+token.String()) ||
		strings.Count(got, " by =Laptop of ana@acme.example, "+token.String()) != 2 {
		t.Errorf("%s, %v", got, err)
	}
}
