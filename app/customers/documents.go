package customers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/jobs"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/ports"
)

// DocumentsConfig holds what the use cases of documents need beside the service.
type DocumentsConfig struct {
	// Files is nil if the operator has not configured where files are stored.
	Files ports.Files
	Check ports.DocumentFiles
}

// Documents holds the use cases of documents.
type Documents struct {
	*Service
	DocumentsConfig
	workers *jobs.Workers
}

// NewDocuments returns Documents of the service's customers.
func NewDocuments(s *Service, c DocumentsConfig) *Documents {
	d := &Documents{Service: s, DocumentsConfig: c}
	d.workers = jobs.New(jobs.Config{Jobs: s.Jobs, Clock: s.Clock, Log: s.Log, Retry: s.JobRetry, Metrics: s.JobMetrics},
		jobs.Handler{Step: ports.StepDeleteBlob, Do: d.deleteBlobs, MaxBatch: 1, MaxConcurrency: 2})
	return d
}

// Run deletes the stored files that no document has, until ctx is done. Any number of processes may
// run it on one database.
func (d *Documents) Run(ctx context.Context) { d.workers.Run(ctx) }

// DeleteDue runs jobs until none is due.
func (d *Documents) DeleteDue(ctx context.Context) error { return d.workers.RunDue(ctx) }

// DocumentRequest is a document as it is uploaded.
type DocumentRequest struct {
	// Holder is the id of a customer or a beneficial owner. It is not used when a document is replaced.
	Holder string
	document.Details
	File *DocumentFile // nil if there is none
}

// DocumentFile is an uploaded file.
type DocumentFile struct {
	Name string // as the sender gave it
	Size int64  // bytes
	io.ReaderAt
}

// Upload adds a document. Faults: INVALID_INPUT with every invalid field, USER_NOT_FOUND,
// BENEFICIAL_OWNER_NOT_FOUND, CUSTOMER_DELETED, CONFLICT if the holder has too many,
// SERVICE_UNAVAILABLE if the file cannot be stored, NOT_IMPLEMENTED if no place for files is configured.
func (d *Documents) Upload(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest,
	r DocumentRequest) (document.Document, error) {
	var bad party.Problems
	holder, err := document.ParseHolder(r.Holder)
	if err != nil {
		bad.Add("documentHolder", err.Error())
	}
	checked, err := d.check(ctx, r, &bad)
	if err != nil {
		return document.Document{}, err
	}
	owner, err := d.customerOf(ctx, p, holder)
	if err != nil {
		return document.Document{}, err
	}
	existing, err := d.Store.DocumentsOf(ctx, p, holder)
	if err == nil {
		err = checkActive(owner)
	}
	if err == nil {
		err = document.CheckRoom(holder, existing) // again when it is locked, but then the file is stored
	}
	if err != nil {
		return document.Document{}, err
	}
	file, err := d.store(ctx, p, checked, r.File.Name)
	if err != nil {
		return document.Document{}, err
	}
	now := d.Clock.Now()
	id := ident.NewDocument(d.IDs.New, now)
	var created document.Document
	err = ports.Do(ctx, d.Store, func(ctx context.Context, tx Tx) error {
		existing, err := lockDocuments(ctx, tx, owner, holder)
		if err != nil {
			return err
		}
		if created, err = document.New(id, p, holder, r.Details, file, existing, now); err != nil {
			return err
		}
		if err := tx.SaveResponse(ctx, request, created, nil); err != nil {
			return err
		}
		return tx.CreateDocument(ctx, created)
	})
	return created, err
}

// Replace replaces a document and its file, and keeps the former file if it was submitted for
// verification. Faults: those of Upload, DOCUMENT_NOT_FOUND.
func (d *Documents) Replace(ctx context.Context, p ident.Platform, id ident.Document, r DocumentRequest) (document.Document, error) {
	before, err := d.Get(ctx, p, id)
	if err != nil {
		return document.Document{}, err
	}
	var bad party.Problems
	checked, err := d.check(ctx, r, &bad)
	if err != nil {
		return document.Document{}, err
	}
	owner, err := d.customerOf(ctx, p, before.Holder)
	if err != nil {
		return document.Document{}, err
	}
	if err := checkActive(owner); err != nil {
		return document.Document{}, err
	}
	file, err := d.store(ctx, p, checked, r.File.Name)
	if err != nil {
		return document.Document{}, err
	}
	now := d.Clock.Now()
	keptID := ident.NewDocument(d.IDs.New, now)
	var after document.Document
	err = ports.Do(ctx, d.Store, func(ctx context.Context, tx Tx) error {
		existing, err := lockDocuments(ctx, tx, owner, before.Holder)
		if err != nil {
			return err
		}
		before, err := findDocument(existing, id)
		if err != nil {
			return err
		}
		var kept *document.Document
		if after, kept, err = before.Replace(r.Details, file, keptID, existing, now); err != nil {
			return err
		}
		if err := tx.UpdateDocument(ctx, after); err != nil {
			return err
		}
		if kept != nil {
			return tx.CreateDocument(ctx, *kept)
		}
		return tx.AddJobs(ctx, []ports.Job{d.fileDeletion(p, before.File.Blob, now)})
	})
	return after, err
}

