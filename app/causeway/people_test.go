package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/signin"
	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/ports/portstest"
)

var consoleLink = regexp.MustCompile(`(?m)^https://pay\.example\.com/console/link/([A-Za-z0-9_-]{43})$`)

func TestPeopleCommands(t *testing.T) {
	t.Parallel()
	// A person is invited with a link, listed, given other roles and another link, and disabled. Every step is recorded with who
	// did it, and what is wrong is named without a change.
	url := pgtest.New(t)
	command := func(args ...string) (string, int) {
		var out, errOut strings.Builder
		status := run(t.Context(), append(append([]string{"people"}, args...), "--database-url", url), &out, &errOut)
		return out.String() + errOut.String(), status
	}
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: systemClock{}, IDs: ids.New(), TxOf: newTx})
	service := people.New(people.Config{Store: db, Verifier: signin.Verifier{}, Clock: systemClock{}, IDs: ids.New()})
	ownPlatform := portstest.SandboxPlatform(t, ids.New(), systemClock{}.Now())
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, ownPlatform) })
	one := "VIEWER@" + ownPlatform.ID.String()

	if out, status := command(
		"list",
	); status != 0 ||
		!strings.Contains(out, "There is nobody yet. Invite a person with: causeway people invite") {
		t.Errorf("list: %d\n%s", status, out)
	}
	invite := []string{"invite", "Ana@Example.com", "--name", "Ana Silva", "--roles", "finance," + one, "--actor", "cleo",
		"--public-url", "https://pay.example.com/"}
	out, status := command(invite...)
	link := consoleLink.FindStringSubmatch(out)
	if status != 0 || link == nil || !strings.HasPrefix(out, "Give this link to Ana Silva in confidence. It can be opened once, until 20") {
		t.Fatalf("invite: %d\n%s", status, out)
	}
	if p, err := service.Linked(t.Context(), link[1]); err != nil || p.Email != "ana@example.com" {
		t.Errorf("the link is of %+v, %v", p, err)
	}
	if out, status := command(
		"list",
	); status != 0 ||
		!regexp.MustCompile(`ana@example.com +INVITED +FINANCE, `+one+` +20\S+ +Ana Silva\n`).MatchString(out) {
		t.Errorf("list: %d\n%s", status, out)
	}
	if out, status := command("list", "--output", "json"); status != 0 || !strings.Contains(out, `"roles": "FINANCE, `+one+`"`) {
		t.Errorf("list as JSON: %d\n%s", status, out)
	}
	if out, status := command("set-roles", " ANA@example.com", "--roles", "COMPLIANCE", "--actor", "bo"); status != 0 ||
		out != "ana@example.com now has the roles COMPLIANCE.\n" {
		t.Errorf("set-roles: %d\n%s", status, out)
	}
	out, status = command("link", "ana@example.com", "--public-url", "https://pay.example.com", "--actor", "bo")
	next := consoleLink.FindStringSubmatch(out)
	if status != 0 || next == nil || next[1] == link[1] {
		t.Fatalf("link: %d\n%s", status, out)
	}
	if _, err := service.Linked(t.Context(), link[1]); !errors.Is(err, person.ErrLink) {
		t.Errorf("the link before opens: %v", err)
	}
	if out, status := command("disable", "ana@example.com", "--actor", "bo"); status != 0 || out != "ana@example.com is disabled.\n" {
		t.Errorf("disable: %d\n%s", status, out)
	}
	if _, err := service.OpenLink(t.Context(), next[1]); !fault.Is(err, fault.Conflict) {
		t.Errorf("one who is disabled opens a link: %v", err)
	}

	const unknown = "VIEWER@PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"
	const badActor = "--actor must name who does this"
	inviteBo := func(args ...string) []string { return append([]string{"invite", "bo@example.com"}, args...) }
	for name, wrong := range map[string]struct{ args, want []string }{
		"invited already": {invite, []string{"ana@example.com is invited already", "causeway people set-roles", "causeway people link"}},
		"every bad field": {[]string{"invite", "ana", "--name", "<b>", "--roles", unknown}, []string{"nobody was invited:\n",
			"  ana must be an e-mail address such as ana@example.com", "  --name must be a name", "  --roles " + unknown + " is of no platform",
			"causeway platform list"}},
		"every bad role": {inviteBo("--name", "Bo", "--roles", "ROOT,VIEWER@x,VIEWER"), []string{
			`--roles: "ROOT" must be one of VIEWER, SUPPORT`, `--roles: "VIEWER@x": what follows @ must be an id of the form PlatformConfig:`}},
		"no role":           {inviteBo("--name", "Bo", "--roles", ""), []string{"--roles"}},
		"no name":           {inviteBo("--roles", "VIEWER"), []string{"--name"}},
		"bad actor":         {inviteBo("--name", "Bo", "--roles", "VIEWER", "--actor", "a\tb"), []string{"nobody was invited", badActor}},
		"actor of a change": {[]string{"disable", "ana@example.com", "--actor", "a\tb"}, []string{"nothing was changed", badActor}},
		"roles of nobody": {[]string{"set-roles", "bo@example.com", "--roles", "VIEWER"},
			[]string{"There is no person with the e-mail address bo@example.com", "causeway people list"}},
		"link of nobody": {[]string{"link", "bo@example.com"}, []string{"There is no person"}},
		"disable nobody": {[]string{"disable", ""}, []string{"There is no person"}},
		"role of no platform": {[]string{"set-roles", "ana@example.com", "--roles", unknown},
			[]string{"nothing was changed", unknown + " is of no platform"}},
	} {
		out, status := command(wrong.args...)
		if status == 0 {
			t.Errorf("%s succeeded:\n%s", name, out)
		}
		for _, want := range wrong.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q:\n%s", name, want, out)
			}
		}
	}
	if found, err := service.List(t.Context()); err != nil || len(found) != 1 || found[0].Status != person.Disabled ||
		person.GrantTexts(found[0].Grants) != "COMPLIANCE" {
		t.Errorf("there are %+v, %v", found, err)
	}
	var recorded string
	const actions = `SELECT string_agg(action || ' ' || subject || ' by ' || actor, E'\n' ORDER BY id) FROM operator_actions`
	if err := db.Pool().QueryRow(t.Context(), actions).Scan(&recorded); err != nil {
		t.Fatal(err)
	}
	want := "INVITE_PERSON ana@example.com as FINANCE, " + one + " by cleo\n" +
		"CHANGE_ROLES ana@example.com from FINANCE, " + one + " to COMPLIANCE by bo\n" +
		"LINK_PERSON ana@example.com who was INVITED by bo\nDISABLE_PERSON ana@example.com by bo"
	if recorded != want {
		t.Errorf("recorded\n%s\nwant\n%s", recorded, want)
	}
}
