package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/person"
)

// runAs runs a command with the sessions of somebody.
func runAs(t testing.TB, sessions cli.Sessions, args ...string) (out, errOut string, status int) {
	t.Helper()
	var stdout, stderr strings.Builder
	env := newEnv(&stdout, &stderr)
	env.Sessions = sessions
	status = runIn(t.Context(), env, args)
	return stdout.String(), stderr.String(), status
}

// signInAs returns the sessions of a person who has signed in to a database on the command line.
func signInAs(t *testing.T, url, email string) cli.Sessions {
	t.Helper()
	opened, err := openServices(t.Context(), cli.DatabaseFlags{DatabaseURL: url}, cli.Access{Work: cli.AsRequest})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	requested, err := opened.People().RequestSignIn(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	session := cli.Session{Secret: requested.Secret, Email: email}
	err = opened.(services).db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		p, err := tx.LockPersonByEmail(ctx, email)
		if err != nil {
			return err
		}
		begun := requested.Approve(p.ID, systemClock{}.Now())
		session.ExpiresAt = begun.ExpiresAt
		return tx.CreatePersonSession(ctx, begun)
	})
	sessions := cli.Sessions{Path: filepath.Join(t.TempDir(), "causeway", "sessions.json")}
	if err == nil {
		err = sessions.Set(opened.Database(), session)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

func TestLogin_SessionOfTheMachine(t *testing.T) {
	t.Parallel()
	// The session is in a file that only the user can read, by database. Signing out ends it in the database too. A file that others
	// can read is refused.
	url := pgtest.New(t)
	addPeople(t, url, "ana@people.test")
	sessions := signInAs(t, url, "ana@people.test")
	info, err := os.Stat(sessions.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if folder, err := os.Stat(filepath.Dir(sessions.Path)); err != nil || folder.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", folder, err)
	}
	stored, err := os.ReadFile(sessions.Path)
	if err != nil || strings.Contains(string(stored), "causeway_test:causeway_test") {
		t.Errorf("the file has the password of the database: %s, %v", stored, err)
	}
	if out, errOut, status := runAs(t, sessions, "whoami", "--database-url", url); status != 0 || !strings.Contains(out, "ana@people.test") {
		t.Errorf("whoami: %d, %s%s", status, out, errOut)
	}
	if _, errOut, status := runAs(t, sessions, "whoami", "--database-url", pgtest.New(t)); status != 1 ||
		!strings.Contains(errOut, "causeway login") {
		t.Errorf("whoami of another database: %d, %s", status, errOut)
	}
	if err := os.Chmod(sessions.Path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, errOut, status := runAs(t, sessions, "whoami", "--database-url", url); status != 1 || !strings.Contains(errOut, "read by others") {
		t.Errorf("a file that others can read: %d, %s", status, errOut)
	}
	if err := os.Chmod(sessions.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errOut, status := runAs(t, sessions, "logout", "--database-url", url); status != 0 || out != "Nobody is signed in.\n" {
		t.Errorf("logout: %d, %s%s", status, out, errOut)
	}
	if after, err := os.ReadFile(sessions.Path); err != nil || strings.Contains(string(after), "secret") {
		t.Errorf("after signing out: %s, %v", after, err)
	}
	if err := os.WriteFile(sessions.Path, stored, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errOut, status := runAs(t, sessions, "whoami", "--database-url", url); status != 1 ||
		!strings.Contains(errOut, "nobody is signed in") {
		t.Errorf("with the file of before: %d, %s", status, errOut)
	}
	if _, errOut, status := runAs(t, sessions, "logout", "--database-url", url); status != 0 {
		t.Errorf("logout again: %d, %s", status, errOut)
	}
}

func TestActorFlag_CommandsNeedPerson(t *testing.T) {
	t.Parallel()
	// On a service with a production platform and a person who can sign in, each command that records who runs it is refused without a
	// person who has, and changes nothing. Those that are listed run, and that is recorded.
	url := pgtest.New(t)
	addPeople(t, url, "ana@people.test")
	if out, errOut, status := runAs(t, signInAs(t, url, "ana@people.test"), "platform", "create", "--name", "Acme", "--environment",
		"PRODUCTION", "--database-url", url); status != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	list, _, _ := runAs(t, cli.Sessions{}, "platform", "list", "--database-url", url)
	created := regexp.MustCompile(`PlatformConfig:[0-9a-f-]{36}`).FindStringSubmatch(list)
	if created == nil {
		t.Fatal(list)
	}
	nobody := cli.Sessions{Path: filepath.Join(t.TempDir(), "sessions.json")}
	listed := map[string]bool{}
	for _, c := range person.CommandsWithoutPerson {
		listed[c.Command] = true
	}
	for _, command := range newTestParser(t).Model.Leaves(true) {
		path := cli.CommandPath(command)
		delete(listed, path)
	}
	if len(listed) > 0 {
		t.Errorf("there are no commands %v", listed)
	}
	var rows strings.Builder
	for _, c := range person.CommandsWithoutPerson {
		fmt.Fprintf(&rows, "| `%s` | %s |\n", c.Command, c.Reason)
	}
	if table := "| Command | Why |\n|---|---|\n" + rows.String() + "\n"; !strings.Contains(readFile(t, "../../docs/operating.md"), table) {
		t.Errorf("docs/operating.md does not have\n%s", table)
	}
	for _, args := range []string{"people set-roles ana@people.test --roles VIEWER", "token create --name x",
		"corridors set USD BTC --fee-fixed 25",
		"ledger soft-close 2025-01", "rails resume SEPA --note x", "rails balance bank --set 1 --currency EUR --note x",
		"payouts release 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22 --note x", "jobs retry 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22",
		"jobs discard 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22 --reason x", "keys remove 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22",
		"customers erase Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55", "platform set --regulated", "ledger restore 2025-01",
		"ledger treasury purpose rails/RTP OWN",
		"reviews clear Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e55 --entry eu:1 --reason x --platform " + created[0]} {
		_, errOut, status := runAs(t, nobody, append(strings.Fields(args), "--database-url", url, "--actor", "ana@people.test")...)
		if status != 1 || !strings.Contains(errOut, "causeway login") {
			t.Errorf("%s: %d, %s", args, status, errOut)
		}
	}
	if _, errOut, status := runAs(t, nobody, "rails", "pause", "SEPA", "--note", "x", "--actor", "root", "--database-url",
		url); status != 0 {
		t.Errorf("a listed command: %s", errOut)
	}
	checkActions(t, url, "BREAK_GLASS root rails pause", "PAUSE_RAIL root SEPA")
}
