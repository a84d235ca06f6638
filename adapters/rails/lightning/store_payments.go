package lightning

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/feed"
	"causeway/core/rail"
	"causeway/ports"
)

// AddPayments keeps payments that are new, and returns those that were kept. It uses the primary key.
func (s *Store) AddPayments(ctx context.Context, connection string, payments []Payment) (map[ports.RailPaymentKey]Payment, error) {
	keys := make([]ports.RailPaymentKey, len(payments))
	batch := &pgx.Batch{}
	for i, p := range payments {
		keys[i] = p.RailPaymentKey
		batch.Queue(`INSERT INTO lightning_payments (platform_id, connection, id, destination, satoshis, created_at, status)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
			p.Platform, connection, p.ID, p.Destination[:], p.Satoshis, p.CreatedAt, Unsent)
	}
	if err := s.db.Send(ctx, batch); err != nil {
		return nil, err
	}
	return s.Payments(ctx, connection, keys)
}

const paymentColumns = `SELECT p.platform_id, p.id, p.destination, p.satoshis, p.created_at, p.status, p.invoice, coalesce(p.payment_hash, ''),
	p.expires_at, p.sent_at, p.sendings, p.code, p.problem FROM lightning_payments p `

// Payments returns the known ones of some payments. It uses the primary key.
func (s *Store) Payments(ctx context.Context, connection string, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]Payment, error) {
	found, err := s.payments(ctx, paymentColumns+`JOIN unnest($2::uuid[], $3::uuid[], $4::text[]) AS k(platform_id, id, kind)
		ON p.platform_id = k.platform_id AND p.connection = $1 AND p.id = k.id`, append([]any{connection}, storage.RailKeyColumns(keys)...)...)
	known := make(map[ports.RailPaymentKey]Payment, len(found))
	for _, p := range found {
		known[p.RailPaymentKey] = p
	}
	return known, err
}

// SentPayments returns payments of which the node knows what became. It uses lightning_payments_sent; ids begin with the time.
func (s *Store) SentPayments(ctx context.Context, connection string, limit int) ([]Payment, error) {
	return s.payments(ctx, paymentColumns+`WHERE p.connection = $1 AND p.status = 'SENT' ORDER BY p.id LIMIT $2`, connection, limit)
}

func (s *Store) payments(ctx context.Context, sql string, args ...any) ([]Payment, error) {
	return storage.Collect(ctx, s.db.Read, sql, args, func(rows pgx.Rows, p *Payment) error {
		var destination, hash []byte
		var expires, sent *time.Time
		if err := rows.Scan(&p.Platform, &p.ID, &destination, &p.Satoshis, &p.CreatedAt, &p.Status, &p.Invoice, &hash, &expires, &sent,
			&p.Sendings, &p.Code, &p.Problem); err != nil {
			return err
		}
		p.Kind, p.Destination = rail.Payout, [32]byte(destination)
		if len(hash) == len(p.Hash) {
			p.Hash = Hash(hash)
		}
		if expires != nil {
			p.ExpiresAt = expires.UTC()
		}
		if sent != nil {
			p.SentAt = sent.UTC()
		}
		return nil
	})
}

// Leave makes a payment that is not sent irrevocable: from now on the node may have paid it. It returns ErrHeld if it may not leave,
// ErrPaidBefore if its invoice is that of another payment, and ErrChanged if it was sent meanwhile.
func (s *Store) Leave(ctx context.Context, connection string, key ports.RailPaymentKey, a Attempt) error {
	return s.db.InTx(ctx, func(tx storage.Tx) error {
		if err := s.leave(ctx, tx, connection, key); err != nil {
			return err
		}
		return changedOnce(tx.Exec(
			ctx, `UPDATE lightning_payments SET status = 'SENT', invoice = $4, payment_hash = $5, expires_at = $6, sent_at = $7, asked_at = NULL, code = '', problem = '',
				sendings = CASE WHEN payment_hash = $5 THEN sendings ELSE 0 END + 1
			WHERE connection = $1 AND platform_id = $2 AND id = $3 AND status = 'NEW'`,
			connection, key.Platform, key.ID, a.Invoice, a.Hash[:], a.ExpiresAt, s.db.Now()))
	})
}

// LeaveAgain prepares that the invoice of a payment is sent again which the node does not know. The errors are those of Leave.
func (s *Store) LeaveAgain(ctx context.Context, connection string, p Payment) error {
	return s.db.InTx(ctx, func(tx storage.Tx) error {
		if err := s.leave(ctx, tx, connection, p.RailPaymentKey); err != nil {
			return err
		}
		return changedOnce(tx.Exec(ctx, `UPDATE lightning_payments SET sent_at = $5, sendings = sendings + 1
			WHERE connection = $1 AND platform_id = $2 AND id = $3 AND status = 'SENT' AND sendings = $4`,
			connection, p.Platform, p.ID, p.Sendings, s.db.Now()))
	})
}

func (s *Store) leave(ctx context.Context, tx storage.Tx, connection string, key ports.RailPaymentKey) error {
	departures, err := storage.LeaveRailPayments(ctx, tx, connection, []ports.RailPaymentKey{key}, s.db.Now())
	if err == nil && !departures[0].MayBeSent() {
		err = fmt.Errorf("%s %s of %s: %w", key.Kind, key.ID, connection, ErrHeld)
	}
	return err
}

// Pay keeps that the node has paid what was sent, with the fee in thousandths of a satoshi. What of all fees makes whole satoshis is
// reported with it. It returns ErrChanged if that was known.
func (s *Store) Pay(ctx context.Context, connection string, p Payment, feeMilliSatoshis int64) error {
	return s.db.InTx(ctx, func(tx storage.Tx) error {
		if err := s.end(ctx, tx, connection, p, Paid, feeMilliSatoshis, "", ""); err != nil {
			return err
		}
		events := []feed.Event{s.changed(p)}
		var fee int64
		if _, err := storage.ReadRow(
			ctx, tx.Read, `WITH before AS (SELECT fee_msat FROM lightning_nodes WHERE connection = $1 FOR UPDATE)
			UPDATE lightning_nodes n SET fee_msat = b.fee_msat + $2 - greatest(b.fee_msat + $2, 0) / 1000 * 1000 FROM before b WHERE n.connection = $1
			RETURNING greatest(b.fee_msat + $2, 0) / 1000`, []any{connection, feeMilliSatoshis}, &fee); err != nil {
			return err
		}
		if fee > 0 {
			events = append(events, feed.Event{Kind: feed.Fee, PartnerID: p.Hash.String(), Platform: p.Platform, Satoshis: fee, At: s.db.Now()})
		}
		return s.Add(ctx, tx, connection, events, s.db.Now())
	})
}

// Fail keeps that the node has not paid what was sent, and never will. It returns ErrChanged if that was known.
func (s *Store) Fail(ctx context.Context, connection string, p Payment, code, problem string) error {
	return s.db.InTx(ctx, func(tx storage.Tx) error {
		if err := s.end(ctx, tx, connection, p, Failed, 0, code, problem); err != nil {
			return err
		}
		return s.Add(ctx, tx, connection, []feed.Event{s.changed(p)}, s.db.Now())
	})
}

// NotTaken keeps that the node has not paid what was sent, for a reason that passes: the payment can be stopped or sent again.
// It returns ErrChanged if that was known.
func (s *Store) NotTaken(ctx context.Context, connection string, p Payment, code, problem string) error {
	return s.db.InTx(ctx, func(tx storage.Tx) error {
		if err := s.end(ctx, tx, connection, p, Unsent, 0, code, problem); err != nil {
			return err
		}
		return storage.RailPaymentsNotTaken(ctx, tx, connection, []ports.RailPaymentKey{p.RailPaymentKey}, s.db.Now())
	})
}

func (s *Store) end(ctx context.Context, tx storage.Tx, connection string, p Payment, to Status, fee int64, code, problem string) error {
	if _, err := tx.Exec(ctx, `INSERT INTO lightning_nodes (connection, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, connection,
		s.db.Now()); err != nil {
		return err
	}
	return changedOnce(tx.Exec(ctx, `UPDATE lightning_payments SET status = $5, fee_msat = $6, code = $7, problem = $8,
			ended_at = CASE WHEN $5 = 'NEW' THEN NULL ELSE $9::timestamptz END
		WHERE connection = $1 AND platform_id = $2 AND id = $3 AND status = 'SENT' AND payment_hash = $4`,
		connection, p.Platform, p.ID, p.Hash[:], to, fee, code, problem, s.db.Now()))
}

// AskedAt keeps that an address was asked in vain, and returns when it first was since it has last given an invoice. It uses the primary
// key.
func (s *Store) AskedAt(ctx context.Context, connection string, key ports.RailPaymentKey) (at time.Time, err error) {
	found, err := storage.ReadRow(ctx, s.db.Read, `UPDATE lightning_payments SET asked_at = coalesce(asked_at, $4)
		WHERE connection = $1 AND platform_id = $2 AND id = $3 AND status = 'NEW' RETURNING asked_at`,
		[]any{connection, key.Platform, key.ID, s.db.Now()}, &at)
	if err == nil && !found {
		err = ErrChanged
	}
	return at, err
}

// Refuse keeps that a payment that is not sent never will be. It returns ErrChanged if it was sent meanwhile.
func (s *Store) Refuse(ctx context.Context, connection string, key ports.RailPaymentKey, code, problem string) error {
	return changedOnce(s.db.Exec(ctx, `UPDATE lightning_payments SET status = 'FAILED', code = $4, problem = $5, ended_at = $6
		WHERE connection = $1 AND platform_id = $2 AND id = $3 AND status = 'NEW'`, connection, key.Platform, key.ID, code, problem, s.db.Now()))
}

// changed is the event of news about a payment.
func (s *Store) changed(p Payment) feed.Event {
	return feed.Event{Kind: feed.Changed, PartnerID: fmt.Sprintf("%s/%s", p.ID, p.Hash), Platform: p.Platform, Subject: p.ID, At: s.db.Now()}
}
