package backups

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/sirupsen/logrus"

	"causeway/adapters/pgembed"
	"causeway/core/backup"
	"causeway/ports"
)

// origin is a kind of backups.
type origin interface {
	// list returns the complete backups, in any order.
	list(context.Context) ([]backup.Backup, error)
	// copyTo copies the files of a backup to a folder that does not exist yet, and compares them with what the backup says of
	// them. It returns the command that fetches a file of the archive.
	copyTo(ctx context.Context, b backup.Backup, folder string) (restoreCommand string, err error)
	// archived returns the logs that the archive has of the server of a backup, if it can be asked.
	archived(context.Context, backup.Backup) (backup.Segments, error)
}

// Source restores the backups of one place.
type Source struct {
	origin
	workDir string
	log     logrus.FieldLogger
}

var _ ports.BackupSource = (*Source)(nil)

// NewBaseBackups returns the backups that pg_basebackup has written to a folder, or to folders in it. The command fetches a file
// of the archive, as restore_command of Postgres does; archive is the folder of the archive, if it is one. Both may be empty, for
// backups that are recovered with the logs that they contain.
func NewBaseBackups(folder, archive, command, workDir string, log logrus.FieldLogger) *Source {
	return &Source{baseBackups{folder: folder, archive: archive, command: command}, workDir, log}
}

// NewPgBackRest returns the backups of a stanza of pgBackRest. The configuration is a file, or empty for the default one.
func NewPgBackRest(stanza, configuration, workDir string, log logrus.FieldLogger) *Source {
	return &Source{pgBackRest{stanza: stanza, configuration: configuration}, workDir, log}
}

// Backups implements ports.BackupSource.
func (s *Source) Backups(ctx context.Context) ([]backup.Backup, error) { return s.list(ctx) }

// folderName is that of the restored files in the work folder.
const folderName = "causeway-backup-verify"

// Restore implements ports.BackupSource. The lock of the work folder makes it safe to remove what a killed process has left.
func (s *Source) Restore(ctx context.Context, b backup.Backup) (_ ports.RestoredBackup, err error) {
	lock, err := lockFolder(s.workDir)
	if err != nil {
		return nil, err
	}
	r := &restored{folder: filepath.Join(s.workDir, folderName), lock: lock}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if err := os.RemoveAll(r.folder); err != nil {
		return nil, fmt.Errorf("remove what an earlier verification has left: %w", err)
	}
	if err := checkSpace(s.workDir, b.Bytes); err != nil {
		return nil, err
	}
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder for the copy: %w", err)
	}
	// Before the copy is taken, because logs that are archived later need not be recovered.
	if r.archived, err = s.archived(ctx, b); err != nil {
		return nil, err
	}
	files := pgembed.CopyFolder(r.folder)
	command, err := s.copyTo(ctx, b, files)
	if err != nil {
		return nil, explainSpace(err, s.workDir)
	}
	if err := linksInPlace(files); err != nil {
		return nil, err
	}
	if r.recovery.Bytes, err = sizeOf(files); err != nil {
		return nil, err
	}
	if r.server, err = pgembed.StartCopy(ctx, r.folder, command, s.log); err != nil {
		return nil, fmt.Errorf("recover the copy: %w", explainSpace(err, s.workDir))
	}
	if err := r.readRecovery(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// restored implements ports.RestoredBackup.
type restored struct {
	folder   string
	lock     *os.File
	server   *pgembed.Server // nil until it was started
	recovery backup.Recovery
	archived backup.Segments
}

// Recovery implements ports.RestoredBackup.
func (r *restored) Recovery() backup.Recovery { return r.recovery }

// Archived implements ports.RestoredBackup.
func (r *restored) Archived() backup.Segments { return r.archived }

// URL implements ports.RestoredBackup.
func (r *restored) URL(database string) string { return r.server.DatabaseURL(database) }

// Close implements ports.RestoredBackup.
func (r *restored) Close() error {
	var stopped error
	if r.server != nil {
		stopped = r.server.StopCopy()
	}
	removed := os.RemoveAll(r.folder)
	if removed != nil {
		removed = fmt.Errorf("remove the copy: %w", removed)
	}
	return errors.Join(stopped, removed, r.lock.Close()) // which unlocks it
}

// reached reads what was recovered. The last log is that of the byte before the position. The checkpoint at the end of the
// recovery has the timeline that was followed as the previous one.
const reached = `
	SELECT s.system_identifier::text, l.lsn::text, pg_last_xact_replay_timestamp(),
		upper(lpad(to_hex(c.prev_timeline_id), 8, '0') || lpad(to_hex(l.segment / (4294967296 / l.size)), 8, '0')
			|| lpad(to_hex(l.segment % (4294967296 / l.size)), 8, '0'))
	FROM pg_control_system() s, pg_control_checkpoint() c, (
		SELECT lsn, size, div(lsn - '0/0'::pg_lsn - 1, size)::bigint AS segment
		FROM (SELECT coalesce(pg_last_wal_replay_lsn(), pg_current_wal_lsn()) AS lsn,
			(SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size') AS size) AS r) AS l`

func (r *restored) readRecovery(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, r.server.DatabaseURL("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the copy as the superuser postgres: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var lastCommit pgtype.Timestamptz
	if err := conn.QueryRow(ctx, reached).Scan(&r.recovery.System, &r.recovery.Position, &lastCommit, &r.recovery.Segment); err != nil {
		return fmt.Errorf("read how far the copy was recovered: %w", err)
	}
	if lastCommit.Valid {
		r.recovery.LastCommit = lastCommit.Time.UTC()
	}
	return nil
}

// lockFolder makes this process the only one that restores in a folder, until the file is closed or the process ends.
func lockFolder(folder string) (*os.File, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, fmt.Errorf("the folder for the copy: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w in %s; wait for its end, or choose another --work-dir", ports.ErrRestoreRuns, folder)
		}
		return nil, fmt.Errorf("lock %s: %w", folder, err)
	}
	return f, nil
}
