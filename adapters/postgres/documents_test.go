package postgres_test

import (
	"context"
	"crypto/sha256"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// newDocument returns a passport of a holder.
func newDocument(p ident.Platform, h document.Holder) document.Document {
	return document.Document{
		ID: ident.NewDocument(generator.New, noon), Platform: p, Holder: h,
		Details: document.Details{Type: document.Passport, Side: document.Front, Country: "BR", Number: "FX 123456",
			IssuingAuthority: "Polícia Federal"},
		File: document.File{Name: "passaporte.jpg", ContentType: document.JPEG, Size: 4711, SHA256: sha256.Sum256([]byte("a passport")),
			Blob: generator.New(noon), Key: []byte("0123456789abcdef0123456789abcdef")},
		CreatedAt: noon, UpdatedAt: noon,
	}
}

func newHolder() document.Holder {
	return document.Holder{Customer: ident.NewCustomer(generator.New, noon)}
}

func (c *env) createDocuments(t *testing.T, documents ...document.Document) {
	t.Helper()
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, d := range documents {
			if err := tx.CreateDocument(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestDocument_RoundTrip(t *testing.T) {
	t.Parallel()
	// A document is read as it was written and as it was changed, by its platform only.
	c := newEnv(t)
	passport, other := newDocument(c.platform.ID, newHolder()), newDocument(c.platform.ID, document.Holder{})
	other.Holder.Owner.SetUUID(generator.New(noon))
	other.Details = document.Details{Type: "OTHER", Country: "US"}
	c.createDocuments(t, passport, other)

	for _, d := range []document.Document{passport, other} {
		changed := newDocument(c.platform.ID, d.Holder)
		changed.ID, changed.Details, changed.UpdatedAt, changed.SubmittedAt = d.ID, document.Details{Type: "SELFIE", Country: "DE"},
			noon.Add(time.Hour), noon.Add(time.Minute)
		for _, want := range []document.Document{d, changed} {
			if want.UpdatedAt != noon {
				c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateDocument(ctx, want) })
			}
			if read, err := c.Document(t.Context(), c.platform.ID, d.ID); err != nil || !reflect.DeepEqual(read, want) {
				t.Errorf("read %+v, %v\nwant %+v", read, err, want)
			}
			if found, err := c.DocumentsOf(t.Context(), c.platform.ID, newHolder(), d.Holder); err != nil ||
				!reflect.DeepEqual(found, []document.Document{want}) {
				t.Errorf("found %+v, %v\nwant %+v", found, err, want)
			}
			if found, err := c.HasBlob(t.Context(), c.platform.ID, want.File.Blob); err != nil || !found {
				t.Errorf("the file of %s is not found: %v", want.ID, err)
			}
		}
		if _, err := c.Document(t.Context(), c.otherPlatform.ID, d.ID); !fault.Is(err, fault.DocumentNotFound) {
			t.Errorf("another platform got %v", err)
		}
		if found, err := c.DocumentsOf(t.Context(), c.otherPlatform.ID, d.Holder); err != nil || len(found) != 0 {
			t.Errorf("another platform found %+v, %v", found, err)
		}
		if found, err := c.HasBlob(t.Context(), c.platform.ID, d.File.Blob); err != nil || found {
			t.Errorf("the replaced file is still found: %v", err)
		}
	}
}

func TestDocument_DetailsAreEncrypted(t *testing.T) {
	t.Parallel()
	// What a document says about a person, and the key of its file, are stored encrypted, also when
	// the document is changed and when a new data key replaces the first.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	d := newDocument(c.platform.ID, newHolder())
	c.createDocuments(t, d)
	for round, change := range []func() error{
		func() error { return cipher.Create(t.Context(), generator.New(noon)) },
		func() error {
			return db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateDocument(ctx, d) })
		},
		func() error { return cipher.Create(t.Context(), generator.New(noon)) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		changed := 0
		err := db.ReencryptPersonalData(t.Context(), func(_ string, _, n int) { changed += n })
		if want := []int{1, 0, 1}[round]; err != nil || changed != want {
			t.Errorf("round %d: %d rows were encrypted again, %v; want %d", round, changed, err, want)
		}
		if read, err := db.Document(t.Context(), c.platform.ID, d.ID); err != nil || !reflect.DeepEqual(read, d) {
			t.Errorf("round %d: read %+v, %v\nwant %+v", round, read, err, d)
		}
		var stored string
		if err := db.SQL().QueryRow(`SELECT details::text FROM documents`).Scan(&stored); err != nil || !strings.HasPrefix(stored, `"`) {
			t.Errorf("round %d: stored as %s, %v", round, stored, err)
		}
	}
}

func TestDocuments_ListLeavesOutSuperseded(t *testing.T) {
	t.Parallel()
	// A list has the documents of a holder, or of all, newest first, without submitted files that were
	// replaced. Those are found by their holder.
	c := newEnv(t)
	ana, ben := newHolder(), newHolder()
	old, first, second, other := newDocument(c.platform.ID, ana), newDocument(c.platform.ID, ana), newDocument(c.platform.ID, ana),
		newDocument(c.platform.ID, ben)
	old.SubmittedAt, old.SupersededBy = noon, first.ID
	c.createDocuments(t, old, first, second, other, newDocument(c.otherPlatform.ID, ana))

	for name, test := range map[string]struct {
		holder document.Holder
		want   []uuid.UUID
	}{
		"one holder": {ana, []uuid.UUID{second.ID.UUID(), first.ID.UUID()}},
		"all":        {document.Holder{}, []uuid.UUID{other.ID.UUID(), second.ID.UUID(), first.ID.UUID()}},
		"nobody":     {newHolder(), nil},
	} {
		order, totals := readAllPages(t, ports.Paging{Limit: 1}, func(p ports.Paging) (ports.Page[document.Document], error) {
			return c.Documents(t.Context(), c.platform.ID, ports.DocumentFilter{Paging: p, Holder: test.holder})
		}, func(d document.Document) uuid.UUID { return d.ID.UUID() })
		if !slices.Equal(order, test.want) || len(totals) != 1 || !totals[int64(len(test.want))] {
			t.Errorf("%s: %v of %v, want %v", name, order, totals, test.want)
		}
	}
	if read, err := c.Document(t.Context(), c.platform.ID, old.ID); err != nil || !reflect.DeepEqual(read, old) {
		t.Errorf("a superseded document: %+v, %v", read, err)
	}
	if found, err := c.DocumentsOf(t.Context(), c.platform.ID, ana); err != nil || len(found) != 3 || !reflect.DeepEqual(found[0], old) {
		t.Errorf("of the holder: %+v, %v", found, err)
	}
}

func TestDocuments_SubmitAndDelete(t *testing.T) {
	t.Parallel()
	// Documents are marked as submitted once, and deleted, by their platform only.
	c := newEnv(t)
	ana := newHolder()
	kept, gone := newDocument(c.platform.ID, ana), newDocument(c.platform.ID, ana)
	c.createDocuments(t, kept, gone)
	both := []ident.Document{kept.ID, gone.ID}

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.MarkDocumentsSubmitted(ctx, c.otherPlatform.ID, both, noon.Add(time.Second)); err != nil {
			return err
		}
		return tx.DeleteDocuments(ctx, c.otherPlatform.ID, both)
	})
	for i := range 2 {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			return tx.MarkDocumentsSubmitted(ctx, c.platform.ID, both[:1], noon.Add(time.Duration(i+1)*time.Minute))
		})
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteDocuments(ctx, c.platform.ID, both[1:])
	})

	kept.SubmittedAt = noon.Add(time.Minute)
	if found, err := c.DocumentsOf(t.Context(), c.platform.ID, ana); err != nil || !reflect.DeepEqual(found, []document.Document{kept}) {
		t.Errorf("left are %+v, %v\nwant %+v", found, err, kept)
	}
	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateDocument(ctx, gone) }); !fault.Is(err,
		fault.DocumentNotFound) {
		t.Errorf("updating a deleted document: %v", err)
	}
}

func TestLockDocumentsOf_OneUnitOfWorkAtATime(t *testing.T) {
	t.Parallel()
	// Units of work that lock the documents of one holder run one after the other, so each sees what
	// the former added, also the first document; another holder does not wait.
	c := newEnv(t)
	ana := newHolder()
	locked, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			if _, err := tx.LockDocumentsOf(ctx, c.platform.ID, ana); err != nil {
				return err
			}
			close(locked)
			<-release
			return tx.CreateDocument(ctx, newDocument(c.platform.ID, ana))
		})
	}()
	<-locked
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.LockDocumentsOf(ctx, c.platform.ID, newHolder())
		return err
	})
	seen := make(chan int, 1)
	go func() {
		_ = c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			found, err := tx.LockDocumentsOf(ctx, c.platform.ID, ana)
			seen <- len(found)
			return err
		})
	}()
	select {
	case n := <-seen:
		t.Errorf("the second did not wait and found %d documents", n)
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := <-seen; n != 1 {
		t.Errorf("the second found %d documents, want 1", n)
	}
}
