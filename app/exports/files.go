package exports

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/core/document"
	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// FilesRetention is how long a file can be downloaded.
	FilesRetention = 7 * 24 * time.Hour
	// maxListed is how many exports are listed.
	maxListed = 100
	// maxConcurrentFiles is how many files a process writes at once, each of another platform.
	maxConcurrentFiles = 2
	// deletedAtOnce is how many old exports are deleted in one unit of work.
	deletedAtOnce = 20
)

// FilesConfig is what Files need beside the service.
type FilesConfig struct {
	Store FileStore
	// Files is nil if the operator has not configured where files are stored.
	Files      ports.Files
	IDs        ports.IDs
	Jobs       ports.Jobs
	Log        *logrus.Entry
	JobMetrics jobs.Metrics // may be nil
	// Packs writes the packs of financial years.
	Packs AuditPacks
	// PartSize is the number of bytes that are stored together, and kept in memory meanwhile; 8 MiB if zero.
	PartSize int
	// Timeout is the maximum duration of one export.
	Timeout time.Duration
}

// FileStore stores what is known of files, which are stored themselves elsewhere.
type FileStore interface {
	ports.UnitsOfWork
	// Exports returns the newest exports of a platform, newest first.
	Exports(ctx context.Context, p ident.Platform, limit int) ([]export.Export, error)
	// LedgerExport returns an export, or NOT_FOUND.
	LedgerExport(ctx context.Context, p ident.Platform, id uuid.UUID) (export.Export, error)
	// ExportParts returns the parts of an export in their order.
	ExportParts(ctx context.Context, p ident.Platform, id uuid.UUID) ([]export.Part, error)
	// Transactions and Activities are what lists are of.
	Transactions(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error)
	Activities(ctx context.Context, f ports.ActivityFilter) ([]ports.Activity, error)
}

// Tx are the methods of a unit of work that files use.
type Tx interface {
	// LockUnfinishedExports returns those that wait or run, oldest first, and locks out those who begin or add one.
	LockUnfinishedExports(ctx context.Context, p ident.Platform) ([]export.Export, error)
	LockExport(ctx context.Context, p ident.Platform, id uuid.UUID) (export.Export, error)
	CreateExport(ctx context.Context, e export.Export) error
	UpdateExport(ctx context.Context, e export.Export) error
	AddExportPart(ctx context.Context, p export.Part) error
	// DeleteExportParts returns what was stored, which needs jobs of StepDeleteBlob.
	DeleteExportParts(ctx context.Context, p ident.Platform, id uuid.UUID) ([]uuid.UUID, error)
	// LockOldExports returns some of those of all platforms that were created before a time.
	LockOldExports(ctx context.Context, before time.Time, limit int) ([]export.Export, error)
	// DeleteExport deletes an export without parts.
	DeleteExport(ctx context.Context, e export.Export) error
	AddJobs(ctx context.Context, jobs []ports.Job) error
	FinishJobs(ctx context.Context, jobs []ports.Job) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
}

// Files are exports that people ask for. Jobs write them, and any process lets them be downloaded.
type Files struct {
	*Service
	FilesConfig
	workers *jobs.Workers
}

// NewFiles returns Files that are written as the service exports.
func NewFiles(s *Service, c FilesConfig) *Files {
	if c.PartSize == 0 {
		c.PartSize = 8 << 20
	}
	f := &Files{Service: s, FilesConfig: c}
	handler := func(step transaction.Step) jobs.Handler {
		return jobs.Handler{Step: step, Do: f.write, MaxBatch: 1, MaxConcurrency: maxConcurrentFiles, Timeout: c.Timeout}
	}
	packs := jobs.Handler{Step: ports.StepWriteAuditPack, Do: f.write, MaxBatch: 1, MaxConcurrency: 1, Timeout: packTimeout}
	f.workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: s.Clock, Log: c.Log, Metrics: c.JobMetrics},
		handler(ports.StepWriteExport), handler(ports.StepWriteList), packs)
	return f
}

// Run writes files until ctx is done. Any number of processes may run it on one database.
func (f *Files) Run(ctx context.Context) { f.workers.Run(ctx) }

