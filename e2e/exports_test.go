package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/e2e/bench/history"
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
		if want := h.queryInt("SELECT count(*) FROM ledger_entries WHERE platform_id = $1 AND seq <= $2", uuidOf(h.platformID),
			last); want != entries {
			t.Errorf("%d entries up to posting %d, want %d", entries, last, want)
		}
		path := filepath.Join(dir, fmt.Sprint(round))
		mustRunCommand(t, env, "ledger", "export", "--format", "csv", "--file", path, "--as-of", moment)
		if again := readFile(t, path); again != export {
			t.Errorf("as of %s the command wrote %d bytes, and the interface %d", moment, len(again), len(export))
		}
	}
	payers.Wait()
	h.get("/ledger/export?format=hledger&asOf=2999-01-01T00:00:00Z").wantError(400, "INVALID_INPUT")
}

func TestExport_IncomeStatementEqualsIncomeReport(t *testing.T) {
	t.Parallel()
	// hledger's income statement of an export has the income of GET /ledger/income for the same
	// days, although income was earned in the months before.
	h := newTestEnv(t)
	platform, err := ident.ParsePlatform(h.platformID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.databaseURL, Platform: platform, Entries: 5_000, Months: 3,
		Seed: 4}); err != nil {
		t.Fatal(err)
	}
	month := period.MonthOf(time.Now()).Previous()
	span := "from=" + month.Start().Format(time.RFC3339) + "&to=" + month.End().Format(time.RFC3339)
	path := filepath.Join(t.TempDir(), "month.journal")

	income := h.get("/ledger/income?by=effective&" + span).wantStatus(200)
	if err := os.WriteFile(path, h.get("/ledger/export?format=hledger&"+span).wantStatus(200).body, 0o600); err != nil {
		t.Fatal(err)
	}
	statement := exec.CommandContext(t.Context(), "hledger", "-f", path, "incomestatement", "--flat", "--no-total",
		"--layout=bare", "-O", "csv")
	statement.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+t.TempDir())
	out, err := statement.CombinedOutput()
	if err != nil {
		t.Fatalf("hledger: %v\n%s; install it with .ci/need hledger", err, out)
	}

	var got, want []string
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if strings.HasPrefix(row[0], "Income:") {
			got = append(got, strings.Join(row, " "))
		}
	}
	for i := range income.list("periods.0.lines") {
		line := fmt.Sprintf("periods.0.lines.%d.", i)
		account := map[string]string{"income/fees": "Income:Fees", "income/rounding": "Income:Rounding"}[income.text(line+"path")]
		currency := money.Currency(income.text(line + "currency"))
		amount, _, _ := strings.Cut(money.Amount{Minor: income.int(line + "earned"), Currency: currency}.String(), " ")
		want = append(want, account+" "+string(currency)+" "+amount)
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("hledger reports\n%s\nand the service\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestExport_SlowClientHoldsNothing(t *testing.T) {
	t.Parallel()
	// A client that reads a byte now and then holds no transaction in the database, so vacuum goes
	// on; its platform gets no second export meanwhile, another one does; and its export ends after
	// the maximum duration.
	const shortest = 15 * time.Second // enough for an export on a busy machine
	h := newTestEnv(t, "--export-timeout", "1h", "--rate-limit", "10000", "--rate-burst", "10000")
	impatient := startServer(t, h.databaseURL, "--export-timeout", shortest.String(), "--rate-limit", "10000", "--rate-burst", "10000")
	platform, err := ident.ParsePlatform(h.platformID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.databaseURL, Platform: platform, Entries: 25_000, Months: 1,
		Seed: 1}); err != nil {
		t.Fatal(err)
	}
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	connection := h.requestSlowly("/ledger/export?format=csv")
	defer connection.Close()
	ended := readSlowly(t, connection)

	for range 3 {
		second := h.get("/ledger/export?format=csv").wantError(429, "RATE_LIMITED")
		if second.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", second.header)
		}
		other.get("/ledger/export?format=csv").wantStatus(200)
	}
	const lasting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'causeway readers'
		AND (backend_xmin IS NOT NULL OR state LIKE 'idle in transaction%') AND xact_start < now() - interval '1 second'`
	eventually(t, "no transaction lasts while the export does", func() bool { return h.queryInt(lasting) == 0 })
	h.get("/ledger/export?format=csv").wantError(429, "RATE_LIMITED")
	select {
	case err := <-ended:
		t.Errorf("the slow export ended: %v", err)
	default:
	}

	limited := h.withServer(impatient)
	begin := time.Now()
	connection = limited.requestSlowly("/ledger/export?format=csv")
	defer connection.Close()
	readSlowly(t, connection)
	eventually(t, "the slow export ends and the next one is served",
		func() bool { return limited.get("/ledger/export?format=csv&currency=JPY").status == 200 })
	if took := time.Since(begin); took < shortest {
		t.Errorf("it ended after %s", took)
	}
}

// requestSlowly sends a GET request and returns the connection with the response, of which only
// little is buffered.
func (c *client) requestSlowly(path string) *net.TCPConn {
	c.t.Helper()
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		c.t.Fatal(err)
	}
	dialled, err := net.Dial("tcp", base.Host)
	if err != nil {
		c.t.Fatal(err)
	}
	connection := dialled.(*net.TCPConn)
	if err := connection.SetReadBuffer(4 << 10); err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodGet, c.BaseURL+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.SetBasicAuth(c.ClientID, c.ClientSecret)
	if err := request.Write(connection); err != nil {
		c.t.Fatal(err)
	}
	return connection
}

// readSlowly reads the beginning of a response, and then a little now and then, so that it does not
// stall. It returns a channel with the error that ends it.
func readSlowly(t *testing.T, connection net.Conn) <-chan error {
	t.Helper()
	if _, err := io.ReadFull(connection, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := io.ReadFull(connection, make([]byte, 1<<10)); err != nil {
				ended <- err
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return ended
}

// asOfColumn is the column of a CSV export with the time that it is as of.
const asOfColumn = 14

// parseCSVExport returns the time of a CSV export, the number of its last posting, and how
// many entries it has. Postings are numbered without a gap.
func parseCSVExport(t *testing.T, export string) (moment string, last, entries int64) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(export)).ReadAll()
	if err != nil || len(rows) < 2 || rows[0][0] != "posting_number" || rows[0][asOfColumn] != "as_of" {
		t.Fatalf("not CSV: %v\n%.500s", err, export)
	}
	for _, row := range rows[1:] {
		number, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil || number != last && number != last+1 {
			t.Fatalf("posting %d is followed by %s", last, row[0])
		}
		last = number
	}
	return rows[1][asOfColumn], last, int64(len(rows) - 1)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
