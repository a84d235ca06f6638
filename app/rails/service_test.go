package rails_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/rails"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

// adapter is an adapter that works, or does not.
type adapter struct {
	ports.ConnectedRail
	broken    error
	exclusive []string
	unsettled string
	closed    *int
}

func (a adapter) Exclusive() []string { return a.exclusive }

func (a adapter) Unsettled(context.Context) (string, error) { return a.unsettled, nil }

func (a adapter) Test(context.Context) ([]string, error) {
	return []string{"the folder exists"}, a.broken
}

func (a adapter) Close() error {
	*a.closed++
	return nil
}

type env struct {
	*apptest.Env
	*rails.Service
	opened, closed  int
	broken, refused error
	onOpen          func(rail.Connection) // if it is not nil
	unsettled       string                // of every connection
}

func newEnv(t *testing.T, opts ...apptest.Option) *env {
	e := &env{Env: apptest.New(t, opts...)}
	open := func(c rail.Connection) (ports.ConnectedRail, error) {
		if e.refused != nil {
			return nil, e.refused
		}
		e.opened++
		if e.onOpen != nil {
			e.onOpen(c)
		}
		return adapter{broken: e.broken,
			exclusive: []string{"the folder " + c.Settings["folder"]}, unsettled: e.unsettled, closed: &e.closed}, nil
	}
	e.Service = rails.New(rails.Config{
		Store: e.Store, Connections: e.Store.Connections(), Balances: e.Store, Proofs: e.Store, Finance: e.Store.Finance(),
		Feeds: e.Store, Lost: e.Store, Open: open, Clock: e.Clock, IDs: e.IDs})
	return e
}

// set stores a version of a connection after a test.
func (e *env) set(t *testing.T, name, file string) ports.RailConnectionVersion {
	t.Helper()
	v, _, err := e.Set(t.Context(), name, []byte(file), ana, false)
	if err != nil {
		t.Fatal(err)
	}
	return v.Done
}

const bankFile = `{"adapter": "BANK_FILE", "rails": ["SEPA"], "currencies": ["EUR"], "limits": [{"currency": "EUR", "perDay": 1000}],
	"schedules": [{"rail": "SEPA", "zone": "Europe/Paris", "calendar": "TARGET", "opens": "08:00", "cutOff": "13:30", "settlesAt": "18:00", "days": 0, "holidays": ["2026-12-24"],
		"workingDays": ["2026-05-01"], "hold": true}], "settings": {"folder": "/srv/bank"}}`

var ana = rails.Author{Actor: "ana", Note: "new bank"}

func TestSet_StoresVersions(t *testing.T) {
	t.Parallel()
	// A file becomes the next version of the connection, with who set it and why. The printed file is the same one again.
	e := newEnv(t)
	first := e.set(t, "bank-eur", bankFile)
	again, err := rails.File(first.Connection)
	if err != nil {
		t.Fatal(err)
	}

	set, _, err := e.Set(t.Context(), "bank-eur", again, ana, false)
	second := set.Done

	if !reflect.DeepEqual(first.Schedules, second.Schedules) || first.Schedules[0].CutOff != "13:30" || !first.Schedules[0].Hold {
		t.Errorf("schedules %+v and %+v", first.Schedules, second.Schedules)
	}
	if err != nil || first.Version != 1 || second.Version != 2 || second.By != "ana" || second.Note != "new bank" || len(second.Limits) != 1 {
		t.Errorf("versions %+v and %+v, %v", first, second, err)
	}
	if e.opened != 2 || e.closed != 2 {
		t.Errorf("opened %d adapters and closed %d", e.opened, e.closed)
	}
}

func TestSet_AddsInstructions(t *testing.T) {
	t.Parallel()
	// A connection makes the accounts of its platforms that have no funding instructions get some, once every process knows it.
	e := newEnv(t, apptest.EditPlatform(func(p *platform.Platform) { p.Environment = platform.Production }))

	e.set(t, "bank-eur", bankFile)

	jobs, err := e.Store.ListJobs(ports.ForAllPlatforms(t.Context()), ports.JobFilter{Step: ports.StepOpenAccounts, Limit: 10})
	if err != nil || len(jobs) != 1 || jobs[0].Platform != e.Platform.ID || !jobs[0].Due.After(e.Clock.Now().Add(5*time.Second)) {
		t.Errorf("jobs %+v, %v", jobs, err)
	}
}

// noJobs are units of work that cannot store jobs.
type noJobs struct{ rails.RailConnectionStore }

func (s noJobs) DoUnit(ctx context.Context, fn func(context.Context, any) error) error {
	return s.RailConnectionStore.DoUnit(ctx, func(ctx context.Context, tx any) error {
		return fn(ctx, failingJobs{tx.(rails.ConnectionsTx)})
	})
}

type failingJobs struct{ rails.ConnectionsTx }

func (failingJobs) AddJobs(context.Context, []ports.Job) error {
	return errors.New("the process ends here")
}

func TestSet_IsOneCommitWithItsJobs(t *testing.T) {
	t.Parallel()
	// A process that ends before the jobs are stored has stored no connection either, so none is without instructions for good.
	e := newEnv(t, apptest.EditPlatform(func(p *platform.Platform) { p.Environment = platform.Production }))
	e.Connections = noJobs{e.Connections}
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(bankFile), ana, false); err == nil {
		t.Fatal("the connection was set without its jobs")
	}
	if found, err := e.Connections.RailConnections(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("stored %+v, %v", found, err)
	}
}

func TestSet_RefusedByTheAdapterChangesNothing(t *testing.T) {
	t.Parallel()
	// Settings that the adapter refuses, an author without a reason and the platform of a sandbox are refused, and nothing
	// is stored.
	e := newEnv(t)
	e.refused = errors.New("settings.folder: must be an absolute path")
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(bankFile), ana, false); !errors.Is(err, e.refused) {
		t.Errorf("%v, want %v", err, e.refused)
	}
	e.refused = nil
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(bankFile), rails.Author{Actor: "ana"}, false); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("without a reason: %v", err)
	}
	sandbox := `{"adapter": "BANK_FILE", "rails": ["SEPA"], "currencies": ["EUR"], "unmatched": "` + e.Platform.ID.String() + `"}`
	_, _, err := e.Set(t.Context(), "bank-eur", []byte(sandbox), ana, false)
	if f, ok := fault.As(err); !ok || len(f.Fields) != 1 || f.Fields[0].Field != "unmatched" {
		t.Errorf("for a sandbox: %v", err)
	}

	listed, _, err := e.List(t.Context())

	if err != nil || len(listed) != 0 {
		t.Errorf("connections %+v, %v", listed, err)
	}
}
