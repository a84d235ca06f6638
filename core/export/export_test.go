package export_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func newPerson(n byte, role person.Role) (p person.Person) {
	p.ID.SetUUID(uuid.UUID{15: n})
	p.Status, p.Grants = person.Active, []person.Grant{{Role: role}}
	return p
}

func TestExport_Transitions(t *testing.T) {
	t.Parallel()
	// Each step from each state leads to the state of the table, or is refused and changes nothing.
	ana := newPerson(1, person.Finance)
	steps := map[string]func(export.Export) (export.Export, error){
		"begin":    func(e export.Export) (export.Export, error) { return e.Begin(noon) },
		"complete": func(e export.Export) (export.Export, error) { return e.Complete("", noon) },
		"postpone": func(e export.Export) (export.Export, error) {
			postponed, err := e.Postpone(e.Run, noon)
			if errors.Is(err, export.ErrNotRunning) {
				err = fault.New(fault.Conflict, "%s", err)
			}
			return postponed, err
		},
		"fail":   func(e export.Export) (export.Export, error) { return e.Fail("broken", noon) },
		"cancel": func(e export.Export) (export.Export, error) { return e.Cancel(ana, noon) },
	}
	to := map[string]export.State{"begin": export.Running, "postpone": export.Waiting,
		"complete": export.Completed, "fail": export.Failed, "cancel": export.Cancelled}
	allowed := map[export.State]map[string]bool{
		export.Waiting: {"begin": true, "cancel": true},
		export.Running: {"begin": true, "postpone": true, "complete": true, "fail": true, "cancel": true},
	}
	for _, from := range []export.State{export.Waiting, export.Running, export.Completed, export.Failed, export.Cancelled} {
		for name, step := range steps {
			got, err := step(export.Export{State: from, By: ana.ID})
			if !allowed[from][name] {
				if !fault.Is(err, fault.Conflict) || got.State != from {
					t.Errorf("%s, %s: %s, %v", from, name, got.State, err)
				}
				continue
			}
			if err != nil || got.State != to[name] || !got.UpdatedAt.Equal(noon) || got.HasEnded() != got.EndedAt.Equal(noon) {
				t.Errorf("%s, %s: %+v, %v", from, name, got, err)
			}
		}
	}
}

func TestExport_OnlyTheLastRunAdvances(t *testing.T) {
	t.Parallel()
	// A second run begins at the first byte, and the first one changes nothing from then on. A process that is silent for a minute has
	// vanished.
	first, _ := export.Export{State: export.Waiting}.Begin(noon)
	first, err := first.Advance(1, export.Progress{Done: 5, Total: 9, Size: 100}, noon.Add(time.Second))
	if err != nil || first.Done != 5 || !first.IsWritten(noon.Add(time.Minute)) || first.IsWritten(noon.Add(2*time.Minute)) {
		t.Errorf("first run: %+v, %v", first, err)
	}
	second, err := first.Begin(noon.Add(time.Minute))
	if err != nil || second.Run != 2 || second.Progress != (export.Progress{}) {
		t.Errorf("second run: %+v, %v", second, err)
	}
	if _, err := second.Advance(1, export.Progress{}, noon); !errors.Is(err, export.ErrNotRunning) {
		t.Errorf("the first run goes on: %v", err)
	}
	cancelled, _ := second.Cancel(newPerson(1, person.Administrator), noon)
	if _, err := cancelled.Advance(2, export.Progress{}, noon); !errors.Is(err, export.ErrNotRunning) {
		t.Errorf("a cancelled run goes on: %v", err)
	}
}

func TestExport_CancelledByItsPersonOrAnAdministrator(t *testing.T) {
	t.Parallel()
	ana := newPerson(1, person.Finance)
	of := newPerson(4, person.Administrator)
	var p, other ident.Platform
	p.SetUUID(uuid.UUID{15: 1})
	other.SetUUID(uuid.UUID{15: 2})
	of.Grants[0].Platform = other
	for name, test := range map[string]struct {
		by  person.Person
		may bool
	}{
		"its person": {ana, true}, "another": {newPerson(2, person.Finance), false}, "administrator": {newPerson(3, person.Administrator), true},
		"administrator of another platform": {of, false},
	} {
		_, err := export.Export{State: export.Running, Platform: p, By: ana.ID, Actor: "Ana"}.Cancel(test.by, noon)
		if test.may != (err == nil) || !test.may && !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
