package customers_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
	"causeway/ports/portstest"
)

// documentEnv is an environment with the use cases of documents.
type documentEnv struct {
	*apptest.Env
	documents *customers.Documents
	files     *portstest.Files
}

// anyText accepts files that begin with "text", without their first line.
type anyText struct{}

func (anyText) Check(_ context.Context, file io.ReaderAt, size int64) (ports.CheckedFile, string, error) {
	all, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	_, rest, isText := bytes.Cut(all, []byte("text\n"))
	if err != nil || !isText {
		return ports.CheckedFile{}, "must be a text", err
	}
	return ports.CheckedFile{ContentType: document.PDF, Size: int64(len(rest)), Open: func() io.Reader { return bytes.NewReader(rest) }},
		"", nil
}

func newDocumentEnv(t *testing.T) *documentEnv {
	t.Helper()
	e := apptest.New(t)
	files := &portstest.Files{}
	service := customers.New(customers.Config{
		Store: e.Store, Clock: e.Clock, IDs: e.IDs, Jobs: e.Store, Log: e.Log})
	return &documentEnv{Env: e, files: files, documents: customers.NewDocuments(service,
		customers.DocumentsConfig{Files: files, Check: anyText{}})}
}

func fileOf(content string) *customers.DocumentFile {
	return &customers.DocumentFile{Name: "../bill.pdf", Size: int64(len(content)), ReaderAt: strings.NewReader(content)}
}

// bill is a document of a holder.
func bill(holder, content string) customers.DocumentRequest {
	return customers.DocumentRequest{Holder: holder, Details: document.Details{Type: "UTILITY_BILL", Country: "US"},
		File: fileOf("text\n" + content)}
}