// WriteDue writes files until none is due.
func (f *Files) WriteDue(ctx context.Context) error { return f.workers.RunDue(ctx) }

// Request has a file written for a person. Faults: FORBIDDEN, those of Export, RATE_LIMITED while too many wait, NOT_IMPLEMENTED if no
// place for files is configured.
func (f *Files) Request(ctx context.Context, p ident.Platform, by person.Person, r Request) (export.Export, error) {
	if err := r.Format.Check(by, p); err != nil {
		return export.Export{}, err
	}
	if f.Files == nil {
		return export.Export{}, fault.New(fault.NotImplemented, "This service writes no files, because its operator has not configured where "+
			"they are stored (CAUSEWAY_BLOBS). Use `causeway ledger export`.")
	}
	document, err := f.fileOf(p, r, nil)
	if err == nil && r.Format == AuditPack {
		err = f.Packs.Check(ctx, p, yearOf(r))
	}
	if err != nil {
		return export.Export{}, err
	}
	now := f.Clock.Now()
	e := export.Export{ID: f.IDs.New(now), Platform: p, By: by.ID, Actor: by.Name, Format: string(r.Format), Interval: r.Interval,
		Account: r.Path, Currency: r.Currency, FileName: document.Name, ContentType: document.ContentType, State: export.Waiting,
		CreatedAt: now, UpdatedAt: now}
	err = ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
		unfinished, err := tx.LockUnfinishedExports(ctx, p)
		if err != nil {
			return err
		}
		if len(unfinished) >= export.MaxUnfinished {
			return &fault.Error{Code: fault.RateLimited, Reason: "Too many exports", RetryAfter: time.Minute,
				Message: "Your platform has too many exports that are not written yet. Cancel some, or wait until one is."}
		}
		if err := tx.CreateExport(ctx, e); err != nil {
			return err
		}
		if err := f.record(ctx, tx, e, by, platform.PersonRequestedExport); err != nil {
			return err
		}
		return tx.AddJobs(ctx, []ports.Job{f.writing(e, now)})
	})
	return e, err
}

// List returns the newest exports of a platform, newest first.
func (f *Files) List(ctx context.Context, p ident.Platform) ([]export.Export, error) {
	return f.Store.Exports(ctx, p, maxListed)
}

// Cancel ends an export: the process that writes it stops soon. Faults: NOT_FOUND, FORBIDDEN, CONFLICT if it has ended.
func (f *Files) Cancel(ctx context.Context, p ident.Platform, by person.Person, id uuid.UUID) error {
	return ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
		e, err := tx.LockExport(ctx, p, id)
		if err != nil {
			return err
		}
		if e, err = e.Cancel(by, f.Clock.Now()); err != nil {
			return err
		}
		if err := f.record(ctx, tx, e, by, platform.PersonCancelledExport); err != nil {
			return err
		}
		return f.endWithoutFile(ctx, tx, e)
	})
}

// Open returns the file of an export, and records who downloads it. Faults: FORBIDDEN, NOT_FOUND, CONFLICT if it is not complete.
func (f *Files) Open(ctx context.Context, p ident.Platform, by person.Person, id uuid.UUID) (Document, error) {
	e, err := f.Store.LedgerExport(ctx, p, id)
	if err == nil {
		err = Format(e.Format).Check(by, p)
	}
	if err != nil {
		return Document{}, err
	}
	if e.State != export.Completed {
		return Document{}, fault.New(fault.Conflict, "The export %s has no file: it is %s.", id, e.State)
	}
	parts, err := f.Store.ExportParts(ctx, p, id)
	if err != nil {
		return Document{}, err
	}
	size := int64(0)
	for _, part := range parts {
		size += part.Size
	}
	if size != e.Size {
		return Document{}, fault.New(fault.NotFound, "The file of the export %s was deleted.", id)
	}
	err = ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
		return f.record(ctx, tx, e, by, platform.PersonDownloadedExport)
	})
	return Document{Name: e.FileName, ContentType: e.ContentType, Write: func(ctx context.Context, out io.Writer) error {
		for _, part := range parts {
			if err := f.copyPart(ctx, out, part); err != nil {
				return fmt.Errorf("part %d of the export %s: %w", part.Number, id, err)
			}
		}
		return nil
	}}, err
}

