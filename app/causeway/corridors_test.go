package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/cli"
	"causeway/adapters/postgres"
	"causeway/core/person"
)

func TestCorridorsCommand_SetResetAndHistory(t *testing.T) {
	t.Parallel()
	// An operator changes terms for all platforms and for one, resets them, and sees every change
	// in the history.
	url := seededDatabase(t)
	var transcript strings.Builder
	for _, args := range []string{
		"set USD BTC --actor ana --fee-percent 0.3% --fee-fixed 25 --note agreed",
		"set USD BTC --actor ana --lock 90s --min 200 --platform " + fakePlatform,
		"set USD BTC --actor ana --fee-fixed 25",
		"reset USD BTC --actor ana --platform " + fakePlatform + " --note over",
		"reset USD BTC --actor ana --platform " + fakePlatform,
		"set USD BTC --actor ana --max 50000 --platform " + fakePlatform,
		"history",
	} {
		out, errOut, status := runCorridors(t, url, args)
		if status != 0 || errOut != "" {
			t.Errorf("corridors %s: status %d, %s", args, status, errOut)
		}
		transcript.WriteString("$ causeway corridors " + args + "\n" + out + "\n")
	}
	timestamp := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	checkGolden(t, "corridors.txt", timestamp.ReplaceAllString(transcript.String(), "2026-03-14 12:00:00"))

	checkActions(t, url, "SET_CORRIDOR ana USD to BTC", "SET_CORRIDOR ana USD to BTC", "SET_CORRIDOR ana USD to BTC",
		"RESET_CORRIDOR ana USD to BTC", "RESET_CORRIDOR ana USD to BTC", "SET_CORRIDOR ana USD to BTC")

	// The list marks changed terms, as text and as JSON.
	list, _, _ := runCorridors(t, url, "list --platform "+fakePlatform)
	if !regexp.MustCompile(
		`(?m)^USD +BTC +0\.25 +\+ +0\.3% +1\.00 +to +500\.00 +5m +fee-fixed, fee-percent for all; max for this platform$`).MatchString(list) {
		t.Errorf("wrong line for USD to BTC:\n%s", list)
	}
	var terms []struct {
		From, To, FeePercent            string
		FeeFixed, Min, Max, LockSeconds int64
		Changed                         struct{ ForAll, ForPlatform []string }
	}
	text, _, _ := runCorridors(t, url, "list --output json --platform "+fakePlatform)
	if err := json.Unmarshal([]byte(text), &terms); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	found := 0
	for _, s := range terms {
		changed := len(s.Changed.ForAll)+len(s.Changed.ForPlatform) > 0
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
	if found != 1 || len(terms) != strings.Count(list, "\n")-1 {
		t.Errorf("%d of %d lines are changed", found, len(terms))
	}
}

func TestCorridorsCommand_TwoOperatorsChangePrices(t *testing.T) {
	t.Parallel()
	// When the settings of a platform list PRICE, changes for it and for all platforms are proposed. Another person
	// approves or rejects them, once, and a change of terms that have changed since is refused.
	url := seededDatabase(t)
	if out, errOut, status := runLedger(t, url, "settings set fourEyes=PRICE --actor ana"); status != 0 {
		t.Fatalf("settings: status %d, %s%s", status, errOut, out)
	}
	addPeople(t, url, "ana@people.test", "ben@people.test")
	sessions := map[string]cli.Sessions{"ana": signInAs(t, url, "ana@people.test"), "ben": signInAs(t, url, "ben@people.test")}
	proposals := regexp.MustCompile(`Proposal:[0-9a-f-]{36}`)
	var ids []string // in the order in which they are proposed
	var transcript strings.Builder
	for _, step := range []struct {
		as, args string
		status   int
	}{
		{"ana", "set USD BTC --fee-percent 0.3% --fee-fixed 25 --note agreed", 0},
		{"ana", "set USD BTC --fee-fixed 50 --platform " + fakePlatform, 0},
		{"ana", "reset USD BTC", 0},
		{"ben", "set USD EUR --lock 90s", 0},
		{"", "set EUR USD --lock 90s --actor ana@people.test", 1},
		{"", "history", 0},
		{"", "proposals list --status PENDING", 0},
		{"ana", "approve 1", 1},
		{"ana", "approve 1 --actor ben@people.test", 1},
		{"", "approve 1 --actor ben@people.test", 1},
		{"ben", "approve 1 --actor Ben@people.test", 0},
		{"", "approve 1 --actor carl", 1},
		{"ben", "approve 2", 1},
		{"", "proposals show 2", 0},
		{"ben", "reject 2 --note Outdated", 0},
		{"ana", "approve 3", 0},
		{"", "proposals list", 0},
		{"", "history", 0},
	} {
		args := strings.Fields(step.args)
		for i, arg := range args {
			if len(arg) == 1 && arg >= "1" && arg <= "9" {
				args[i] = ids[arg[0]-'1']
			}
		}
		out, errOut, status := runAs(t, sessions[step.as], slices.Concat([]string{"corridors"}, args, []string{"--database-url", url})...)
		if status != step.status {
			t.Errorf("corridors %s: status %d, %s%s", step.args, status, errOut, out)
		}
		if found := proposals.FindString(out); args[0] == "set" && found != "" {
			ids = append(ids, found)
		}
		transcript.WriteString(step.as + "$ causeway corridors " + strings.Join(args, " ") + "\n" + out + errOut + "\n")
	}
	text := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(transcript.String(), "2026-03-14 12:00:00")
	for i, id := range ids {
		text = strings.ReplaceAll(text, id, fmt.Sprintf("Proposal:0199f0a2-0000-7000-8000-%012d", i+1))
	}
	checkGolden(t, "corridors_four_eyes.txt", text)

	checkActions(t, url, "SET_CORRIDOR ben@people.test USD to BTC", "SET_CORRIDOR ana@people.test USD to EUR")
	if out, errOut, status := runLedger(t, url, "check"); status != 0 {
		t.Errorf("check: status %d, %s%s", status, errOut, out)
	}
}

// addPeople stores people who may approve.
func addPeople(t *testing.T, url string, emails ...string) {
	t.Helper()
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2})
	for n, email := range emails {
		p := person.Person{Email: email, Name: email, Grants: []person.Grant{{Role: person.Administrator}}, Status: person.Active,
			CreatedAt: systemClock{}.Now(), UpdatedAt: systemClock{}.Now()}
		p.ID.SetUUID(uuid.UUID{15: byte(n + 1)})
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, p) }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCorridorsCommand_WrongProposal(t *testing.T) {
	t.Parallel()
	// A wrong argument is named with what to do, before the database is opened.
	for args, want := range map[string]string{
		"approve 7":                "corridors proposals list",
		"reject 7":                 "corridors proposals list",
		"proposals show 7":         "corridors proposals list",
		"proposals list --limit 0": "--limit",
	} {
		if _, errOut, status := runCorridors(t, "postgres://127.0.0.1:1/none", args); status != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %s", args, status, errOut)
		}
	}
}

