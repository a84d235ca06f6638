package e2e

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/e2e/bench/history"
)

func TestReports_APIAndCommandReturnSameCSV(t *testing.T) {
	t.Parallel()
	// Every report is the same CSV file from the interface and from the command, with all lines, also
	// those of more than one page of the list. An export with names is the same file, too.
	h := newTestEnv(t)
	platform, err := ident.ParsePlatform(h.platformID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.databaseURL, Platform: platform, Entries: 6_000, Months: 3,
		Seed: 9}); err != nil {
		t.Fatal(err)
	}
	h.post("/sandbox/send", object{"reference": "=1+1", "currencyCode": "USD", "currencyAmount": 1250}).wantError(404, "REFERENCE_NOT_FOUND")
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	command := func(args ...string) string {
		return mustRunCommand(t, env, append([]string{"ledger"}, args...)...)
	}
	last := period.MonthOf(time.Now()).Previous()
	month, from, to := last.String(), last.Start().Format(time.RFC3339), last.End().Format(time.RFC3339)
	for m := last.Previous().Previous(); !last.Before(m); m = m.Next() {
		command("soft-close", m.String(), "--platform", h.platformID, "--confirm-opening-balances")
		command("close", m.String(), "--platform", h.platformID)
	}
	now := h.get("/ledger/fx-position").wantStatus(200).text("at") // and rates are kept for it
	customer := h.get("/ledger/accounts?prefix=customers/&currency=USD&limit=1").wantStatus(200).text("data.0.path")

	for name, c := range map[string]struct {
		path    string
		command []string
		minimum int // lines
	}{
		"trial balance": {"/ledger/trial-balance?by=effective&from=" + from + "&to=" + to, []string{"trial-balance", "--by", "effective",
			"--from", from, "--to", to}, 10},
		"income": {"/ledger/income?from=" + from + "&to=" + to + "&period=day", []string{"income", "--from", from, "--to", to,
			"--period", "day"}, 20},
		"position": {"/ledger/fx-position?reportingCurrency=EUR&at=" + now, []string{"fx-position", "--reporting-currency",
			"EUR", "--at", now}, 2},
		"accounts": {"/ledger/accounts?limit=1", []string{"balances"}, 10},
		"a rail": {"/ledger/accounts/rails%2FACH/entries?currency=USD&sortOrder=asc",
			[]string{"entries", "rails/ACH", "--currency", "USD"}, 101},
		"a customer": {"/ledger/accounts/" + strings.ReplaceAll(customer, "/", "%2F") + "/entries?currency=USD&sortOrder=asc&by=effective&to=" +
			to,
			[]string{"entries", customer, "--currency", "USD", "--by", "effective", "--to", to}, 1},
		"postings": {"/ledger/postings?sortOrder=asc&by=effective&from=" + from + "&to=" + to, []string{"postings", "--by", "effective",
			"--from", from, "--to", to}, 101},
		"deposits":     {"/ledger/postings?sortOrder=asc&kind=deposit", []string{"postings", "--kind", "deposit"}, 101},
		"unmatched":    {"/ledger/unmatched?sortOrder=asc", []string{"unmatched"}, 1},
		"closed month": {"/ledger/periods/" + month + "?limit=1", []string{"periods", month, "--platform", h.platformID}, 10},
	} {
		separator := "?"
		if strings.Contains(c.path, "?") {
			separator = "&"
		}
		got := h.get(c.path + separator + "format=csv").wantStatus(200)
		if want := command(append(c.command, "--output", "csv")...); string(got.body) != want {
			t.Errorf("%s: the interface returns\n%.2000s\nand the command\n%.2000s", name, got.body, want)
		}
		rows, err := csv.NewReader(strings.NewReader(string(got.body))).ReadAll()
		if err != nil || len(rows) <= c.minimum {
			t.Errorf("%s: %d lines, want %d at least; %v", name, len(rows)-1, c.minimum, err)
		}
		if strings.Contains(string(got.body), ",=") {
			t.Errorf("%s: a cell is a formula:\n%.2000s", name, got.body)
		}
	}
	h.get("/ledger/periods/"+period.MonthOf(time.Now()).String()+"?format=csv").wantError(409, "CONFLICT")
	h.get("/ledger/accounts/rails%2FNONE/entries?currency=USD&format=csv").wantError(404, "NOT_FOUND")

	for _, format := range []string{"csv", "beancount", "camt053"} {
		got := string(h.get("/ledger/export?names=true&format=" + format + "&from=" + from + "&to=" + to + "&asOf=" + now).wantStatus(200).body)
		want := command("export", "--names", "--format", format, "--from", from, "--to", to, "--as-of", now)
		if plain := command("export", "--format", format, "--from", from, "--to", to, "--as-of", now); got != want || plain == want {
			t.Errorf("%s with names: the interface returns\n%.2000s\nthe command\n%.2000s\nwithout names\n%.2000s", format, got, want, plain)
		}
	}
}