func (f *Files) copyPart(ctx context.Context, out io.Writer, part export.Part) error {
	stored, err := f.Files.Open(ctx, document.BlobName(part.Platform, part.Blob), part.Key)
	if err != nil {
		return err
	}
	defer stored.Close()
	n, err := io.Copy(out, stored)
	if err == nil && n != part.Size {
		err = fmt.Errorf("it has %d bytes instead of %d", n, part.Size)
	}
	return err
}

// DeleteOld deletes exports after FilesRetention, with their files.
func (f *Files) DeleteOld(ctx context.Context) error {
	for more := true; more; {
		err := ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
			old, err := tx.LockOldExports(ctx, f.Clock.Now().Add(-FilesRetention), deletedAtOnce)
			if err != nil {
				return err
			}
			more = len(old) == deletedAtOnce
			for _, e := range old {
				if err := f.deleteParts(ctx, tx, e); err != nil {
					return err
				}
				if err := tx.DeleteExport(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// record records what a person does about an export.
func (f *Files) record(ctx context.Context, tx Tx, e export.Export, by person.Person, kind platform.OperatorActionKind) error {
	now := f.Clock.Now()
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: f.IDs.New(now), Platform: e.Platform, Kind: kind, Subject: e.ID,
		Name: e.FileName, Actor: by.Email, Person: by.ID, At: now})
}

// endWithoutFile stores an export that has ended, and deletes what was written of it.
func (f *Files) endWithoutFile(ctx context.Context, tx Tx, e export.Export) error {
	if err := f.deleteParts(ctx, tx, e); err != nil {
		return err
	}
	return tx.UpdateExport(ctx, e)
}

// deleteParts deletes what was written of an export, the stored files after the commit.
func (f *Files) deleteParts(ctx context.Context, tx Tx, e export.Export) error {
	blobs, err := tx.DeleteExportParts(ctx, e.Platform, e.ID)
	if err != nil {
		return err
	}
	deletions := make([]ports.Job, len(blobs))
	for i, blob := range blobs {
		deletions[i] = f.deletion(e.Platform, blob, f.Clock.Now())
	}
	return tx.AddJobs(ctx, deletions)
}

// deletion returns the job that deletes a stored file unless an export has it.
func (f *Files) deletion(p ident.Platform, blob uuid.UUID, due time.Time) ports.Job {
	return ports.Job{ID: f.IDs.New(f.Clock.Now()), Platform: p, Step: ports.StepDeleteBlob, Subjects: []uuid.UUID{blob}, Due: due}
}

// writing returns the job that writes an export.
func (f *Files) writing(e export.Export, due time.Time) ports.Job {
	step := ports.StepWriteExport
	switch {
	case isPack(e):
		step = ports.StepWriteAuditPack
	case Format(e.Format).IsList():
		step = ports.StepWriteList
	}
	return ports.Job{ID: f.IDs.New(f.Clock.Now()), Platform: e.Platform, Step: step, Subjects: []uuid.UUID{e.ID}, Due: due}
}

// storePart stores bytes of an export as a file. Before, it adds a job that deletes the file if no export has it in the end.
func (f *Files) storePart(ctx context.Context, part export.Part, content []byte) (export.Part, error) {
	now := f.Clock.Now()
	part.Blob, part.Size = f.IDs.New(now), int64(len(content))
	err := ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
		return tx.AddJobs(ctx, []ports.Job{f.deletion(part.Platform, part.Blob, now.Add(ports.UnusedFileAge))})
	})
	if err != nil {
		return part, err
	}
	name := document.BlobName(part.Platform, part.Blob)
	if part.Key, err = f.Files.Put(ctx, name, bytes.NewReader(content), part.Size); err != nil {
		return part, fmt.Errorf("store %s: %w", name, err)
	}
	return part, nil
}