func TestCorridorsCommand_ReportsAllInvalidFlags(t *testing.T) {
	t.Parallel()
	// All invalid flags are reported at once by name, and nothing is changed.
	url := seededDatabase(t)
	for args, want := range map[string][]string{
		"set USD CAD --fee-percent 3 --fee-fixed x --min=-1 --max 0 --lock 1h --platform acme": {"nothing was changed", "not yet live",
			"--fee-percent must be a percentage", "--fee-fixed must be", "--min must be", "--max must be", "--lock must be",
			"--platform must be an id of the form"},
		"set USD BTC":                      {"Set at least one of fee-fixed"},
		"set USD BTC --min 500 --max 400":  {"--min would be 5.00 USD, above the maximum of 4.00 USD"},
		"set USD":                          {"<to>"},
		"reset USD XXX":                    {"not a known currency"},
		"list --platform " + deliveredRamp: {"--platform must be an id of the form"},
		"history usd":                      {"known currencies"},
		"set USD BTC --fee-fixed 1 --database-url postgres://nobody:1/no": {"cannot use the database"},
	} {
		out, errOut, status := runCorridors(t, url, args)
		if status == 0 || out != "" {
			t.Errorf("corridors %s: status %d, %s", args, status, out)
		}
		for _, part := range want {
			if !strings.Contains(errOut, part) {
				t.Errorf("corridors %s: output does not contain %q: %s", args, part, errOut)
			}
		}
	}
	if out, _, _ := runCorridors(t, url, "history"); out != "No changes; the default terms apply.\n" {
		t.Errorf("the history is\n%s", out)
	}
}

func runCorridors(t testing.TB, url, args string) (out, errOut string, status int) {
	t.Helper()
	var stdout, stderr strings.Builder
	argv := append([]string{"corridors"}, strings.Fields(args)...)
	if !strings.Contains(args, "--database-url") {
		argv = append(argv, "--database-url", url)
	}
	status = run(t.Context(), argv, &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}
