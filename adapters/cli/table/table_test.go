package table_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/cli/table"
)

func TestTable_TextsCannotMoveTheCursor(t *testing.T) {
	t.Parallel()
	// A name or note with line breaks, tabs or escape sequences stays in its cell, on its line.
	rows := table.New("by", "note")
	rows.Add("Ana\nProposal:1  EXECUTED", "a\tb\x1b[2J\u202ec")
	rows.Add("Ben", "d")

	lines := rows.Lines()

	if len(lines) != 3 || strings.ContainsAny(strings.Join(lines, ""), "\n\t\x1b\u202e") {
		t.Errorf("%q", lines)
	}
}

func TestTable_EachFormatHasEveryValue(t *testing.T) {
	t.Parallel()
	// People read short times, dashes and aligned numbers; programs read exact times, nothing, and texts as they are. A
	// spreadsheet takes no text for a formula.
	rows := table.New("name", ">amount", "|currency", "changed (UTC)", "partner's id", "open")
	at := time.Date(2026, 3, 1, 12, 30, 15, 123e6, time.UTC)
	rows.Add("=Ana", 5, "USD", table.Minute(at), table.OrDash(""), true)
	rows.Add("Ben", int64(1250), "EUR", table.Minute(time.Time{}), table.OrDash("p-1"), false)

	for format, want := range map[table.Format]string{
		table.Text: "name  amount       changed (UTC)     partner's id  open\n" +
			"=Ana       5  USD  2026-03-01 12:30  -             true\n" +
			"Ben     1250  EUR  -                 p-1           false\n",
		table.CSV: "name,amount,currency,changed,partners_id,open\r\n" +
			"'=Ana,5,USD,2026-03-01T12:30:15.123Z,,true\r\n" +
			"Ben,1250,EUR,,p-1,false\r\n",
		table.JSON: `[
  {
    "name": "=Ana",
    "amount": 5,
    "currency": "USD",
    "changed": "2026-03-01T12:30:15.123Z",
    "partners_id": null,
    "open": true
  },
  {
    "name": "Ben",
    "amount": 1250,
    "currency": "EUR",
    "changed": null,
    "partners_id": "p-1",
    "open": false
  }
]
`,
	} {
		var out strings.Builder
		if err := rows.Write(&out, format); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, out.String(), want)
		}
	}
}

func TestPage_PartsOfEachFormat(t *testing.T) {
	t.Parallel()
	// People read lines, and what is said in place of an empty table; programs read every table and record, by its key.
	wallet := table.NewRecord("wallet", "w1")
	wallet.Add("allowed account", "a1")
	wallet.Add("allowed account", "a2")
	sessions, hidden := table.New("session"), table.New("suspect")
	hidden.Add("s1")
	var page table.Page
	page.Line("for people")
	page.Record("wallet", wallet)
	page.Table("sessions", sessions, "No sessions.")
	page.Data("suspects", hidden)

	text, csv, json := write(t, &page, table.Text), write(t, &page, table.CSV), write(t, &page, table.JSON)

	if want := "for people\nwallet           w1\nallowed account  a1\nallowed account  a2\nNo sessions.\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if want := "field,value\r\nwallet,w1\r\nallowed_account,a1\r\nallowed_account,a2\r\n\r\nsession\r\n\r\nsuspect\r\ns1\r\n"; csv != want {
		t.Errorf("%q, want %q", csv, want)
	}
	want := `{"wallet":{"wallet":"w1","allowed_account":["a1","a2"]},"sessions":[],"suspects":[{"suspect":"s1"}]}`
	if got := strings.Join(strings.Fields(json), ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func write(t *testing.T, page *table.Page, f table.Format) string {
	t.Helper()
	var out strings.Builder
	if err := page.Write(&out, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriteReport_SameRowsAsCSV(t *testing.T) {
	t.Parallel()
	// A report of any length is an array in JSON, with the texts as they were before they were escaped for spreadsheets.
	for name, pages := range map[string][][][]string{
		"none":     nil,
		"one page": {{{"1", "'=a"}}},
		"two":      {{{"1", "a"}, {"2", "b\n"}}, {{"3", "c"}}},
	} {
		var out strings.Builder
		err := table.WriteReport(&out, []string{"number", "note"}, func(write func([][]string) error) error {
			for _, rows := range pages {
				if err := write(rows); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []struct{ Number, Note string }
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, out.String())
		}
		want := slices.Concat(pages...)
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
		}
		for i, row := range want {
			if got[i].Number != row[0] || got[i].Note != strings.TrimPrefix(row[1], "'") {
				t.Errorf("%s: row %d is %+v, want %q", name, i, got[i], row)
			}
		}
	}
}
