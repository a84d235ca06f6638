package postgres

import (
	"context"

	"causeway/core/platform"
)

const insertOperatorAction = `INSERT INTO operator_actions (platform_id, id, action, subject_id, subject, actor, at, person_id)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

// operatorActionColumns returns the arguments of insertOperatorAction. Zero ids are stored as such.
func operatorActionColumns(a platform.OperatorAction) []any {
	return []any{a.Platform.UUID(), a.ID, a.Kind, a.Subject, a.Name, a.Actor, a.At, a.Person}
}

// RecordOperatorAction inserts one action.
func (u *Unit) RecordOperatorAction(_ context.Context, a platform.OperatorAction) error {
	u.queueExec(insertOperatorAction, operatorActionColumns(a)...)
	return nil
}

// RecordOperatorAction inserts one action, before the operator's change is made outside a transaction
// of the database.
func (db *DB) RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error {
	_, err := db.pool.Exec(ctx, insertOperatorAction, operatorActionColumns(a)...)
	return err
}

// Recording returns a DB that records an operator's action in the transaction of each change that only
// operators make: of a corridor, of a month of the ledger, and of a data key.
func (db *DB) Recording(a platform.OperatorAction) *DB {
	recording := *db
	recording.operatorAction = &a
	return &recording
}