func (e *documentEnv) upload(t *testing.T, holder, content string) document.Document {
	t.Helper()
	d, err := e.documents.Upload(t.Context(), e.Platform.ID, nil, bill(holder, content))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// content returns the file of a document.
func (e *documentEnv) content(t *testing.T, id ident.Document) string {
	t.Helper()
	_, file, err := e.documents.Open(t.Context(), e.Platform.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// submit marks a document as submitted for verification.
func (e *documentEnv) submit(id ident.Document) {
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.MarkDocumentsSubmitted(ctx, e.Platform.ID, []ident.Document{id}, e.Clock.Now())
	})
}

// clean runs what is due after a time.
func (e *documentEnv) clean(t *testing.T, after time.Duration) {
	t.Helper()
	e.Clock.Advance(after)
	if err := e.documents.DeleteDue(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (e *documentEnv) newOwner(t *testing.T) customer.BeneficialOwner {
	t.Helper()
	o := customer.BeneficialOwner{ID: ident.NewBeneficialOwner(e.IDs.New, e.Clock.Now()), Platform: e.Platform.ID, Customer: e.Customer.ID,
		Roles: []customer.OwnerRole{"UBO"}, OwnershipPercentage: 30, Status: customer.Pending, CreatedAt: e.Clock.Now(), UpdatedAt: e.Clock.Now()}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateBeneficialOwner(ctx, o) })
	return o
}

func TestDocuments_UploadOfCustomerAndOwner(t *testing.T) {
	t.Parallel()
	// A document of a customer or a beneficial owner is read as it was uploaded, with the checked
	// content of its file and a clean name, by its platform only.
	env := newDocumentEnv(t)
	other := env.NewPlatform()
	for _, holder := range []string{env.Customer.ID.String(), env.newOwner(t).ID.String()} {
		d := env.upload(t, holder, "electricity of "+holder)

		if d.Holder.String() != holder || d.File.Name != "bill.pdf" || d.File.Size != int64(len("electricity of "+holder)) ||
			!d.SubmittedAt.IsZero() {
			t.Errorf("uploaded %+v", d)
		}
		if read, err := env.documents.Get(t.Context(), env.Platform.ID, d.ID); err != nil || !reflect.DeepEqual(read, d) {
			t.Errorf("read %+v, %v", read, err)
		}
		if content := env.content(t, d.ID); content != "electricity of "+holder {
			t.Errorf("content %q", content)
		}
		_, getErr := env.documents.Get(t.Context(), other.ID, d.ID)
		_, replaceErr := env.documents.Replace(t.Context(), other.ID, d.ID, bill("", "x"))
		deleteErr := env.documents.Delete(t.Context(), other.ID, d.ID)
		_, _, openErr := env.documents.Open(t.Context(), other.ID, d.ID)
		for name, err := range map[string]error{"get": getErr, "replace": replaceErr, "delete": deleteErr, "open": openErr} {
			if !fault.Is(err, fault.DocumentNotFound) {
				t.Errorf("%s by another platform: %v", name, err)
			}
		}
	}
	if page, err := env.documents.List(t.Context(), other.ID, ports.DocumentFilter{Paging: ports.Paging{Limit: 10}}); err != nil ||
		page.Total != 0 {
		t.Errorf("another platform lists %d, %v", page.Total, err)
	}
}

func TestDocuments_RefusedUploadStoresNothing(t *testing.T) {
	t.Parallel()
	// All invalid fields are listed, those of the file too. A holder must exist on the platform and be
	// active. No file is stored.
	env := newDocumentEnv(t)
	stranger := newDocumentEnv(t).Customer
	gone := env.NewCustomer("gone", func(c *customer.Customer) { c.DeletedAt = env.Clock.Now() })
	for name, c := range map[string]struct {
		request customers.DocumentRequest
		want    fault.Code
		fields  []string
	}{
		"nothing": {customers.DocumentRequest{}, fault.InvalidInput, []string{"documentHolder", "documentType", "country", "file"}},
		"no text": {customers.DocumentRequest{Holder: env.Customer.ID.String(), Details: document.Details{Type: "PASSPORT", Country: "US"},
			File: fileOf("image")}, fault.InvalidInput, []string{"documentNumber", "issuingAuthority", "file"}},
		"unknown":        {bill(stranger.ID.String(), "x"), fault.UserNotFound, nil},
		"unknown owner":  {bill("BeneficialOwner:"+uuid.Max.String(), "x"), fault.BeneficialOwnerNotFound, nil},
		"deleted holder": {bill(gone.ID.String(), "x"), fault.CustomerDeleted, nil},
	} {
		_, err := env.documents.Upload(t.Context(), env.Platform.ID, nil, c.request)
		apptest.WantFault(t, name, err, c.want, c.fields...)
	}
	if names := env.files.Names(); len(names) != 0 || env.CountJobs(ports.StepDeleteBlob) != 0 {
		t.Errorf("files %q are stored", names)
	}
}

func TestDocuments_WithoutPlaceForFiles(t *testing.T) {
	t.Parallel()
	// Where no place for files is configured, a valid upload is refused and leaves nothing to do; an
	// operator learns what to set.
	env := newDocumentEnv(t)
	existing := env.upload(t, env.Customer.ID.String(), "x")
	env.clean(t, 25*time.Hour)
	env.documents.Files = nil

	_, err := env.documents.Upload(t.Context(), env.Platform.ID, nil, bill(env.Customer.ID.String(), "x"))

	apptest.WantFault(t, "upload", err, fault.NotImplemented)
	if n := env.CountJobs(ports.StepDeleteBlob); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	if _, _, err := env.documents.Open(t.Context(), env.Platform.ID, existing.ID); err == nil ||
		!strings.Contains(err.Error(), "CAUSEWAY_BLOBS") {
		t.Errorf("open: %v", err)
	}
}

func TestDocuments_UploadIsIdempotent(t *testing.T) {
	t.Parallel()
	// A repeated request gets the first response and makes no second document; the file that it has
	// stored is deleted later.
	env := newDocumentEnv(t)
	upload := func() error {
		_, err := env.documents.Upload(t.Context(), env.Platform.ID, apptest.IdempotentRequest(env.Admin, "key",
			func(result any) string { return result.(document.Document).ID.String() }), bill(env.Customer.ID.String(), "x"))
		return err
	}
	if err := upload(); err != nil {
		t.Fatal(err)
	}

	err := upload()

	found, listErr := env.Store.DocumentsOf(t.Context(), env.Platform.ID, document.Holder{Customer: env.Customer.ID})
	if listErr != nil || len(found) != 1 {
		t.Fatalf("%d documents, %v", len(found), listErr)
	}
	var replay *ports.Replay
	if !errors.As(err, &replay) || string(replay.Body) != found[0].ID.String() {
		t.Errorf("got %v, want the first response", err)
	}
	env.clean(t, 25*time.Hour)
	if names := env.files.Names(); len(names) != 1 || env.content(t, found[0].ID) != "x" {
		t.Errorf("files %q are left", names)
	}
}

func TestDocuments_FileWithoutDocumentIsDeleted(t *testing.T) {
	t.Parallel()
	// A file whose document was not committed is deleted a day later, not before; also if the store of
	// files failed after it had stored it. One of a document is kept.
	env := newDocumentEnv(t)
	kept := env.upload(t, env.Customer.ID.String(), "kept")
	env.files.Fail(errors.New("the answer is lost"))
	_, err := env.documents.Upload(t.Context(), env.Platform.ID, nil, bill(env.Customer.ID.String(), "lost"))
	if f, ok := fault.As(err); !ok || f.Code != fault.ServiceUnavailable || !strings.Contains(err.Error(), "the answer is lost") {
		t.Errorf("got %v, want SERVICE_UNAVAILABLE with its cause", err)
	}
	if n := len(env.files.Names()); n != 2 {
		t.Fatalf("%d files", n)
	}

	env.files.Fail(nil)
	env.clean(t, 23*time.Hour)
	if n := len(env.files.Names()); n != 2 {
		t.Errorf("%d files after 23 hours, want both", n)
	}
	env.clean(t, 2*time.Hour)
	if n := len(env.files.Names()); n != 1 || env.content(t, kept.ID) != "kept" {
		t.Errorf("%d files after a day", n)
	}
	if n := env.CountJobs(ports.StepDeleteBlob); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestDocuments_ReplaceAndDelete(t *testing.T) {
	t.Parallel()
	// A replaced document has the new file and is not submitted; the old file is deleted. A deleted
	// document is gone with its file.
	env := newDocumentEnv(t)
	first := env.upload(t, env.Customer.ID.String(), "first")
	request := bill("", "second")
	request.Type = "BANK_STATEMENT"

	second, err := env.documents.Replace(t.Context(), env.Platform.ID, first.ID, request)

	if err != nil || second.ID != first.ID || second.Type != "BANK_STATEMENT" || second.Holder != first.Holder ||
		second.File.Blob == first.File.Blob {
		t.Fatalf("replaced by %+v, %v", second, err)
	}
	if content := env.content(t, first.ID); content != "second" {
		t.Errorf("content %q", content)
	}
	env.clean(t, time.Minute)
	if n := len(env.files.Names()); n != 1 {
		t.Errorf("%d files are left", n)
	}
	if err := env.documents.Delete(t.Context(), env.Platform.ID, first.ID); err != nil {
		t.Fatal(err)
	}
	env.clean(t, time.Minute)
	if _, err := env.documents.Get(t.Context(), env.Platform.ID, first.ID); !fault.Is(err, fault.DocumentNotFound) {
		t.Errorf("after its deletion: %v", err)
	}
	if n := len(env.files.Names()); n != 0 {
		t.Errorf("%d files are left after the deletion", n)
	}
	if err := env.documents.Delete(t.Context(), env.Platform.ID, first.ID); !fault.Is(err, fault.DocumentNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestDocuments_SubmittedFileIsKept(t *testing.T) {
	t.Parallel()
	// A document that was submitted cannot be deleted. When it is replaced, what was submitted is kept
	// for operators, who can open it; the platform does not see it. The new file can be deleted.
	env := newDocumentEnv(t)
	d := env.upload(t, env.Customer.ID.String(), "submitted")
	env.submit(d.ID)
	if err := env.documents.Delete(t.Context(), env.Platform.ID, d.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("delete: %v", err)
	}

	after, err := env.documents.Replace(t.Context(), env.Platform.ID, d.ID, bill("", "better"))
	if err != nil || !after.SubmittedAt.IsZero() {
		t.Fatalf("replaced by %+v, %v", after, err)
	}
	env.clean(t, 48*time.Hour)

	all, err := env.Store.DocumentsOf(t.Context(), env.Platform.ID, d.Holder)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d documents, %v", len(all), err)
	}
	kept := all[slices.IndexFunc(all, func(one document.Document) bool { return one.SupersededBy == d.ID })]
	if env.content(t, kept.ID) != "submitted" || env.content(t, d.ID) != "better" || !kept.SubmittedAt.Equal(apptest.Noon) {
		t.Errorf("kept %+v", kept)
	}
	if _, err := env.documents.Get(t.Context(), env.Platform.ID, kept.ID); !fault.Is(err, fault.DocumentNotFound) {
		t.Errorf("the platform gets what is kept: %v", err)
	}
	if page, err := env.documents.List(t.Context(), env.Platform.ID, ports.DocumentFilter{Paging: ports.Paging{Limit: 10},
		Holder: d.Holder}); err != nil || page.Total != 1 {
		t.Errorf("the platform lists %d documents, %v", page.Total, err)
	}
	if page, err := env.documents.List(t.Context(), env.Platform.ID, ports.DocumentFilter{Paging: ports.Paging{Limit: 10, Ascending: true},
		Holder: d.Holder, IncludeReplaced: true}); err != nil || !reflect.DeepEqual(page.Items, all) {
		t.Errorf("operators list %+v, %v", page.Items, err)
	}
	if err := env.documents.Delete(t.Context(), env.Platform.ID, d.ID); err != nil {
		t.Errorf("delete the new file: %v", err)
	}
}

func TestDocuments_EraseDeletesEverything(t *testing.T) {
	t.Parallel()
	// All documents of the holders are erased with their files, also submitted and replaced ones; those
	// of others are not. Nothing is erased if the unit of work fails.
	env := newDocumentEnv(t)
	ana, owner, ben := env.Customer.ID, env.newOwner(t).ID, env.NewCustomer("ben").ID
	d := env.upload(t, ana.String(), "one")
	env.submit(d.ID)
	if _, err := env.documents.Replace(t.Context(), env.Platform.ID, d.ID, bill("", "two")); err != nil {
		t.Fatal(err)
	}
	env.upload(t, owner.String(), "three")
	other := env.upload(t, ben.String(), "other")
	holders := []document.Holder{{Customer: ana}, {Owner: owner}}
	broken := errors.New("the unit of work fails")
	for _, fails := range []error{broken, nil} {
		var erased int
		err := env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) (err error) {
			if erased, err = env.documents.EraseDocuments(ctx, env.Tx(tx), env.Platform.ID, holders...); err != nil {
				return err
			}
			return fails
		})
		if !errors.Is(err, fails) || erased != 3 {
			t.Fatalf("%d files were erased, %v", erased, err)
		}
		env.clean(t, time.Minute)
		want := map[bool]int{true: 4, false: 1}[fails != nil]
		if n := len(env.files.Names()); n != want {
			t.Errorf("%d files are left, want %d", n, want)
		}
	}
	if found, err := env.Store.DocumentsOf(t.Context(), env.Platform.ID, holders...); err != nil || len(found) != 0 {
		t.Errorf("left are %+v, %v", found, err)
	}
	if env.content(t, other.ID) != "other" {
		t.Error("the document of another customer is gone")
	}
}

func TestDocuments_ConcurrentUploadsRespectMaximum(t *testing.T) {
	t.Parallel()
	// However many are uploaded at the same time, a holder has no more than the maximum.
	env := newDocumentEnv(t)
	for range document.MaxPerHolder - 2 {
		env.upload(t, env.Customer.ID.String(), "x")
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 6 {
		running.Go(func() {
			_, err := env.documents.Upload(t.Context(), env.Platform.ID, nil, bill(env.Customer.ID.String(), "x"))
			mu.Lock()
			defer mu.Unlock()
			if fault.Is(err, fault.Conflict) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()

	found, err := env.Store.DocumentsOf(t.Context(), env.Platform.ID, document.Holder{Customer: env.Customer.ID})
	if err != nil || len(found) != document.MaxPerHolder || refused != 4 {
		t.Errorf("%d documents, %d refused, %v", len(found), refused, err)
	}
	env.clean(t, 25*time.Hour)
	if n := len(env.files.Names()); n != document.MaxPerHolder {
		t.Errorf("%d files", n)
	}
}
