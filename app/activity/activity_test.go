package activity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/activity"
	"causeway/app/internal/apptest"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// env is the environment of a test, with something of every kind done on its platform, a minute apart.
type env struct {
	*apptest.Env
	service *activity.Service
	subject uuid.UUID
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t), subject: uuid.UUID{15: 7}}
	e.service = activity.New(e.Store)
	p := e.Admin.Platform.UUID().String()
	for i, insert := range []string{
		`operator_actions (platform_id, id, at, action, subject_id, actor, subject) VALUES (%[1]s, %[2]s, %[3]s, 'VIEW_PERSONAL_DATA', %[4]s,
			'Sam@acme.example', 'Customer:7')`,
		`job_actions (platform_id, id, at, job_id, action, actor, reason, step, subjects, attempts, last_error) VALUES (%[1]s, %[2]s, %[3]s,
			%[2]s, 'RETRY', 'olga', 'Partner is back', 'deliver', ARRAY[%[4]s::uuid], 3, '')`,
		`rail_decisions (platform_id, id, decided_at, payment_id, kind, decision, state, wait, reason, actor, note) VALUES (%[1]s, %[2]s, %[3]s,
			%[4]s, 'PAYOUT', 'RELEASE', 'REVIEW', '', '', 'olga', 'Known')`,
		`verification_reviews (platform_id, id, reviewed_at, customer_id, verification_id, application_id, verdict, actor, details) VALUES (%[1]s,
			%[2]s, %[3]s, %[4]s, %[2]s, %[2]s, 'REFUSED', 'sam@acme.example', '{}')`,
		`ledger_proposals (platform_id, id, action, operation, request, status, proposer, decider, created_at, expires_at, decided_at) VALUES
			(%[1]s, %[2]s, 'CLOSE', 'closeLedgerPeriod', '{}', 'EXECUTED', 'Ana Lima', 'Bob Ray', %[3]s, %[3]s,
			%[3]s::timestamptz + interval '1 s')`,
		`ledger_period_changes (platform_id, month, action, changed_at, note, actor) VALUES (%[1]s, '2026-02-01', 'soft-close', %[3]s,
			'Complete', 'Ana Lima')`,
		`ledger_settings (platform_id, version, changed_at, note, functional_currency, unrealised_result, fee_recognition, year_end_month,
			four_eyes, actor) VALUES (%[1]s, 7, %[3]s, 'The group', 'EUR', 'REVERSE', 'CONVERSION', 12, '{}', 'Ana Lima')`,
	} {
		at := apptest.Noon.Add(time.Duration(i) * time.Minute)
		id := e.IDs.New(at)
		quoted := func(text string) string { return "'" + text + "'" }
		pgtest.ExecAsSuperuser(t, e.URL, "SET session_replication_role = replica; INSERT INTO "+fmt.Sprintf(insert, quoted(p),
			quoted(id.String()), quoted(at.Format(time.RFC3339)), quoted(e.subject.String())))
	}
	return e
}

// list returns the actions that a filter selects, page by page.
func (e *env) list(t *testing.T, f ports.ActivityFilter) (actions []string) {
	t.Helper()
	for {
		found, more, err := e.service.List(ports.ForPlatform(t.Context(), f.Platform), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range found {
			actions = append(actions, strings.TrimSpace(a.Action+" "+a.Actor+" "+a.Note))
			f.After = a.ID
		}
		if !more {
			return actions
		}
	}
}

func TestActivity_OfEveryKindByTime(t *testing.T) {
	t.Parallel()
	// What people have done is listed newest first, over all records of it, whatever the length of a page.
	e := newEnv(t)
	want := []string{"CHANGE_SETTINGS_OF_BOOKS Ana Lima The group", "SOFT_CLOSE_MONTH Ana Lima Complete",
		"APPROVE_CLOSE Bob Ray", "PROPOSE_CLOSE Ana Lima executed", "REVIEW_REFUSED sam@acme.example",
		"RELEASE_PAYOUT olga Known", "RETRY_JOB olga Partner is back", "VIEW_PERSONAL_DATA Sam@acme.example"}
	for _, limit := range []int{1, 2, 5, 6, 100} {
		if got := e.list(t, ports.ActivityFilter{Platform: e.Admin.Platform, Limit: limit}); !slices.Equal(got, want) {
			t.Errorf("%d at once: %q, want %q", limit, got, want)
		}
	}
	if got := e.list(t, ports.ActivityFilter{Platform: ident.Platform{}, Limit: 10}); len(got) > 0 {
		t.Errorf("of the service as a whole: %q", got)
	}
}

func TestActivity_Filters(t *testing.T) {
	t.Parallel()
	// The list is narrowed by a part of the name of the person, in either case and also of who approved, by what it was done to, and by
	// time, of which the end is not part.
	e := newEnv(t)
	for name, test := range map[string]struct {
		filter ports.ActivityFilter
		want   int
	}{
		"a person":             {ports.ActivityFilter{Actor: " SAM@ "}, 2},
		"an approver":          {ports.ActivityFilter{Actor: "bob"}, 1},
		"nobody":               {ports.ActivityFilter{Actor: "%"}, 0},
		"a subject":            {ports.ActivityFilter{SubjectID: e.subject}, 4},
		"a person and subject": {ports.ActivityFilter{SubjectID: e.subject, Actor: "olga"}, 2},
		"a time": {ports.ActivityFilter{At: period.Interval{From: apptest.Noon.Add(time.Minute),
			To: apptest.Noon.Add(3 * time.Minute)}}, 2},
		"since": {ports.ActivityFilter{At: period.Interval{From: apptest.Noon.Add(4 * time.Minute)}}, 4},
	} {
		test.filter.Platform, test.filter.Limit = e.Admin.Platform, 1
		if got := e.list(t, test.filter); len(got) != test.want {
			t.Errorf("%s: %q, want %d", name, got, test.want)
		}
	}
}

func TestActivity_OneEntry(t *testing.T) {
	t.Parallel()
	// One entry of any record is found by its id, on its own platform only.
	e := newEnv(t)
	ctx := ports.ForPlatform(t.Context(), e.Admin.Platform)
	all, _, err := e.service.List(ctx, ports.ActivityFilter{Platform: e.Admin.Platform, Limit: 100})
	if err != nil || len(all) != 8 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	for _, a := range all {
		if got, err := e.service.Get(ctx, e.Admin.Platform, a.ID); err != nil || got.ID != a.ID || got.Action != a.Action {
			t.Errorf("%s: %+v, %v", a.ID, got, err)
		}
		_, err := e.service.Get(ports.ForAllPlatforms(t.Context()), ident.Platform{}, a.ID)
		apptest.WantFault(t, "of the service", err, fault.NotFound)
	}
	for _, id := range []uuid.UUID{{}, uuid.Max, e.IDs.New(apptest.Noon)} {
		_, err := e.service.Get(ctx, e.Admin.Platform, id)
		apptest.WantFault(t, id.String(), err, fault.NotFound)
	}
}
