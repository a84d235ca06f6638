package postgres_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/person"
)

// newExport returns an export of a new person, which waits.
func (c *env) newExport(t *testing.T, at time.Time) export.Export {
	t.Helper()
	p := person.Person{Email: generator.New(noon).String() + "@people.test", Name: "Ana", Status: person.Active,
		Grants: []person.Grant{{Role: person.Finance}}, CreatedAt: noon, UpdatedAt: noon}
	p.ID.SetUUID(generator.New(noon))
	e := export.Export{ID: generator.New(at), Platform: c.platform.ID, By: p.ID, Actor: "Ana", Format: "csv", Account: "rails/ACH",
		Currency: "USD", FileName: "ledger-export.csv", ContentType: "text/csv", State: export.Waiting, CreatedAt: at, UpdatedAt: at}
	e.Interval.From = noon.AddDate(0, -1, 0)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePerson(ctx, p); err != nil {
			return err
		}
		return tx.CreateExport(ctx, e)
	})
	return e
}

func TestExports_RoundTrip(t *testing.T) {
	t.Parallel()
	// An export is read as it was written and as it was changed, by its platform only, with its parts in their order. Their files are
	// known, their keys encrypted.
	c := newEnv(t)
	e := c.newExport(t, noon)
	running, _ := e.Begin(noon.Add(time.Second))
	running, _ = running.Advance(1, export.Progress{Done: 3, Total: 9, Size: 30}, noon.Add(time.Minute))
	done, _ := running.Complete("", noon.Add(time.Hour))
	for _, want := range []export.Export{e, running, done} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateExport(ctx, want) })
		if read, err := c.LedgerExport(t.Context(), c.platform.ID, e.ID); err != nil || !reflect.DeepEqual(read, want) {
			t.Errorf("read %+v, %v\nwant %+v", read, err, want)
		}
	}
	if _, err := c.LedgerExport(t.Context(), c.otherPlatform.ID, e.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("another platform: %v", err)
	}
	parts := make([]export.Part, 2)
	for i := range parts {
		parts[i] = export.Part{Platform: c.platform.ID, Export: e.ID, Number: i + 1, Blob: generator.New(noon), Size: 15,
			Key: []byte("0123456789abcdef0123456789abcdef")}
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, i := range []int{1, 0} {
			if err := tx.AddExportPart(ctx, parts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if read, err := c.ExportParts(t.Context(), c.platform.ID, e.ID); err != nil || !reflect.DeepEqual(read, parts) {
		t.Errorf("parts %+v, %v", read, err)
	}
	if found, err := c.HasBlob(t.Context(), c.platform.ID, parts[0].Blob); err != nil || !found {
		t.Errorf("the file of a part is not known: %v", err)
	}
	var blobs []uuid.UUID
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
		if blobs, err = tx.DeleteExportParts(ctx, c.platform.ID, e.ID); err != nil {
			return err
		}
		return tx.DeleteExport(ctx, done)
	})
	if found, err := c.HasBlob(t.Context(), c.platform.ID, parts[0].Blob); len(blobs) != 2 || err != nil || found {
		t.Errorf("deleted %v: %v", blobs, err)
	}
}

func TestExports_UnfinishedAndOld(t *testing.T) {
	t.Parallel()
	// Those of a platform that have not ended are locked, oldest first; those of all platforms are found by age.
	c := newEnv(t)
	first, second, ended := c.newExport(t, noon), c.newExport(t, noon.Add(time.Second)), c.newExport(t, noon.Add(time.Minute))
	cancelled, _ := ended.Cancel(person.Person{ID: ended.By}, noon.Add(time.Hour))
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateExport(ctx, cancelled) })
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		found, err := tx.LockUnfinishedExports(ctx, c.platform.ID)
		if len(found) != 2 || found[0].ID != first.ID || found[1].ID != second.ID {
			t.Errorf("unfinished %+v", found)
		}
		old, oldErr := tx.LockOldExports(ctx, noon.Add(2*time.Second), 10)
		if len(old) != 2 || oldErr != nil {
			t.Errorf("old %+v, %v", old, oldErr)
		}
		return err
	})
	if all, err := c.Exports(t.Context(), c.platform.ID, 2); err != nil || len(all) != 2 || all[0].ID != ended.ID || all[1].ID != second.ID {
		t.Errorf("listed %+v, %v", all, err)
	}
}
