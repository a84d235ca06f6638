package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestCorridorsCommand_SetResetAndHistory(t *testing.T) {
	t.Parallel()
	// An operator sees the terms, changes them for all and for one platform, takes a
	// change back, and finds all of it in the history.
	url := seededDatabase(t)
	var all strings.Builder
	for _, args := range []string{
		"set USD BTC --fee-percent 0.3% --fee-fixed 25 --note agreed",
		"set USD BTC --lock 90s --min 200 --platform " + fakePlatform,
		"set USD BTC --fee-fixed 25",
		"reset USD BTC --platform " + fakePlatform + " --note over",
		"reset USD BTC --platform " + fakePlatform,
		"set USD BTC --max 50000 --platform " + fakePlatform,
		"history",
	} {
		out, complaint, status := runCorridors(t, url, args)
		if status != 0 || complaint != "" {
			t.Errorf("corridors %s: status %d, %s", args, status, complaint)
		}
		all.WriteString("$ causeway corridors " + args + "\n" + out + "\n")
	}
	moment := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	checkGolden(t, "corridors.txt", moment.ReplaceAllString(all.String(), "2026-03-14 12:00:00"))

	// The list marks what is not built in, in words and for programs.
	list, _, _ := runCorridors(t, url, "list --platform "+fakePlatform)
	if !regexp.MustCompile(`(?m)^USD +BTC +0\.25 +\+ +0\.3% +1\.00 +to +500\.00 +5m +fee-fixed, fee-percent for all; max for this platform$`).MatchString(list) {
		t.Errorf("USD to BTC is not listed as it is:\n%s", list)
	}
	var shown []struct {
		From, To, FeePercent            string
		FeeFixed, Min, Max, LockSeconds int64
		NotBuiltIn                      struct{ ForAll, ForPlatform []string }
	}
	text, _, _ := runCorridors(t, url, "list --json --platform "+fakePlatform)
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	found := 0
	for _, s := range shown {
		changed := len(s.NotBuiltIn.ForAll)+len(s.NotBuiltIn.ForPlatform) > 0
		if changed != (s.From == "USD" && s.To == "BTC") {
			t.Errorf("%+v", s)
		}
		if changed {
			found++
			if s.FeePercent != "0.3%" || s.FeeFixed != 25 || s.Min != 100 || s.Max != 50000 || s.LockSeconds != 300 {
				t.Errorf("%+v", s)
			}
		}
	}
	if found != 1 || len(shown) != strings.Count(list, "\n")-1 {
		t.Errorf("%d of %d lines are changed", found, len(shown))
	}
}

func TestCorridorsCommand_ReportsAllInvalidFlags(t *testing.T) {
	t.Parallel()
	// All mistakes are told at once, by the names of the flags, and nothing is changed.
	url := seededDatabase(t)
	for args, want := range map[string][]string{
		"set USD CAD --fee-percent 3 --fee-fixed x --min=-1 --max 0 --lock 1h --platform acme": {"nothing was changed", "not yet live",
			"--fee-percent must be a percentage", "--fee-fixed must be", "--min must be", "--max must be", "--lock must be", "--platform malformed id"},
		"set USD BTC":                      {"at least one value"},
		"set USD BTC --min 500 --max 400":  {"--min would be 5.00 USD, above the maximum of 4.00 USD"},
		"set USD":                          {"<to>"},
		"reset USD XXX":                    {"not a currency we know"},
		"list --platform " + deliveredRamp: {"--platform malformed id"},
		"history usd":                      {"known currencies"},
		"set USD BTC --fee-fixed 1 --database-url postgres://nobody:1/no": {"cannot reach the database"},
	} {
		out, complaint, status := runCorridors(t, url, args)
		if status == 0 || out != "" {
			t.Errorf("corridors %s: status %d, %s", args, status, out)
		}
		for _, part := range want {
			if !strings.Contains(complaint, part) {
				t.Errorf("corridors %s: without %q: %s", args, part, complaint)
			}
		}
	}
	if out, _, _ := runCorridors(t, url, "history"); out != "Nothing was ever changed; the built-in terms are in force.\n" {
		t.Errorf("the history is\n%s", out)
	}
}

func runCorridors(t testing.TB, url, args string) (out, complaint string, status int) {
	t.Helper()
	var stdout, stderr strings.Builder
	words := append([]string{"corridors"}, strings.Fields(args)...)
	if !strings.Contains(args, "--database-url") {
		words = append(words, "--database-url", url)
	}
	status = run(t.Context(), words, &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}
