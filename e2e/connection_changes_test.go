package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var proposalPattern = regexp.MustCompile(`Proposal:[0-9a-f-]{36}`)

func TestConnections_ASecondPersonApprovesTheirChanges(t *testing.T) {
	t.Parallel()
	// A platform lists CONNECTION. An operator retires a connection that serves all platforms, and sets its balance: nothing changes before
	// a person of finance approves, and the operator cannot. Nobody who has not signed in proposes.
	e := newBankEnv(t)
	olga, fred := e.invite("Olga", "OPERATOR"), e.invite("Fred", "FINANCE")
	mustRunCommand(t, e.commandLine(fred), "ledger", "settings", "set", "fourEyes=CONNECTION", "--platform", e.platformID,
		"--note", "two persons")
	file := filepath.Join(t.TempDir(), "bank.json")
	settings := mustRunCommand(t, e.commandLine(olga), "rails", "show", "bank-eur", "--output", "json")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	inForce := func(version string) {
		t.Helper()
		if out := mustRunCommand(t, e.commandLine(olga), "rails", "show", "bank-eur"); !strings.Contains(out, "bank-eur, version "+version+",") {
			t.Errorf("not version %s:\n%s", version, out)
		}
	}
	for _, command := range [][]string{
		{"rails", "balance", "bank-eur", "--set", "1000050", "--currency", "EUR", "--note", "statement"},
		{"rails", "set", "bank-eur", file, "--note", "again"},
		{"rails", "retire", "bank-eur", "--note", "closed"},
	} {
		if _, errOut, status := runCommand(t, e.operatorEnv(), command...); status != 1 || !strings.Contains(errOut, "causeway login") {
			t.Errorf("nobody: %d, %s", status, errOut)
		}
		out := mustRunCommand(t, e.commandLine(olga), command...)
		id := proposalPattern.FindString(out)
		if id == "" || !strings.Contains(out, "nothing has changed yet") {
			t.Fatalf("%q printed %s", command, out)
		}
		if _, errOut, status := runCommand(t, e.commandLine(olga), "rails", "approve", id); status != 1 || !strings.Contains(errOut, "FINANCE") {
			t.Errorf("Olga: %d, %s", status, errOut)
		}
		if out := mustRunCommand(t, e.commandLine(fred), "rails", "proposals", "list", "--status", "PENDING"); !strings.Contains(out, id) {
			t.Errorf("the list has not %s:\n%s", id, out)
		}
		if command[1] == "set" {
			inForce("1")
		}
		if command[1] == "retire" {
			if out := mustRunCommand(t, e.commandLine(fred), "rails", "approve", id); !strings.Contains(out, "EXECUTED") {
				t.Errorf("approved: %s", out)
			}
			continue
		}
		// On the console the process carries it out, whose login may only do what is proposed.
		path := "/console/changes/connections/" + strings.TrimPrefix(id, "Proposal:")
		if page := olga.page(http.MethodGet, path, nil); strings.Contains(page, path+"/approve") {
			t.Errorf("Olga may approve: %s", page)
		}
		if page := fred.page(http.MethodGet, path, nil); !strings.Contains(page, path+"/approve") || !strings.Contains(page, "bank-eur") {
			t.Errorf("the page of the proposal: %s", page)
		}
		form := url.Values{"csrf": {fred.find(tokenPattern, fred.page(http.MethodGet, path+"/approve", nil))}, "code": {fred.recovery[0]}}
		fred.recovery = fred.recovery[1:]
		if page := fred.page(http.MethodPost, path+"/approve", form); !strings.Contains(page, "state EXECUTED") {
			t.Errorf("approved on the console: %s", page)
		}
	}
	inForce("3")
	out := mustRunCommand(t, e.commandLine(olga), "rails", "show", "bank-eur")
	if !strings.Contains(out, "is retired since") || !strings.Contains(out, "10000.50") {
		t.Errorf("after all approvals:\n%s", out)
	}
	out = mustRunCommand(t, e.commandLine(olga), "rails", "history", "bank-eur")
	if strings.Count(out, "olga@people.test, approved by fred@people.test") != 2 {
		t.Errorf("history:\n%s", out)
	}
	e.checkLedger()
}
