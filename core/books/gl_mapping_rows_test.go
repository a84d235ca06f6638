package books

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/money"
)

func TestMappingRows_RoundTripThroughCSV(t *testing.T) {
	t.Parallel()
	// Whatever the codes and names, a mapping that is written as CSV and read again is the same.
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[",;a-zA-Z0-9äß€.]([-=+@'",; a-zA-Z0-9äß€.]{0,12}[-=+@'",;a-zA-Z0-9äß€.])?`)
		lines := DefaultMapping().Lines()
		for i := range lines {
			lines[i].GLAccount = GLAccount{fmt.Sprintf("%s/%d", text.Draw(t, "code"), i), text.Draw(t, "name")}
		}
		lines = append(lines, MappingLine{"rails/RTP", rapid.SampledFrom([]money.Currency{"", "USD"}).Draw(t, "currency"), lines[0].GLAccount})
		written, err := NewMapping(lines)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		if err := w.WriteAll(append([][]string{MappingColumns}, MappingRows(written.Lines())...)); err != nil {
			t.Fatal(err)
		}

		rows, err := csv.NewReader(&file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := ParseMappingRows(rows)
		if err != nil {
			t.Fatal(err)
		}
		read, err := NewMapping(parsed)

		if err != nil || !read.Equal(written) {
			t.Fatalf("%v\nread  %+v\nwrote %+v", err, read.Lines(), written.Lines())
		}
	})
}

func TestParseMappingRows_AcceptsColumnsInAnyOrder(t *testing.T) {
	t.Parallel()
	// Columns may be in any order, with a byte order mark and spaces around; the currency may be missing.
	lines, err := ParseMappingRows([][]string{{"\ufeffName", " code", "PATH"}, {"Fees ", "4000", " income/fees"}})

	if want := []MappingLine{{"income/fees", "", GLAccount{"4000", "Fees"}}}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("got %+v, %v", lines, err)
	}
}

func TestParseRows_BlankRowsAtTheEnd(t *testing.T) {
	t.Parallel()
	// Rows of empty cells below the table are no lines; one between lines is an error.
	blank := []string{"", " ", "", ""}
	lines, err := ParseMappingRows([][]string{MappingColumns, {"income/fees", "", "4000", "Fees"}, blank, blank})
	if err != nil || len(lines) != 1 {
		t.Errorf("mapping: %+v, %v", lines, err)
	}
	header, first := []string{"account", "currency", "debit", "credit"}, []string{"asset/taxes", "CHF", "1", ""}
	opening, err := ParseOpeningRows([][]string{header, first, blank})
	if err != nil || len(opening) != 1 {
		t.Errorf("opening balances: %+v, %v", opening, err)
	}
	if _, err = ParseOpeningRows([][]string{header, blank, first}); err == nil {
		t.Error("a blank row between lines is accepted")
	}
	if opening, err = ParseOpeningRows([][]string{header, blank}); err != nil || len(opening) != 0 {
		t.Errorf("nothing but a blank row: %+v, %v", opening, err)
	}
}

func TestParseRows_NameTheWrongDelimiter(t *testing.T) {
	t.Parallel()
	// Of a file that a spreadsheet has written with semicolons or tabs, what to do is named, and not five columns.
	for delimiter, name := range map[string]string{";": "semicolons", "\t": "tabs"} {
		for _, known := range [][]string{MappingColumns, OpeningColumns} {
			_, err := parseHeader([][]string{{strings.Join(known, delimiter)}}, known, "")
			f, _ := fault.As(err)
			if f == nil || len(f.Fields) != 1 || !strings.Contains(f.Message, name+": export the file with commas") {
				t.Errorf("%q: %v", delimiter, err)
			}
		}
	}
}

func TestParseMappingRows_ListsEveryError(t *testing.T) {
	t.Parallel()
	// Unknown, repeated and missing columns, and rows of another length, are listed with the number of their row.
	for name, test := range map[string]struct {
		rows [][]string
		want string
	}{
		"empty":       {nil, "file"},
		"header":      {[][]string{{"path", "path", "account"}}, "row 1 row 1 row 1 row 1"},
		"short row":   {[][]string{MappingColumns, {"a", "b", "c", "d"}, {"a", "b"}}, "row 3"},
		"header only": {[][]string{MappingColumns}, ""},
	} {
		_, err := ParseMappingRows(test.rows)
		f, _ := fault.As(err)
		got := ""
		if f != nil {
			got = fieldsOf(f.Fields)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	_, err := NewMapping([]MappingLine{{"rails/*", "", GLAccount{"1", "Banks"}}, {"rails/*", "", GLAccount{"1", ""}}})
	f, _ := fault.As(RowFields(err))
	if got := fieldsOf(f.Fields); got != "row 3 name row 3 row 3 name" || strings.Contains(f.Message, "lines") {
		t.Errorf("fields %q, %s", got, f.Message)
	}
}
