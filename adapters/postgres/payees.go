package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/sealed"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// The seal of a payee is the digest of who is paid and how much, keyed as the fingerprints of accounts are: who writes to
// the database without the master key cannot make one, and nothing of the account can be guessed from it. It stays when
// the personal data of a customer are erased.

// checkPayee sets PayeeChanged of an outgoing transaction that was read, as far as its own row tells: that of an external
// account is compared by Payouts, which reads the account.
func (db *DB) checkPayee(ctx context.Context, t *transaction.Transaction) (err error) {
	switch {
	case t.Type != transaction.Outgoing:
	case t.Payee == "":
		t.PayeeChanged = true
	case t.Destination.ExternalAccount.IsZero():
		if t.PayeeChanged, err = db.payeeChanged(ctx, t, nil); isWithoutKey(err) {
			return nil // commands without the master key pay nothing
		}
	}
	return err
}

// isWithoutKey reports whether an error is that of a command without the master key.
func isWithoutKey(err error) bool {
	return errors.Is(err, sealed.ErrNoCipher) || errors.Is(err, ports.ErrNoMasterKey)
}

// timeOfID is the time at which an id was made. It cannot be changed as a column can.
func timeOfID(id uuid.UUID) time.Time { return time.Unix(id.Time().UnixTime()) }

// payeeChanged reports whether who is paid is not what was accepted.
func (db *DB) payeeChanged(ctx context.Context, t *transaction.Transaction, to *account.External) (bool, error) {
	if t.Payee == "" {
		return true, nil
	}
	same, err := db.isSealOf(ctx, t.Payee, t.PayeeDigest(to), timeOfID(t.ID.UUID()))
	return !same, err
}

// unkeyedFor is how long a process may still store seals without a key after the first key was created.
const unkeyedFor = time.Hour

// isSealOf reports whether a stored seal is that of a digest. One without a key is, if it was written, at a time, before
// there was one.
func (db *DB) isSealOf(ctx context.Context, stored, digest string, written time.Time) (bool, error) {
	if strings.HasPrefix(stored, "hmac-sha256:") {
		if db.cipher == nil {
			return false, sealed.ErrNoCipher
		}
		keyed, err := db.cipher.Fingerprint(ctx, digest)
		return keyed == stored, err
	}
	if stored != digest || db.cipher == nil {
		return stored == digest, nil
	}
	key, err := db.cipher.NewestKey(ctx)
	return key.FingerprintsSince.IsZero() || written.Before(key.FingerprintsSince.Add(unkeyedFor)), err
}

// openPayee sets what a payment takes from an external account.
func (db *DB) openPayee(ctx context.Context, a *account.External, fields, beneficiary []byte) error {
	row := sealed.Row{Platform: a.Platform.UUID(), ID: a.ID.UUID()}
	if err := db.sealed.OpenJSON(ctx, row, sealed.ExternalAccountsFields, fields, &a.Fields); err != nil || len(beneficiary) == 0 {
		return err
	}
	var owner *beneficiaryColumn
	if err := db.sealed.OpenJSON(ctx, row, sealed.ExternalAccountsBeneficiary, beneficiary, &owner); err != nil {
		return err
	}
	a.Beneficiary = owner.beneficiary()
	return nil
}

// waitingPayments are the outgoing payments of a platform that are not paid yet, after an id. Without its account, which is
// deleted when the data of a customer are erased, none can be paid. It scans the transactions.
const waitingPayments = `
	SELECT id FROM transactions t WHERE platform_id = $1 AND direction = 'OUTGOING' AND status IN ('PENDING', 'PENDING_AUTHORIZATION', 'PROCESSING') AND id > $2
		AND (destination_external IS NULL OR EXISTS (SELECT FROM external_accounts a WHERE a.platform_id = t.platform_id AND a.id = t.destination_external))
	ORDER BY id LIMIT $3`

// ChangedPayees implements ports.EvidenceView.
func (v *evidenceView) ChangedPayees(ctx context.Context, p ident.Platform, each func(t ident.Transaction) error) (
	waiting int64, err error) {
	for last := (uuid.UUID{}); ; {
		var keys []ports.TransactionKey
		err := queryRows(ctx, v.tx, waitingPayments, []any{p, last, subjectsPerRead}, func(rows pgx.Rows) error {
			key := ports.TransactionKey{Platform: p}
			err := rows.Scan(&key.ID)
			keys, last = append(keys, key), key.ID.UUID()
			return err
		})
		if err != nil {
			return waiting, err
		}
		payouts, err := v.db.Payouts(ctx, keys)
		if isWithoutKey(err) {
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

// accountsAfter uses the primary key.
var accountsAfter = `SELECT ` + externalAccounts.Names("") +
	` FROM external_accounts WHERE platform_id = $1 AND id > $2 ORDER BY id LIMIT $3`

// ChangedAccounts implements ports.EvidenceView. It reads the accounts by their primary key.
func (v *evidenceView) ChangedAccounts(ctx context.Context, p ident.Platform, each func(id ident.ExternalAccount, unreadable error) error) (
	compared int64, err error) {
	for last := (uuid.UUID{}); ; {
		var read []sealed.Scanned[account.External]
		if err := v.db.read(ctx, accountsAfter, []any{p, last, accountsPerRead}, func(rows pgx.Rows) error {
			row, err := sealed.ScanRow(rows, externalAccounts)
			read = append(read, row)
			return err
		}); err != nil {
			return compared, err
		}
		for _, row := range read {
			a := row.Row
			last = a.ID.UUID()
			unreadable := v.db.sealed.OpenColumns(ctx, row.Columns)
			switch {
			case isWithoutKey(unreadable):
				return 0, nil // nothing can be compared
			case unreadable != nil && !errors.Is(unreadable, ports.ErrCannotDecrypt):
				return compared, unreadable
			}
			compared++
			if unreadable == nil {
				same, err := v.db.isSealOf(ctx, sealed.StoredValue(row.Columns, "seal"), a.Digest(), timeOfID(a.ID.UUID()))
				if isWithoutKey(err) {
					return 0, nil
				}
				if err != nil {
					return compared, err
				}
				if same {
					continue
				}
			}
			if err := each(a.ID, unreadable); err != nil {
				return compared, err
			}
		}
		if len(read) < accountsPerRead {
			return compared, nil
		}
	}
}

// accountsPerRead is the number of external accounts that are read at once.
const accountsPerRead = 1000
