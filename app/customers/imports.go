package customers

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/jobs"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

const (
	// MaxUnfinishedImports is how many imports of a platform may be uploaded, wait and run at once.
	MaxUnfinishedImports = 5
	// UploadTimeout is the maximum duration of an upload.
	UploadTimeout = 15 * time.Minute
	// deleteTimeout is the timeout of the deletion of an upload that failed.
	deleteTimeout = 5 * time.Second
	// maxImportPause is the longest pause after a chunk.
	maxImportPause = time.Second
	// maxConcurrentImports is how many imports a process runs at once.
	maxConcurrentImports = 2
)

// Imports creates customers from files.
type Imports struct {
	*Service
	workers *jobs.Workers
	ahead   batchesAhead
}

// NewImports returns Imports that create customers as the service does.
func NewImports(s *Service) *Imports {
	i := &Imports{Service: s}
	i.workers = jobs.New(jobs.Config{Jobs: s.Jobs, Clock: s.Clock, Log: s.Log, Retry: s.JobRetry, Metrics: s.JobMetrics},
		jobs.Handler{Step: ports.StepImportCustomers, Do: i.runJob, MaxBatch: 1, MaxConcurrency: maxConcurrentImports})
	return i
}

// Run imports the rows of uploaded files until ctx is done. Any number of processes may run it on
// one database.
func (i *Imports) Run(ctx context.Context) { i.workers.Run(ctx) }

// ImportDue runs jobs until none is due.
func (i *Imports) ImportDue(ctx context.Context) error { return i.workers.RunDue(ctx) }

// Get returns an import, or BULK_UPLOAD_JOB_NOT_FOUND.
func (i *Imports) Get(ctx context.Context, p ident.Platform, id ident.CustomerImport) (customer.ImportWithErrors, error) {
	return i.Store.CustomerImport(ctx, p, id)
}

// Upload stores the rows of a CSV file, to be imported by a job. What is wrong with the file becomes
// errors of the import. Faults: those of reading the file, RATE_LIMITED.
func (i *Imports) Upload(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, file io.Reader) (customer.Import, error) {
	now := i.Clock.Now()
	upload := customer.Import{ID: ident.NewCustomerImport(i.IDs.New, now), Platform: p, Status: customer.ImportUploading,
		CreatedAt: now, UpdatedAt: now}
	limit := ports.UnfinishedImports{Max: MaxUnfinishedImports, UploadsSince: now.Add(-UploadTimeout)}
	if err := ports.Do(ctx, i.Store, func(ctx context.Context, tx Tx) error {
		return tx.CreateCustomerImport(ctx, upload,
			limit)
	}); err != nil {
		return upload, err
	}
	stored, job, err := i.store(ctx, upload, request, file)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
		defer cancel()
		return stored, errors.Join(err, ports.Do(ctx, i.Store, func(ctx context.Context, tx Tx) error {
			return tx.DeleteCustomerUpload(ctx, p, upload.ID)
		}))
	}
	i.workers.Submit([]ports.Job{job})
	return stored, nil
}

// store stores the rows chunk by chunk, and then the import with its job and the response.
func (i *Imports) store(ctx context.Context, upload customer.Import, request *ports.IdempotentRequest,
	file io.Reader) (stored customer.Import, job ports.Job, err error) {
	upload.Columns, upload.Total, err = i.storeRows(ctx, upload, file)
	var invalid fileError
	if err != nil && !errors.As(err, &invalid) {
		return upload, job, err
	}
	// The rest of a file with an error is read too: then the request is known to be complete.
	if _, err := io.Copy(io.Discard, file); err != nil {
		return upload, job, err
	}
	now := i.Clock.Now()
	if stored, err = upload.Uploaded(upload.Total, now); err != nil {
		return upload, job, err
	}
	job = i.job(stored, now)
	return stored, job, ports.Do(ctx, i.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, stored, nil); err != nil {
			return err
		}
		if len(invalid) > 0 {
			if err := tx.DeleteImportChunks(ctx, stored); err != nil {
				return err
			}
		}
		if err := tx.UpdateCustomerImport(ctx, stored, invalid); err != nil {
			return err
		}
		return tx.AddJobs(ctx, []ports.Job{job})
	})
}

// storeRows stores the rows of a file and returns its header and how many rows there are. The error
// of an invalid file is a fileError.
func (i *Imports) storeRows(ctx context.Context, upload customer.Import, source io.Reader) (header []string, rows int, err error) {
	file, err := openImportFile(source)
	if err != nil {
		return nil, 0, err
	}
	for {
		chunk, err := file.next()
		if err != nil {
			return nil, 0, err
		}
		if len(chunk.Rows) == 0 {
			break
		}
		chunk.ID = i.IDs.New(upload.CreatedAt)
		if err := ports.Do(ctx, i.Store, func(ctx context.Context, tx Tx) error { return tx.AddImportChunk(ctx, upload, chunk) }); err != nil {
			return nil, 0, err
		}
	}
	if file.rows == 0 {
		return nil, 0, newFileError(customer.ImportNoRows, "The file has no rows below the names of the columns.")
	}
	return file.header, file.rows, nil
}

