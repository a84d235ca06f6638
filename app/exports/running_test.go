package exports_test

import (
	"io"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/ids"
	"causeway/app/exports"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/ports/portstest"
)

func newPerson(n byte, role person.Role) (p person.Person) {
	p.ID.SetUUID(uuid.UUID{15: n})
	p.Status, p.Grants = person.Active, []person.Grant{{Role: role}}
	return p
}

// reader calls reads at each write of a document.
type reader func()

func (r reader) Write(p []byte) (int, error) { r(); return len(p), nil }

func TestRunning_CancelledByItsPersonOrAnAdministrator(t *testing.T) {
	t.Parallel()
	// While an export is written it is listed with how far it is. Another person cannot cancel it; who has started it and an administrator
	// can, and then it ends with that. Afterwards it is no longer listed.
	views := largeLedger(40_000)
	service := exports.New(exports.Config{Views: views, Store: &fakeLedger{}, Clock: portstest.NewFakeClock(noon), IDs: ids.New()})
	ana, ben, root := newPerson(1, person.Finance), newPerson(2, person.Finance), newPerson(3, person.Administrator)
	p := platformID(1)
	for _, by := range []person.Person{ana, root} {
		document, err := service.Export(p, exports.Request{Format: "csv"})
		if err != nil {
			t.Fatal(err)
		}
		cancelled := false
		err = service.For(p, ana, document).Write(t.Context(), reader(func() {
			running := service.Running(p)
			if cancelled || len(running) != 1 || running[0].Done == 0 {
				return
			}
			cancelled = true
			if err := service.Cancel(p, running[0].ID, ben); !fault.Is(err, fault.Forbidden) {
				t.Errorf("cancelled by another person: %v", err)
			}
			if err := service.Cancel(platformID(2), running[0].ID, root); !fault.Is(err, fault.NotFound) {
				t.Errorf("cancelled on another platform: %v", err)
			}
			if err := service.Cancel(p, running[0].ID, by); err != nil {
				t.Error(err)
			}
		}))
		if f, ok := fault.As(err); !cancelled || !ok || f.Reason != "Cancelled" {
			t.Errorf("cancelled %t: %v", cancelled, err)
		}
		if running := service.Running(p); len(running) > 0 {
			t.Errorf("still running: %+v", running)
		}
	}
	document, err := service.Export(p, exports.Request{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.For(p, ana, document).Write(t.Context(), io.Discard); err != nil {
		t.Errorf("not cancelled: %v", err)
	}
}