// Delete deletes a document and its file. Faults: DOCUMENT_NOT_FOUND, CONFLICT if it was submitted for
// verification.
func (d *Documents) Delete(ctx context.Context, p ident.Platform, id ident.Document) error {
	found, err := d.Get(ctx, p, id)
	if err != nil {
		return err
	}
	return ports.Do(ctx, d.Store, func(ctx context.Context, tx Tx) error {
		existing, err := tx.LockDocumentsOf(ctx, p, found.Holder)
		if err != nil {
			return err
		}
		found, err := findDocument(existing, id)
		if err != nil {
			return err
		}
		if err := found.CheckDelete(); err != nil {
			return err
		}
		return d.eraseDocuments(ctx, tx, p, []document.Document{found})
	})
}

// Get returns a document, or DOCUMENT_NOT_FOUND.
func (d *Documents) Get(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, error) {
	found, err := d.Store.Document(ctx, p, id)
	if err == nil && !found.SupersededBy.IsZero() {
		err = documentNotFound(id)
	}
	return found, err
}

// List returns the documents that match the filter.
func (d *Documents) List(ctx context.Context, p ident.Platform, f ports.DocumentFilter) (ports.Page[document.Document], error) {
	return d.Store.Documents(ctx, p, f)
}

// Open returns a document, also one that is kept after it was replaced, with its file. Reading the file
// ends in an error if it was changed.
func (d *Documents) Open(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, io.ReadCloser, error) {
	found, err := d.Store.Document(ctx, p, id)
	if err == nil && d.Files == nil {
		err = errNoFiles
	}
	if err != nil {
		return found, nil, err
	}
	file, err := d.Files.Open(ctx, document.BlobName(p, found.File.Blob), found.File.Key)
	if err != nil {
		return found, nil, fmt.Errorf("the file of %s: %w", id, err)
	}
	return found, file, nil
}

// EraseDocuments deletes all documents of holders in a unit of work that has locked their customer,
// also those that were submitted for verification, and returns how many files there were. The keys
// of the files are gone with its commit; jobs delete the files.
func (s *Service) EraseDocuments(ctx context.Context, tx Tx, p ident.Platform, holders ...document.Holder) (files int, err error) {
	for _, holder := range holders {
		found, err := tx.LockDocumentsOf(ctx, p, holder)
		if err != nil {
			return files, err
		}
		if err := s.eraseDocuments(ctx, tx, p, found); err != nil {
			return files, err
		}
		files += len(found)
	}
	return files, nil
}

// eraseDocuments deletes documents, and their files after the commit.
func (s *Service) eraseDocuments(ctx context.Context, tx Tx, p ident.Platform, documents []document.Document) error {
	now := s.Clock.Now()
	ids, deletions := make([]ident.Document, len(documents)), make([]ports.Job, len(documents))
	for i, one := range documents {
		ids[i], deletions[i] = one.ID, s.fileDeletion(p, one.File.Blob, now)
	}
	if err := tx.DeleteDocuments(ctx, p, ids); err != nil {
		return err
	}
	return tx.AddJobs(ctx, deletions)
}

// check adds the invalid details to bad, and returns the fault for all of them or the checked file.
func (d *Documents) check(ctx context.Context, r DocumentRequest, bad *party.Problems) (checked ports.CheckedFile, err error) {
	r.Details.Check(bad)
	if r.File == nil {
		bad.Add("file", "is required")
		return checked, bad.Err()
	}
	checked, problem, err := d.Check.Check(ctx, r.File, r.File.Size)
	if err != nil {
		return checked, err
	}
	if problem != "" {
		bad.Add("file", problem)
	}
	return checked, bad.Err()
}

