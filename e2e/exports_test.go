package e2e

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestExport_SnapshotWhilePaymentsContinue(t *testing.T) {
	t.Parallel()
	// While payments continue, an export over HTTP is a snapshot: it has every entry up to its
	// last posting, and the command writes the same file for the same time.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	for range 3 {
		quote := h.createQuote("")
		h.payQuote(quote, 0).wantStatus(200)
		hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
	}
	var payers sync.WaitGroup
	for range 2 {
		payers.Go(func() {
			for range 5 {
				h.payQuote(h.createQuote(""), 0).wantStatus(200)
			}
		})
	}
	dir := t.TempDir()
	env := []string{"DATABASE_URL=" + h.databaseURL}
	for round := range 5 {
		export := string(h.get("/ledger/export?format=csv").wantStatus(200).body)

		moment, last, entries := parseCSVExport(t, export)
		if want := h.queryInt("SELECT count(*) FROM ledger_entries WHERE platform_id = $1 AND seq <= $2", uuidOf(h.platformID), last); want != entries {
			t.Errorf("%d entries up to posting %d, want %d", entries, last, want)
		}
		path := filepath.Join(dir, fmt.Sprint(round))
		mustRunCommand(t, env, "ledger", "export", "--format", "csv", "--output", path, "--as-of", moment)
		if again := readFile(t, path); again != export {
			t.Errorf("as of %s the command wrote %d bytes, and the interface %d", moment, len(again), len(export))
		}
	}
	payers.Wait()
	h.get("/ledger/export?format=hledger&asOf=2999-01-01T00:00:00Z").wantError(400, "INVALID_INPUT")
}

// parseCSVExport returns the time of a CSV export, the number of its last posting, and how
// many entries it has. Postings are numbered without a gap.
func parseCSVExport(t *testing.T, export string) (moment string, last, entries int64) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(export)).ReadAll()
	if err != nil || len(rows) < 2 || rows[0][0] != "posting_number" || rows[0][len(rows[0])-1] != "as_of" {
		t.Fatalf("not CSV: %v\n%.500s", err, export)
	}
	for _, row := range rows[1:] {
		number, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil || number != last && number != last+1 {
			t.Fatalf("posting %d is followed by %s", last, row[0])
		}
		last = number
	}
	return rows[1][len(rows[1])-1], last, int64(len(rows) - 1)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
