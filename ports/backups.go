package ports

import (
	"context"
	"errors"

	"causeway/core/backup"
)

// ErrRestoreRuns is returned if another process restores a backup in the same place.
var ErrRestoreRuns = errors.New("another verification of a backup is running")

// BackupSource finds backups of the database and restores them beside the service.
type BackupSource interface {
	// Backups returns those that are complete, in any order.
	Backups(context.Context) ([]backup.Backup, error)
	// Restore copies a backup to a place of its own, recovers everything in the archive, and returns when the copy accepts
	// connections, of this process alone. The caller closes it. If ctx ends or it fails, nothing is left. ErrRestoreRuns if
	// another one is restored there.
	Restore(context.Context, backup.Backup) (RestoredBackup, error)
}

// RestoredBackup is a running copy of the server that was backed up. Nothing can be written to it.
type RestoredBackup interface {
	Recovery() backup.Recovery
	// Archived returns the logs that the archive had before the restore; none if it cannot be asked.
	Archived() backup.Segments
	// URL returns the URL of one of its databases, as a superuser.
	URL(database string) string
	// Close stops it and removes everything of it.
	Close() error
}
