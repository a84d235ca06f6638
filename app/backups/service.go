// Package backups verifies backups of the database: it restores the newest one beside the service, checks the ledger of the copy,
// and records what it has found. It never writes to the copy, and to the service's database only the result.
package backups

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/core/backup"
	"causeway/ports"
)

// Store keeps the results.
type Store interface {
	// SaveBackupVerification records a result. It refuses one of a copy of another server.
	SaveBackupVerification(context.Context, backup.Verification) error
	// BackupVerifications returns the last results, newest first.
	BackupVerifications(ctx context.Context, limit int) ([]backup.Verification, error)
}

// Service keeps the results of verifications.
type Service struct{ store Store }

// New returns a Service.
func New(store Store) *Service { return &Service{store} }

// Record records the result of a verification.
func (s *Service) Record(ctx context.Context, v backup.Verification) error {
	return s.store.SaveBackupVerification(ctx, v)
}

// List returns the last results, newest first.
func (s *Service) List(ctx context.Context, limit int) ([]backup.Verification, error) {
	return s.store.BackupVerifications(ctx, limit)
}

// Check is what a check of the ledger of a copy has found.
type Check struct {
	Postings int64
	// Unreached are postings that were published and that the copy does not have.
	Unreached int64
	// Rules are those that were checked, and Failed those that are violated; Finding is the first violation.
	Rules, Failed int
	Finding       string
}

// Verifier verifies backups.
type Verifier struct {
	Source ports.BackupSource
	// Audit checks the ledger in the database of a URL.
	Audit func(ctx context.Context, url string) (Check, error)
	// Database is the name of the service's database.
	Database string
	Clock    ports.Clock
	// Step is called with what is being done.
	Step func(format string, args ...any)
}

// ErrNotUsable is returned if a backup is not usable: it cannot be restored, or its ledger does not pass the checks.
var ErrNotUsable = errors.New("the backup was not verified")

// Verify restores the newest backup and checks its ledger. A result with a problem is returned with ErrNotUsable, and is to be
// recorded, too; another error means that nothing was verified.
func (v *Verifier) Verify(ctx context.Context) (result backup.Verification, err error) {
	result.Began = v.Clock.Now()
	err = v.verify(ctx, &result)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case errors.Is(err, ports.ErrRestoreRuns):
		return result, err
	}
	result.Problem = err.Error()
	return result, fmt.Errorf("%w: %w", ErrNotUsable, err)
}

func (v *Verifier) verify(ctx context.Context, result *backup.Verification) (err error) {
	found, err := v.Source.Backups(ctx)
	if err != nil {
		return err
	}
	newest, ok := backup.Newest(found)
	if !ok {
		return errors.New("there is no backup")
	}
	result.Backup = newest
	v.Step("Restoring %s, which was begun at %s.", newest.Label, newest.Began.Format(time.RFC3339))
	began := v.Clock.Now()
	restored, err := v.Source.Restore(ctx, newest)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restored.Close()) }()
	result.Restored, result.Recovery = v.Clock.Now().Sub(began), restored.Recovery()
	if err := restored.Archived().CheckReached(result.Recovery.Segment); err != nil {
		return err
	}
	v.Step("Restored in %s, up to %s. Checking the ledger.", result.Restored.Round(time.Millisecond), result.Recovery.Position)
	check, err := v.Audit(ctx, restored.URL(v.Database))
	if err != nil {
		return fmt.Errorf("check the ledger in the database %s of the copy: %w", v.Database, err)
	}
	result.Postings, result.Unreached = check.Postings, check.Unreached
	if check.Failed > 0 {
		return fmt.Errorf("the ledger of the copy does not pass %d of %d rules: %s", check.Failed, check.Rules, check.Finding)
	}
	return nil
}
