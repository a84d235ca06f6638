package main

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	yearendapp "causeway/app/yearend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/yearend"
)

func TestTable_TextsCannotMoveTheCursor(t *testing.T) {
	t.Parallel()
	// A name or note with line breaks, tabs or escape sequences stays in its cell, on its line.
	lines := table{rows: [][]string{{"Ana\nProposal:1  EXECUTED", "a\tb\x1b[2J\u202ec"}, {"Ben", "d"}}}.lines("by", "note")

	if len(lines) != 3 || strings.ContainsAny(strings.Join(lines, ""), "\n\t\x1b\u202e") {
		t.Errorf("%q", lines)
	}
}

func TestTables_NamesAreNoFormulas(t *testing.T) {
	t.Parallel()
	// A spreadsheet takes the name of the person who changed a month or a year for text, whatever it begins with.
	by := platform.Author{Actor: "=HYPERLINK(1)"}
	by.Token.SetUUID(uuid.UUID{1})
	m := period.MonthOf(time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC))
	year := yearend.OfNumber(2025, time.December)
	reversed := yearend.Closing{Year: year, By: by, Reversal: &yearend.Reversal{By: by}}
	for name, tested := range map[string]accounting.Table{
		"months":        monthsTable([]accounting.Month{{Month: m, Changes: []period.Change{{By: by}}}}),
		"years":         yearsTable([]yearendapp.Year{{Year: year, Closings: []yearend.Closing{{Year: year, By: by}}}}),
		"reversed year": yearsTable([]yearendapp.Year{{Year: year, Closings: []yearend.Closing{reversed}}}),
	} {
		var out strings.Builder
		if err := tested.CSV(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil || len(rows) != 2 || !slices.ContainsFunc(rows[1], func(cell string) bool { return strings.HasPrefix(cell, "'=HYPERLINK") }) ||
			slices.ContainsFunc(rows[1], func(cell string) bool { return strings.HasPrefix(cell, "=") }) {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
}
