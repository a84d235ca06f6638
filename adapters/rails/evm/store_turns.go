package evm

import (
	"context"
	"fmt"
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

// takeOver gives the address of an embedded wallet to another connection, once nothing of the former one is on its way. It uses the primary
// keys, evm_transactions_pending and evm_transaction_subject_unique.
func (q querier) takeOver(ctx context.Context, w Wallet, former string) error {
	n, err := q.Exec(ctx, `UPDATE evm_wallets w SET connection = $3, turn = NULL WHERE chain_id = $1 AND address = $2
		AND NOT EXISTS (SELECT FROM evm_transactions t WHERE t.connection = $4 AND state = 'PENDING'
			AND (sender = w.address OR purpose IN ('WALLET_DEBIT', 'WALLET_PERMIT') AND subject = w.turn))
		AND (turn IS NULL OR turn_until <= $5 OR EXISTS (SELECT FROM evm_transactions t
			WHERE t.connection = $4 AND purpose = 'WALLET_DEBIT' AND subject = w.turn))`,
		w.ChainID, w.Address, w.Connection, former, q.now)
	if err == nil && n == 0 {
		err = fmt.Errorf("a payment of the wallet 0x%x is on its way over the connection %s", w.Address, former)
	}
	return err
}

// EndTurn takes the turn from a payment, and returns false if a transfer of it was added, by this connection or the one that has the
// wallet. It uses the primary key, and evm_transaction_subject_unique.
func (s *Store) EndTurn(ctx context.Context, w Wallet, subject uuid.UUID) (ended bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		connection, _, err := tx.lockRow(ctx, w)
		if err != nil {
			return err
		}
		if _, err := tx.row(ctx, `SELECT NOT EXISTS (SELECT FROM evm_transactions WHERE connection IN ($1, $2) AND purpose = $3 AND subject = $4)`,
			[]any{w.Connection, connection, WalletDebit, subject}, &ended); err != nil || !ended {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE evm_wallets SET turn = NULL WHERE chain_id = $1 AND address = $2 AND turn = $3`, w.ChainID, w.Address,
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