// job returns the job that imports the next rows. This process runs it, if it has workers.
func (i *Imports) job(of customer.Import, now time.Time) ports.Job {
	return ports.Job{ID: i.IDs.New(now), Platform: of.Platform, Step: ports.StepImportCustomers, Subjects: []uuid.UUID{of.ID.UUID()},
		Due: now.Add(i.workers.LocalLease())}
}

// ForgetPrepared drops batches that were prepared: a database that has lost commits may not have the key
// that they are encrypted with.
func (i *Imports) ForgetPrepared() { i.ahead.forget() }

// runJob imports one chunk in one unit of work, and enqueues a job for the next, which it prepares
// meanwhile. It then pauses for a part of the time that took, so that an import takes no more than
// four fifths of one connection.
func (i *Imports) runJob(ctx context.Context, due []ports.Job) error {
	var id ident.CustomerImport
	id.SetUUID(due[0].Subjects[0])
	for attempt := 1; ; attempt++ {
		err := i.runOnce(ctx, due, id)
		if !errors.Is(err, errOutdatedBatch) || attempt == maxPreparations {
			return err
		}
	}
}

func (i *Imports) runOnce(ctx context.Context, due []ports.Job, id ident.CustomerImport) error {
	batch, err := i.nextBatch(ctx, due[0].Platform, id)
	if err != nil {
		return err
	}
	started := time.Now()
	prepared := i.prepareNext(ctx, batch)
	next, err := i.commitBatch(ctx, due, id, batch)
	took := time.Since(started)
	if following := <-prepared; following != nil && err == nil && len(next) > 0 {
		i.ahead.put(following)
	}
	if err != nil || len(next) == 0 {
		return err
	}
	pause(ctx, min(took/4, maxImportPause))
	i.workers.Submit(next)
	return nil
}

// commitBatch imports a batch and returns the next job, if any.
func (i *Imports) commitBatch(ctx context.Context, due []ports.Job, id ident.CustomerImport,
	batch *importBatch) (next []ports.Job, err error) {
	err = ports.Do(ctx, i.Store, func(ctx context.Context, tx Tx) error {
		next = nil
		if err := tx.FinishJobs(ctx, due); err != nil {
			return err
		}
		locked, found, err := tx.LockCustomerImport(ctx, due[0].Platform, id)
		if err != nil || !found || locked.Ended() {
			return err
		}
		after, err := i.importBatch(ctx, tx, locked, batch)
		if err != nil || after.Ended() {
			return err
		}
		next = []ports.Job{i.job(after, i.Clock.Now())}
		return tx.AddJobs(ctx, next)
	})
	return next, err
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// importBatch creates the customers of a batch, stores why others were refused, and emits the event of
// an import that ends.
func (i *Imports) importBatch(ctx context.Context, tx Tx, locked customer.Import,
	batch *importBatch) (after customer.Import, err error) {
	owner, err := tx.LockPlatformShared(ctx, locked.Platform)
	if err != nil {
		return locked, err
	}
	if !batch.fits(locked, owner) {
		return locked, errOutdatedBatch
	}
	var refused []customer.ImportError
	if rows := batch.chunk.Rows; len(rows) > 0 {
		if err := tx.DeleteImportChunk(ctx, locked, batch.chunk); err != nil {
			return locked, err
		}
		conflicts, err := tx.CreateCustomers(ctx, batch.sealed)
		if err != nil {
			return locked, err
		}
		refused = batch.errors(conflicts)
		if err := i.Sanctions.enqueue(ctx, tx, i.IDs, owner.ID, owner.Environment, i.Clock.Now(), batch.created(conflicts)...); err != nil {
			return locked, err
		}
	}
	now := i.Clock.Now()
	if after, err = locked.Proceed(len(batch.chunk.Rows)-len(refused), len(refused), now); err != nil {
		return locked, err
	}
	kept := refused[:min(len(refused), max(customer.MaxImportErrors-locked.Failed, 0))]
	if err := tx.UpdateCustomerImport(ctx, after, kept); err != nil || !after.Ended() {
		return after, err
	}
	result := customer.ImportWithErrors{Import: after}
	if result.Errors, err = tx.ImportErrors(ctx, after); err != nil {
		return after, err
	}
	return after, tx.Emit(ctx, []event.Event{result.Event(ident.NewWebhook(i.IDs.New, now))})
}
