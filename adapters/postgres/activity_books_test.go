package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/ports"
)

func TestActivities_OfTheBooks(t *testing.T) {
	t.Parallel()
	// What finance changes by hand is recorded where it counts, in tables without ids of their own: it is listed in the order of time with
	// what was changed and who approved it, page by page, and found by its person, its object's id and its object's name. What the service
	// does by itself is not.
	c := newEnv(t)
	ana, com := newPerson(t, "ana@example.com"), newPerson(t, "com@example.com")
	for _, p := range []func(context.Context, *postgres.Unit) error{
		func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, ana) },
		func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, com) }} {
		c.mustDo(t, p)
	}
	posting, other := newIDAt(noon), newIDAt(noon)
	const settings = `ledger_settings (platform_id, version, changed_at, actor, note, functional_currency, unrealised_result, fee_recognition,
		year_end_month, four_eyes, person_id, approver) VALUES `
	for second, insert := range []string{
		settings + `('%[1]s', 1, '%[2]s', 'Ana Silva', 'First', 'USD', 'KEEP', 'DELIVERY', 12, '{}', '%[3]s', '')`,
		settings + `('%[1]s', 2, '%[2]s', 'Ana Silva', 'Two persons', 'USD', 'KEEP', 'DELIVERY', 12, '{CLOSE,ADJUST}', '%[3]s', 'Com Lima')`,
		`ledger_authorisations (platform_id, posting_id, authorised_at, note, actor, person_id) VALUES
			('%[1]s', '%[4]s', '%[2]s', 'Agreed', 'Ana Silva', '%[3]s'), ('%[1]s', '%[5]s', '%[2]s', 'Agreed', 'Ana Silva', '%[3]s')`,
		`receivable_changes (platform_id, receivable_id, number, kind, amount, posting_id, effective_at, changed_at, note, actor, person_id) VALUES
			('%[1]s', '%[5]s', 2, 'COLLECTED', 1, '%[4]s', '%[2]s', '%[2]s', '', '', NULL),
			('%[1]s', '%[5]s', 3, 'WRITTEN_OFF', 1, '%[5]s', '%[2]s', '%[2]s', 'Gone', 'com', '%[6]s')`,
		`ledger_period_changes (platform_id, month, action, changed_at, note, actor) VALUES ('%[1]s', '2026-02-01', 'soft-close', '%[2]s', '', '')`,
		`gl_journals (platform_id, number, span, from_day, to_day, currency, revision, mapping_version, made_at, actor) VALUES
			('%[1]s', 'J-7', 'MONTH', '2026-02-01', '2026-02-28', 'USD', 1, 1, '%[2]s', 'olga')`,
	} {
		at := noon.Add(time.Duration(second) * time.Second)
		insert += ";-- %[1]s%[2]s%[3]s%[4]s%[5]s%[6]s" // all arguments are used
		pgtest.ExecAsSuperuser(t, c.url, "SET session_replication_role = replica; INSERT INTO "+fmt.Sprintf(insert,
			c.platform.ID.UUID(), at.Format(time.RFC3339), ana.ID.UUID(), posting, other, com.ID.UUID()))
	}
	page := func(f ports.ActivityFilter) (got []string) {
		t.Helper()
		f.Platform, f.Limit = c.platform.ID, 1
		for {
			found, err := c.Activities(ports.ForPlatform(t.Context(), c.platform.ID), f)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 {
				return got
			}
			a := found[0]
			got = append(got, fmt.Sprintf("%s %s (%s) %v", a.Action, a.Actor, a.Note, a.Changes))
			f.After = a.ID
		}
	}
	const byAna = "Ana Silva (ana@example.com)"
	authorised := "AUTHORISE_POSTING " + byAna + " (Agreed) []"
	writtenOff := "WRITE_OFF_RECEIVABLE Ana Silva (com@example.com) (Gone) []"
	changed := "CHANGE_SETTINGS_OF_BOOKS " + byAna + " (Two persons; approved by Com Lima) [fourEyes: [] → [\"CLOSE\", \"ADJUST\"]]"
	all := page(ports.ActivityFilter{})
	if len(all) != 6 || !slices.Equal(all[1:5], []string{writtenOff, authorised, authorised, changed}) {
		t.Fatalf("%q; want %s, twice %s, and %s", all, writtenOff, authorised, changed)
	}
	first := all[5]
	for name, test := range map[string]struct {
		filter ports.ActivityFilter
		want   []string
	}{
		"person":  {ports.ActivityFilter{Actor: "ana@example.com"}, []string{authorised, authorised, all[4], first}},
		"object":  {ports.ActivityFilter{SubjectID: other}, []string{writtenOff, authorised}},
		"name":    {ports.ActivityFilter{Subject: "J-7"}, []string{all[0]}},
		"both":    {ports.ActivityFilter{Subject: "J-7", Actor: "ana"}, nil},
		"nothing": {ports.ActivityFilter{Subject: "J-8"}, nil},
	} {
		if got := page(test.filter); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q; want %q", name, got, test.want)
		}
	}
}
