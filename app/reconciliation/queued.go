package reconciliation

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"causeway/ports"
)

const (
	// queuedTimeout bounds the reconciliation of one statement; meanwhile no other process takes it.
	queuedTimeout = 15 * time.Minute
	// queuedDelay is the delay before a statement that was refused is tried again: the one before it may be missing.
	queuedDelay = time.Hour
	// queuedBy is the author of the runs.
	queuedBy = "(service)"
)

// ReconcileQueued reconciles the statements that the partners of connections have sent. One that is refused stays in the
// queue with the reason, and is tried again; the error names it.
func (r *Service) ReconcileQueued(ctx context.Context, queue RailStatementStore) error {
	var failed []error
	for ctx.Err() == nil {
		s, found, err := queue.TakeRailStatement(ctx, queuedTimeout)
		if err != nil || !found {
			return errors.Join(append(failed, err)...)
		}
		if err := r.reconcileQueued(ctx, s); err != nil {
			failed = append(failed, errors.Join(errors.New("statement "+s.Name+" of "+s.Connection), err))
			err = queue.RailStatementFailed(ctx, s, err.Error(), r.Clock.Now().Add(queuedDelay))
			if err != nil {
				return errors.Join(append(failed, err)...)
			}
			continue
		}
		if err := queue.RailStatementReconciled(ctx, s, r.Clock.Now()); err != nil {
			return errors.Join(append(failed, err)...)
		}
	}
	return errors.Join(append(failed, ctx.Err())...)
}

func (r *Service) reconcileQueued(ctx context.Context, s ports.QueuedStatement) error {
	ctx, cancel := context.WithTimeout(ports.ForPlatform(ctx, s.Platform), queuedTimeout)
	defer cancel()
	_, err := r.Import(ctx, ImportRequest{Platform: s.Platform, Path: s.Account, Currency: s.Currency, Accounts: s.Accounts,
		Format: strings.ToLower(s.Format), By: queuedBy, File: bytes.NewReader(s.Data)}, nil)
	return err
}