// customerOf returns the customer that a holder is, or belongs to.
func (d *Documents) customerOf(ctx context.Context, p ident.Platform, h document.Holder) (customer.Customer, error) {
	id := h.Customer
	if !h.Owner.IsZero() {
		owner, err := d.Store.BeneficialOwner(ctx, p, h.Owner)
		if err != nil {
			return customer.Customer{}, err
		}
		id = owner.Customer
	}
	return d.Store.Customer(ctx, p, id)
}

// checkActive returns CUSTOMER_DELETED for a deleted customer.
func checkActive(c customer.Customer) error {
	if c.Deleted() {
		return fault.New(fault.CustomerDeleted, "The customer %s is deleted; it has no new documents.", c.ID)
	}
	return nil
}

// errNoFiles is the error of what needs stored files where no place for them is configured.
var errNoFiles = errors.New("no place for the files of documents is configured; set CAUSEWAY_BLOBS")

// store stores a file that no document has yet. Before, it adds a job that deletes the file if that
// stays so, whatever happens to this process.
func (d *Documents) store(ctx context.Context, p ident.Platform, checked ports.CheckedFile, name string) (document.File, error) {
	if d.Files == nil {
		return document.File{}, fault.New(fault.NotImplemented, "This service accepts no documents, because its operator has not configured "+
			"where their files are stored.")
	}
	now := d.Clock.Now()
	file := document.File{Name: document.CleanFileName(name, checked.ContentType), ContentType: checked.ContentType, Size: checked.Size,
		Blob: d.IDs.New(now)}
	deletion := d.fileDeletion(p, file.Blob, now.Add(ports.UnusedFileAge))
	if err := ports.Do(ctx, d.Store, func(ctx context.Context, tx Tx) error { return tx.AddJobs(ctx, []ports.Job{deletion}) }); err != nil {
		return file, err
	}
	digest := sha256.New()
	var err error
	file.Key, err = d.Files.Put(ctx, document.BlobName(p, file.Blob), io.TeeReader(checked.Open(), digest), checked.Size)
	digest.Sum(file.SHA256[:0])
	if _, isFault := fault.As(err); err != nil && !isFault {
		err = fmt.Errorf("%w: store %s: %w", fault.New(fault.ServiceUnavailable, "The file cannot be stored at the moment. Send the request "+
			"again with the same Idempotency-Key."), document.BlobName(p, file.Blob), err)
	}
	return file, err
}

// fileDeletion returns the job that deletes a stored file unless a document has it.
func (s *Service) fileDeletion(p ident.Platform, blob uuid.UUID, due time.Time) ports.Job {
	return ports.Job{ID: s.IDs.New(s.Clock.Now()), Platform: p, Step: ports.StepDeleteBlob, Subjects: []uuid.UUID{blob}, Due: due}
}

// deleteBlobs deletes the stored file of a job, unless a document has it.
func (d *Documents) deleteBlobs(ctx context.Context, jobs []ports.Job) error {
	if d.Files == nil {
		return errNoFiles
	}
	for _, job := range jobs {
		for _, blob := range job.Subjects {
			used, err := d.Store.HasBlob(ctx, job.Platform, blob)
			if err == nil && !used {
				err = d.Files.Delete(ctx, document.BlobName(job.Platform, blob))
			}
			if err != nil {
				return err
			}
		}
	}
	return ports.Do(ctx, d.Store, func(ctx context.Context, tx Tx) error { return tx.FinishJobs(ctx, jobs) })
}

// lockDocuments locks a customer, who must be active, and returns the documents of a holder.
func lockDocuments(ctx context.Context, tx Tx, c customer.Customer, h document.Holder) ([]document.Document, error) {
	locked, err := tx.LockCustomer(ctx, c.Platform, c.ID)
	if err != nil {
		return nil, err
	}
	if err := checkActive(locked); err != nil {
		return nil, err
	}
	return tx.LockDocumentsOf(ctx, c.Platform, h)
}

// findDocument returns a document that the platform sees.
func findDocument(documents []document.Document, id ident.Document) (document.Document, error) {
	n := slices.IndexFunc(documents, func(d document.Document) bool { return d.ID == id && d.SupersededBy.IsZero() })
	if n < 0 {
		return document.Document{}, documentNotFound(id)
	}
	return documents[n], nil
}

func documentNotFound(id ident.Document) error {
	return fault.New(fault.DocumentNotFound, "There is no document %s.", id)
}
