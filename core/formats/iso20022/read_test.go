package iso20022_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"causeway/core/formats/iso20022"
)

func readStatuses(file []byte) (statuses []iso20022.Status, err error) {
	err = iso20022.ReadStatuses(bytes.NewReader(file), func(s iso20022.Status) error { statuses = append(statuses, s); return nil })
	return statuses, err
}

// reportItem is what a file of reports contains.
type reportItem struct {
	Report  *iso20022.Report  `json:",omitempty"`
	Balance *iso20022.Balance `json:",omitempty"`
	Entry   *iso20022.Entry   `json:",omitempty"`
}

func readReports(file []byte) (items []reportItem, err error) {
	err = iso20022.ReadReports(bytes.NewReader(file), iso20022.Visitor{
		Report: func(r iso20022.Report) error { items = append(items, reportItem{Report: &r}); return nil },
		Balance: func(_ iso20022.Report, b iso20022.Balance) error {
			items = append(items, reportItem{Balance: &b})
			return nil
		},
		Entry: func(_ iso20022.Report, e iso20022.Entry) error {
			items = append(items, reportItem{Entry: &e})
			return nil
		},
	})
	return items, err
}

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// compare compares what was read with a golden file.
func compare(t testing.TB, name string, got any) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	var short bytes.Buffer
	for line := range strings.SplitSeq(string(text), "\n") { // without what is empty
		switch value := strings.TrimSuffix(line, ","); {
		case strings.HasSuffix(value, `: ""`), strings.HasSuffix(value, ": null"), strings.HasSuffix(value, ": false"),
			strings.HasSuffix(value, ": 0"),
			strings.HasSuffix(value, `: "0001-01-01T00:00:00Z"`):
		default:
			short.WriteString(line + "\n")
		}
	}
	golden := "testdata/" + name
	if *update {
		if err := os.WriteFile(golden, short.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if short.String() != string(want) {
		t.Errorf("%s: got\n%s", name, short.String())
	}
}

func TestReadStatuses_Fixtures(t *testing.T) {
	t.Parallel()
	// The statuses of files, blocks and transfers are read with all ids, reasons and times, in version 10, which is valid
	// against the schema, and 3.
	current := readFixture(t, "status.xml")
	validate(t, "testdata/pain.002.001.11.xsd", bytes.Replace(current, []byte("pain.002.001.10"), []byte("pain.002.001.11"), 1))
	for _, name := range []string{"status.xml", "status.03.xml"} {
		statuses, err := readStatuses(readFixture(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compare(t, strings.TrimSuffix(name, ".xml")+".txt", statuses)
	}
}

func TestReadReports_Fixtures(t *testing.T) {
	t.Parallel()
	// Credits, returns, batches, charges and balances are read from notifications and statements of version 8, which are
	// valid against the schemas, and of earlier versions.
	validate(t, "testdata/camt.054.001.08.xsd", readFixture(t, "notification.xml"))
	validate(t, "../../../app/exports/testdata/camt.053.001.08.xsd", readFixture(t, "statement.xml"))
	for _, name := range []string{"notification.xml", "notification.04.xml", "notification.02.xml", "statement.xml"} {
		items, err := readReports(readFixture(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compare(t, strings.TrimSuffix(name, ".xml")+".txt", items)
	}
}

func TestRead_ErrorOfVisitor(t *testing.T) {
	t.Parallel()
	// An error of the caller ends the reading, and is returned as it is.
	stop := errors.New("stop")
	calls := 0
	err := iso20022.ReadStatuses(bytes.NewReader(readFixture(t, "status.xml")), func(iso20022.Status) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("statuses: %v after %d calls", err, calls)
	}
	for name, v := range map[string]iso20022.Visitor{
		"report":  {Report: func(iso20022.Report) error { calls++; return stop }},
		"balance": {Balance: func(iso20022.Report, iso20022.Balance) error { calls++; return stop }},
		"entry":   {Entry: func(iso20022.Report, iso20022.Entry) error { calls++; return stop }},
	} {
		calls = 0
		if err := iso20022.ReadReports(bytes.NewReader(readFixture(t, "statement.xml")), v); !errors.Is(err, stop) || calls != 1 {
			t.Errorf("%s: %v after %d calls", name, err, calls)
		}
	}
}

func TestMessageOf_NamesTheMessage(t *testing.T) {
	t.Parallel()
	// The message of a file is known from its beginning, also in an envelope and without a namespace.
	for file, want := range map[string]string{
		string(readFixture(t, "status.xml")):                                                   "pain.002",
		string(readFixture(t, "notification.02.xml")):                                          "camt.054",
		string(readFixture(t, "statement.xml"))[:300]:                                          "camt.053",
		string(readFixture(t, "initiation.xml"))[:300]:                                         "pain.001",
		`<Document><BkToCstmrStmt>`:                                                            "camt.053",
		`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08"><FIToFICstmrCdtTrf>`: "pacs.008",
		`<BkToCstmrAcctRpt xmlns="http://bank.example/report">`:                                "camt.052",
		"\xff\xfe" + wide(`<?xml version="1.0" encoding="UTF-16"?><Document><CstmrPmtStsRpt>`): "pain.002",
		"\ufeff" + `<Document><CstmrPmtStsRpt>`:                                                "pain.002",
	} {
		if got, err := iso20022.MessageOf(strings.NewReader(file)); err != nil || got != want {
			t.Errorf("%.80q: %q, %v, want %q", file, got, err, want)
		}
	}
	for _, file := range []string{"", " ", "101 021000021", `<html><body></body></html>`, `<Document`, `<!DOCTYPE a><Document/>`} {
		if got, err := iso20022.MessageOf(strings.NewReader(file)); err == nil {
			t.Errorf("%q: %q", file, got)
		}
	}
}

// wide returns a text in UTF-16.
func wide(text string) string {
	var result strings.Builder
	for i := range len(text) {
		result.WriteByte(text[i])
		result.WriteByte(0)
	}
	return result.String()
}
