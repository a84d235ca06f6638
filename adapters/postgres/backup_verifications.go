package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/backup"
)

// ErrOtherServer is returned for a backup of another server than that of the database.
var ErrOtherServer = errors.New("the backup is of another server than the database in which its verification is to be recorded")

// insertBackupVerification inserts nothing for a copy of another server. A standby that was promoted is the same one.
const insertBackupVerification = `
	INSERT INTO backup_verifications (began_at, backup, backup_at, backup_bytes, restored_to, last_segment, last_commit_at, restored_in,
		postings, unreached, problem)
	SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
	WHERE $12 IN ('', (SELECT system_identifier::text FROM pg_control_system()))`

// SaveBackupVerification implements backups.Store.
func (db *DB) SaveBackupVerification(ctx context.Context, v backup.Verification) error {
	return db.inTx(ctx, func(tx storage.Tx) error {
		n, err := tx.Exec(ctx, insertBackupVerification, v.Began, storage.Text(v.Backup.Label, 1000), v.Backup.Began, v.Recovery.Bytes,
			v.Recovery.Position, v.Recovery.Segment, v.Recovery.LastCommit, v.Restored, v.Postings, v.Unreached,
			storage.Text(v.Problem, storage.MaxProblem), v.Recovery.System)
		if err == nil && n == 0 {
			return ErrOtherServer
		}
		return translate(err)
	})
}

const backupVerificationColumns = `began_at, backup, backup_at, backup_bytes, restored_to, last_segment, last_commit_at, restored_in,
	postings, unreached, problem`

func scanBackupVerification(rows pgx.Rows, v *backup.Verification) error {
	err := rows.Scan(&v.Began, &v.Backup.Label, &v.Backup.Began, &v.Recovery.Bytes, &v.Recovery.Position, &v.Recovery.Segment,
		&v.Recovery.LastCommit, &v.Restored, &v.Postings, &v.Unreached, &v.Problem)
	v.Backup.Bytes = v.Recovery.Bytes
	return err
}

// BackupVerifications implements backups.Store. It uses the primary key.
func (db *DB) BackupVerifications(ctx context.Context, limit int) ([]backup.Verification, error) {
	return storage.Collect(ctx, db.read, `SELECT `+backupVerificationColumns+` FROM backup_verifications ORDER BY id DESC LIMIT $1`,
		[]any{limit}, scanBackupVerification)
}

// Backups is what is known of the backups of the database. Both are nil before the first verification.
type Backups struct {
	Last, LastPassed *backup.Verification
}

// lastBackupVerifications uses the primary key and backup_verifications_by_passed.
const lastBackupVerifications = `
	(SELECT ` + backupVerificationColumns + ` FROM backup_verifications ORDER BY id DESC LIMIT 1)
	UNION ALL
	(SELECT ` + backupVerificationColumns + ` FROM backup_verifications WHERE problem = '' ORDER BY id DESC LIMIT 1)`

func readBackups(read func(string, []any, func(pgx.Rows) error) error) (b Backups, err error) {
	err = read(lastBackupVerifications, nil, func(rows pgx.Rows) error {
		v := new(backup.Verification)
		err := scanBackupVerification(rows, v)
		if b.Last == nil {
			b.Last = v
		}
		if v.Problem == "" {
			b.LastPassed = v
		}
		return err
	})
	return b, err
}
