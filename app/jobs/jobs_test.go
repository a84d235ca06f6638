package jobs_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/jobs"
	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/ports"
)

type env struct {
	*apptest.Env
	*jobs.Service
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := apptest.New(t)
	return &env{e, jobs.New(jobs.Config{Store: e.Store, Jobs: e.Store, Clock: e.Clock, IDs: e.IDs})}
}

// add stores a job and returns it.
func (e *env) add(step transaction.Step, change func(*ports.Job)) ports.Job {
	j := ports.Job{ID: e.IDs.New(e.Clock.Now()), Platform: e.Platform.ID, Step: step, Subjects: []uuid.UUID{e.IDs.New(e.Clock.Now())},
		Due: e.Clock.Now()}
	change(&j)
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.AddJobs(ctx, []ports.Job{j}) })
	return j
}

func dead(j *ports.Job) { j.Dead, j.Attempts, j.LastError = true, 30, "no such account" }

var by = jobs.By{Actor: "ana", Reason: "The account was closed."}

func TestList_Filters(t *testing.T) {
	t.Parallel()
	// Jobs are listed with their state, oldest first.
	env := newEnv(t)
	waiting := env.add(transaction.StepExpire, func(j *ports.Job) { j.Due = j.Due.Add(time.Hour) })
	failing := env.add(transaction.StepDeliver, func(j *ports.Job) { j.Attempts, j.LastError = 3, "no route to host" })
	given := env.add(transaction.StepDeliver, dead)
	for name, c := range map[string]struct {
		filter ports.JobFilter
		want   []ports.Job
	}{
		"all":               {ports.JobFilter{Limit: 10}, []ports.Job{waiting, failing, given}},
		"two":               {ports.JobFilter{Limit: 2}, []ports.Job{waiting, failing}},
		"waiting":           {ports.JobFilter{Limit: 10, State: ports.JobWaiting}, []ports.Job{waiting}},
		"failing":           {ports.JobFilter{Limit: 10, State: ports.JobFailing}, []ports.Job{failing}},
		"dead":              {ports.JobFilter{Limit: 10, State: ports.JobDead}, []ports.Job{given}},
		"of a step":         {ports.JobFilter{Limit: 10, Step: transaction.StepDeliver}, []ports.Job{failing, given}},
		"of a platform":     {ports.JobFilter{Limit: 10, Platform: env.Platform.ID}, []ports.Job{waiting, failing, given}},
		"of another":        {ports.JobFilter{Limit: 10, Platform: env.NewPlatform().ID}, nil},
		"dead, of one step": {ports.JobFilter{Limit: 10, State: ports.JobDead, Step: transaction.StepExpire}, nil},
		"with an id":        {ports.JobFilter{Limit: 10, ID: failing.ID}, []ports.Job{failing}},
		"about a payment":   {ports.JobFilter{Limit: 10, Subject: given.Subjects[0]}, []ports.Job{given}},
	} {
		got, err := env.List(t.Context(), c.filter)
		if err != nil || !slices.EqualFunc(got, c.want, func(a ports.ListedJob, b ports.Job) bool {
			return a.ID == b.ID && a.Step == b.Step && a.Attempts == b.Attempts && a.LastError == b.LastError && a.Dead == b.Dead &&
				a.AddedAt.Equal(apptest.Noon)
		}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRetry_MakesDeadJobDue(t *testing.T) {
	t.Parallel()
	// A dead job that is retried is due again, with all its attempts, and who retried it is recorded.
	env := newEnv(t)
	given := env.add(transaction.StepDeliver, dead)

	retried, err := env.Retry(t.Context(), []uuid.UUID{given.ID}, jobs.By{Actor: "ana"})
	if err != nil || len(retried) != 1 || retried[0].ID != given.ID {
		t.Fatalf("%+v, %v", retried, err)
	}

	taken, err := env.Store.TakeJobs(t.Context(), transaction.StepDeliver, env.Clock.Now(), time.Minute, 1)
	if err != nil || len(taken) != 1 || taken[0].ID != given.ID || taken[0].Attempts != 1 {
		t.Errorf("taken %+v, %v", taken, err)
	}
	if got := env.QueryStrings(`SELECT concat_ws(' ', action, actor, step, attempts, last_error) FROM job_actions WHERE job_id = $1`,
		given.ID); !slices.Equal(got, []string{"RETRY ana deliver 30 no such account"}) {
		t.Errorf("recorded %q", got)
	}
}

func TestDiscard_RecordsWhoAndWhy(t *testing.T) {
	t.Parallel()
	// A dead job that strands no money is deleted, and the record shows it.
	env := newEnv(t)
	given := env.add(transaction.StepForward, dead)

	if _, err := env.Discard(t.Context(), []uuid.UUID{given.ID}, by); err != nil {
		t.Fatal(err)
	}

	if n := env.CountJobs(transaction.StepForward); n != 0 {
		t.Errorf("%d jobs left", n)
	}
	if got := env.QueryStrings(`SELECT concat_ws(' ', action, actor, reason) FROM job_actions WHERE job_id = $1`, given.ID); !slices.Equal(got,
		[]string{"DISCARD ana The account was closed."}) {
		t.Errorf("recorded %q", got)
	}
}

func TestDiscard_Refused(t *testing.T) {
	t.Parallel()
	// A job is not discarded without a reason or an actor, while it is retried by itself, or when that
	// would strand money; and none is if one cannot be.
	env := newEnv(t)
	failing := env.add(transaction.StepForward, func(j *ports.Job) { j.Attempts = 3 })
	surplus := env.add(transaction.StepSendBack, dead)
	given := env.add(transaction.StepForward, dead)
	for name, c := range map[string]struct {
		ids  []uuid.UUID
		by   jobs.By
		code fault.Code
	}{
		"without a reason": {[]uuid.UUID{given.ID}, jobs.By{Actor: "ana"}, fault.InvalidInput},
		"without an actor": {[]uuid.UUID{given.ID}, jobs.By{Reason: "x"}, fault.InvalidInput},
		"not dead":         {[]uuid.UUID{given.ID, failing.ID}, by, fault.Conflict},
		"money":            {[]uuid.UUID{given.ID, surplus.ID}, by, fault.Conflict},
		"unknown":          {[]uuid.UUID{given.ID, uuid.New()}, by, fault.NotFound},
	} {
		if _, err := env.Discard(t.Context(), c.ids, c.by); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if listed, err := env.List(t.Context(), ports.JobFilter{Limit: 10}); err != nil || len(listed) != 3 {
		t.Errorf("%d jobs left, %v", len(listed), err)
	}
	if got := env.QueryStrings(`SELECT action FROM job_actions`); len(got) != 0 {
		t.Errorf("recorded %q", got)
	}
}
