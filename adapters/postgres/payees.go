package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// The seal of a payee is the digest of who is paid and how much, keyed as the fingerprints of accounts are: who writes to
// the database without the master key cannot make one, and nothing of the account can be guessed from it. It stays when
// the personal data of a customer are erased.

// unsealedUntil is a column of a transaction t: the day until which its platform accepted payments without a seal, if it
// has none. Uses the primary key.
const unsealedUntil = `CASE WHEN t.payee_seal = '' AND t.direction = 'OUTGOING' THEN
		(SELECT s.since FROM payee_sealing s WHERE s.platform_id = t.platform_id ORDER BY s.platform_id DESC, s.since DESC LIMIT 1) END`

// sealPayee returns the column of a digest; empty if there is none.
func (db *DB) sealPayee(ctx context.Context, digest string) (string, error) {
	if digest == "" || db.cipher == nil {
		return digest, nil
	}
	return db.cipher.Fingerprint(ctx, digest)
}

// checkPayee sets PayeeChanged of an outgoing transaction that was read, as far as its own row tells: that of an external
// account is compared by Payouts, which reads the account.
func (db *DB) checkPayee(ctx context.Context, t *transaction.Transaction, unsealedUntil time.Time) (err error) {
	switch {
	case t.Type != transaction.Outgoing:
	case t.Payee == "":
		accepted := time.Unix(t.ID.UUID().Time().UnixTime()) // the id cannot be changed with the transaction alone
		t.PayeeChanged = !accepted.Before(unsealedUntil)
	case t.Destination.ExternalAccount.IsZero():
		t.PayeeChanged, err = db.payeeChanged(ctx, t, nil)
	}
	return err
}

// payeeChanged reports whether who is paid is not what was accepted. A payment of before there were seals has nothing to
// compare, and commands without the master key, which pay nothing, cannot compare.
func (db *DB) payeeChanged(ctx context.Context, t *transaction.Transaction, to *account.External) (bool, error) {
	if t.Payee == "" || db.cipher == nil && strings.HasPrefix(t.Payee, "hmac-sha256:") {
		return t.PayeeChanged, nil
	}
	now, err := db.sealPayee(ctx, t.PayeeDigest(to))
	if errors.Is(err, ports.ErrNoMasterKey) {
		return t.PayeeChanged, nil
	}
	return now != t.Payee, err
}

// openPayee sets what a payment takes from an external account.
func (db *DB) openPayee(ctx context.Context, a *account.External, fields, beneficiary []byte) error {
	row := sealedRow{a.Platform.UUID(), a.ID.UUID()}
	if err := db.openJSON(ctx, row, externalAccountsFields, fields, &a.Fields); err != nil || len(beneficiary) == 0 {
		return err
	}
	var owner *beneficiaryColumn
	if err := db.openJSON(ctx, row, externalAccountsBeneficiary, beneficiary, &owner); err != nil {
		return err
	}
	a.Beneficiary = owner.beneficiary()
	return nil
}

// waitingPayments are the outgoing payments of a platform that are not paid yet, after an id. Without its account, which is
// deleted when the data of a customer are erased, none can be paid. It scans the transactions.
const waitingPayments = `
	SELECT id FROM transactions t WHERE platform_id = $1 AND direction = 'OUTGOING' AND status IN ('PENDING', 'PROCESSING') AND id > $2
		AND (destination_external IS NULL OR EXISTS (SELECT FROM external_accounts a WHERE a.platform_id = t.platform_id AND a.id = t.destination_external))
	ORDER BY id LIMIT $3`

// ChangedPayees implements ports.EvidenceView.
func (v *evidenceView) ChangedPayees(ctx context.Context, p ident.Platform, each func(t ident.Transaction) error) (waiting int64, err error) {
	for last := (uuid.UUID{}); ; {
		var keys []ports.TransactionKey
		err := queryRows(ctx, v.tx, waitingPayments, []any{pgID(p.UUID()), pgtype.UUID{Bytes: last, Valid: true}, subjectsPerRead}, func(rows pgx.Rows) error {
			var id pgtype.UUID
			err := rows.Scan(&id)
			key := ports.TransactionKey{Platform: p}
			ident.SetUUID(&key.ID, id.Bytes)
			keys, last = append(keys, key), id.Bytes
			return err
		})
		if err != nil {
			return waiting, err
		}
		payouts, err := v.db.Payouts(ctx, keys)
		if errors.Is(err, errNoCipher) || errors.Is(err, ports.ErrNoMasterKey) {
			return 0, nil // nothing can be compared
		}
		if err != nil {
			return waiting, err
		}
		slices.SortFunc(payouts, func(a, b ports.Payout) int { return a.Transaction.ID.Compare(b.Transaction.ID) })
		for _, payout := range payouts {
			if payout.Transaction.PayeeChanged {
				if err := each(payout.Transaction.ID); err != nil {
					return waiting, err
				}
			}
		}
		if waiting += int64(len(keys)); len(keys) < subjectsPerRead {
			return waiting, nil
		}
	}
}
