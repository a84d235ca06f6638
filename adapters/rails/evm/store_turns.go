package evm

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// TakeTurn gives a payment the turn of its wallet until a time, unless another payment has it whose transfer is not concluded. It uses
// the primary key, and evm_transaction_subject_unique.
func (s *Store) TakeTurn(ctx context.Context, w Wallet, subject uuid.UUID, until time.Time) (taken bool, err error) {
	now := s.db.Now()
	if !now.Before(until) {
		return false, nil
	}
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		if _, err := tx.lockWallet(ctx, w); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE evm_wallets w SET turn = $3, turn_until = $4 WHERE chain_id = $1 AND address = $2
			AND (turn IS NULL OR turn = $3 OR turn_until <= $5
				OR EXISTS (SELECT FROM evm_transactions t WHERE t.connection = $6 AND purpose = $7 AND subject = w.turn AND state <> 'PENDING'))`,
			w.ChainID, w.Address, subject, until, now, w.Connection, WalletDebit)
		taken = n == 1
		return err
	})
	return taken && err == nil, err
}

// EndTurn takes the turn from a payment, and returns false if a transfer of it was added. It uses the primary key, and
// evm_transaction_subject_unique.
func (s *Store) EndTurn(ctx context.Context, w Wallet, subject uuid.UUID) (ended bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		if _, err := tx.lockWallet(ctx, w); err != nil {
			return err
		}
		if _, err := tx.row(ctx, `SELECT NOT EXISTS (SELECT FROM evm_transactions WHERE connection = $1 AND purpose = $2 AND subject = $3)`,
			[]any{w.Connection, WalletDebit, subject}, &ended); err != nil || !ended {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE evm_wallets SET turn = NULL WHERE chain_id = $1 AND address = $2 AND turn = $3`, w.ChainID, w.Address,
			subject)
		return err
	})
	return ended && err == nil, err
}

// hasTurn reports whether the payment of a transaction has the turn of its wallet, and locks that until the end of the unit.
func (q querier) hasTurn(ctx context.Context, w Wallet, t Transaction, now time.Time) (has bool, err error) {
	_, err = q.row(ctx, `SELECT coalesce(turn = $3 AND turn_until > $4, false) FROM evm_wallets WHERE chain_id = $1 AND address = $2 FOR UPDATE`,
		[]any{w.ChainID, t.payer(), t.Subject, now}, &has)
	return has, err
}
