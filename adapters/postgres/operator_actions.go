package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/storage"
	"causeway/core/diff"
	"causeway/core/ident"
	"causeway/core/platform"
)

const (
	// insertOperatorAction names the person to whom a token belongs beside the token, which can be deleted.
	insertOperatorAction = `INSERT INTO operator_actions (platform_id, id, action, subject_id, subject, actor, at, person_id, changes)
	VALUES ($1, $2, $3, $4, $5, coalesce((SELECT left(email || ' (' || $6 || ')', 200) FROM people WHERE id = $8 AND $6 LIKE 'Token:%'), $6),
		$7, $8, $9)`
	insertOperatorRefusal = `INSERT INTO operator_refusals (platform_id, action_id, reason, at) VALUES ($1, $2, $3, $4)`
)

// operatorActionColumns returns the arguments of insertOperatorAction. Zero ids are stored as such.
func operatorActionColumns(a platform.OperatorAction) []any {
	return []any{a.Platform.UUID(), a.ID, a.Kind, a.Subject, a.Name, a.Actor, a.At, a.Person, storedChanges(a.Changes)}
}

// changedField is an element of the column changes.
type changedField struct {
	Name   string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
}

// storedChanges returns the column changes; nil for none.
func storedChanges(changes []diff.Field) *string {
	if len(changes) == 0 {
		return nil
	}
	changes = diff.Limited(changes)
	stored := make([]changedField, len(changes))
	for i, c := range changes {
		stored[i] = changedField(c)
	}
	text, err := json.Marshal(stored)
	if err != nil {
		panic(err) // impossible: it has only texts
	}
	return new(string(text))
}

func readChanges(text []byte) (changes []diff.Field, err error) {
	var stored []changedField
	if len(text) > 0 {
		err = json.Unmarshal(text, &stored)
	}
	for _, s := range stored {
		changes = append(changes, diff.Field(s))
	}
	return changes, err
}

// RecordOperatorAction inserts one action.
func (u *Unit) RecordOperatorAction(_ context.Context, a platform.OperatorAction) error {
	u.queueExec(insertOperatorAction, operatorActionColumns(a)...)
	return nil
}

// RecordOperatorRefusal inserts why an action was refused that was recorded before, or in the same unit of work.
func (u *Unit) RecordOperatorRefusal(_ context.Context, p ident.Platform, action uuid.UUID, reason string, at time.Time) error {
	u.queueExec(insertOperatorRefusal, p.UUID(), action, storage.Text(reason, storage.MaxProblem), at)
	return nil
}

// RecordOperatorAction inserts one action, before the operator's change is made outside a transaction
// of the database.
func (db *DB) RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error {
	_, err := db.pool.Exec(ctx, insertOperatorAction, operatorActionColumns(a)...)
	return err
}

// RecordOperatorAction inserts one action, with a change that is proposed or made for all platforms.
func (t operatorTx) RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error {
	_, err := t.tx.Exec(ctx, insertOperatorAction, operatorActionColumns(a)...)
	return err
}

// Recording returns a DB that records an operator's action in the transaction of each change that only
// operators make: of a month of the ledger, and of a data key.
func (db *DB) Recording(a platform.OperatorAction) *DB {
	recording := *db
	recording.operatorAction = &a
	return &recording
}
