package lightning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/feed"
	"causeway/core/ident"
)

// Store keeps what the service knows of nodes. Each method is one atomic step.
type Store struct {
	*feed.Store
	db *storage.DB
}

// eventTables are where events are.
var eventTables = feed.Tables{Events: "lightning_events", Connections: "lightning_nodes"}

// NewStore returns the store of the nodes of all connections.
func NewStore(db *storage.DB) *Store { return &Store{feed.NewStore(db, eventTables), db} }

// Position returns how far a node was read; false if it was not. It uses the primary key.
func (s *Store) Position(ctx context.Context, connection string) (p Position, known bool, err error) {
	var settled, paid *int64
	var beganSettled, beganPaid int64
	if _, err = storage.ReadRow(ctx, s.db.Read, `SELECT settle_index, payment_index, coalesce(began_settle_index, 0), coalesce(began_payment_index, 0)
		FROM lightning_nodes WHERE connection = $1`, []any{connection}, &settled, &paid, &beganSettled, &beganPaid); err != nil || settled == nil ||
		paid == nil {
		return p, false, err
	}
	return Position{uint64(*settled), uint64(*paid), uint64(beganSettled), uint64(beganPaid)}, true, nil
}

// Begin keeps from where on a node is read, unless that is known. It uses the primary key.
func (s *Store) Begin(ctx context.Context, connection string, p Position) error {
	_, err := s.db.Exec(
		ctx, `INSERT INTO lightning_nodes AS n (connection, created_at, settle_index, payment_index, began_settle_index, began_payment_index)
			VALUES ($1, $2, $3, $4, $3, $4)
		ON CONFLICT (connection) DO UPDATE SET settle_index = excluded.settle_index, payment_index = excluded.payment_index,
			began_settle_index = excluded.began_settle_index, began_payment_index = excluded.began_payment_index
		WHERE n.settle_index IS NULL`, connection, s.db.Now(), int64(p.Settled), int64(p.Paid))
	return err
}

// SentHashes returns those of some payment hashes that are sent or paid. It uses lightning_payment_hash_once.
func (s *Store) SentHashes(ctx context.Context, connection string, hashes []Hash) (map[Hash]bool, error) {
	wanted := make([][]byte, len(hashes))
	for i := range hashes {
		wanted[i] = hashes[i][:]
	}
	known := map[Hash]bool{}
	return known, s.db.Read(ctx, `SELECT payment_hash FROM lightning_payments
		WHERE connection = $1 AND payment_hash = ANY ($2::bytea[]) AND status IN ('SENT', 'PAID')`, []any{connection, wanted},
		func(rows pgx.Rows) error {
			var hash []byte
			err := rows.Scan(&hash)
			if err == nil {
				known[Hash(hash)] = true
			}
			return err
		})
}

// LookedAt keeps that the payments of a node after an index were looked at, and which of them no record has. It changes nothing, and
// returns false, if another process has looked further.
func (s *Store) LookedAt(ctx context.Context, connection string, after, upTo uint64, unknown []Departure) (kept bool, err error) {
	err = s.db.InTx(ctx, func(tx storage.Tx) error {
		changed, err := tx.Exec(ctx, `UPDATE lightning_nodes SET payment_index = $3 WHERE connection = $1 AND payment_index = $2`,
			connection, int64(after), int64(upTo))
		if err != nil || changed == 0 {
			return err
		}
		events := make([]feed.Event, len(unknown))
		for i, d := range unknown {
			events[i] = feed.Event{Kind: feed.Unknown, PartnerID: d.Hash.String(), Satoshis: d.MilliSatoshis / milli, At: d.At}
		}
		kept = true
		return s.Add(ctx, tx, connection, events, s.db.Now())
	})
	return kept && err == nil, err
}

// Settle keeps the events of invoices that were settled after an index. It changes nothing, and returns false, if another process has
// kept later ones. What was paid beyond whole satoshis is kept for the next fee.
func (s *Store) Settle(ctx context.Context, connection string, after uint64, settled []Settlement) (kept bool, err error) {
	err = s.db.InTx(ctx, func(tx storage.Tx) error {
		hashes := make([][]byte, len(settled))
		var rest int64
		for i, invoice := range settled {
			hashes[i] = invoice.Hash[:]
			rest += invoice.MilliSatoshis % milli
		}
		changed, err := tx.Exec(
			ctx, `UPDATE lightning_nodes SET settle_index = $3, fee_msat = fee_msat - $4 WHERE connection = $1 AND settle_index = $2`,
			connection, int64(after), int64(max(after, settled[len(settled)-1].Index)), rest)
		if err != nil || changed == 0 {
			return err
		}
		own, err := s.invoicesOf(ctx, tx, connection, hashes)
		if err != nil {
			return err
		}
		var events []feed.Event
		for _, invoice := range settled {
			events = append(events, invoice.events(own[invoice.Hash])...)
		}
		kept = true
		return s.Add(ctx, tx, connection, events, s.db.Now())
	})
	return kept && err == nil, err
}

// events returns what an invoice that was settled is reported as: the payment of its payer and what the node has kept of it, for an invoice
// of a platform, or what is left of one that was made by hand.
func (i Settlement) events(known StoredInvoice) []feed.Event {
	receipt := feed.Event{Kind: feed.Receipt, PartnerID: i.Hash.String(), Platform: known.Platform, Reference: cmp.Or(known.Reference, i.Memo),
		Satoshis: i.MilliSatoshis / milli, At: i.At}
	switch {
	case i.FeeSatoshis == 0:
		return []feed.Event{receipt}
	case !known.Platform.IsZero():
		return []feed.Event{receipt, {Kind: feed.Fee, PartnerID: i.Hash.String(), Platform: known.Platform, Reference: "channel",
			Satoshis: i.FeeSatoshis, At: i.At}}
	}
	receipt.Satoshis = max(receipt.Satoshis-i.FeeSatoshis, 0) // zero is known, and not reported
	return []feed.Event{receipt}
}

// Reported returns those of some ids of which there are events of a kind. It uses lightning_event_once.
func (s *Store) Reported(ctx context.Context, connection string, kind feed.Kind, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	return known, s.db.Read(ctx, `SELECT partner_id FROM lightning_events WHERE connection = $1 AND kind = $2 AND partner_id = ANY ($3::text[])`,
		[]any{connection, kind, ids}, func(rows pgx.Rows) error {
			var id string
			err := rows.Scan(&id)
			known[id] = true
			return err
		})
}

// milli is how many thousandths a satoshi has.
const milli = 1000

// invoicesOf returns the known ones of some invoices. It uses lightning_invoices_by_hash.
func (s *Store) invoicesOf(ctx context.Context, tx storage.Tx, connection string, hashes [][]byte) (map[Hash]StoredInvoice, error) {
	own := map[Hash]StoredInvoice{}
	return own, tx.Read(ctx, `SELECT platform_id, reference, payment_hash FROM lightning_invoices
		WHERE connection = $1 AND payment_hash = ANY ($2::bytea[])`, []any{connection, hashes}, func(rows pgx.Rows) error {
		var i StoredInvoice
		var hash []byte
		err := rows.Scan(&i.Platform, &i.Reference, &hash)
		if err == nil {
			own[Hash(hash)] = i
		}
		return err
	})
}

// FeeRest returns the thousandths of a satoshi of fees that are in no event. It uses the primary key.
func (s *Store) FeeRest(ctx context.Context, connection string) (rest int64, err error) {
	_, err = storage.ReadRow(ctx, s.db.Read, `SELECT fee_msat FROM lightning_nodes WHERE connection = $1`, []any{connection}, &rest)
	return rest, err
}

// KeepInvoice keeps an invoice that the node has made, and returns the one that was kept first for its id.
func (s *Store) KeepInvoice(ctx context.Context, i StoredInvoice) (StoredInvoice, error) {
	if _, err := s.db.Exec(
		ctx, `INSERT INTO lightning_invoices (platform_id, id, connection, reference, satoshis, description_hash, request, payment_hash, expires_at,
			created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		i.Platform, i.InvoiceRequest.ID, i.Connection, i.Reference, i.Amount.Minor, i.DescriptionHash[:], i.Request, i.PaymentHash[:],
		i.Invoice.ExpiresAt, i.CreatedAt); err != nil {
		return StoredInvoice{}, err
	}
	kept, found, err := s.Invoice(ctx, i.Platform, i.InvoiceRequest.ID)
	if err == nil && !found {
		err = errors.New("the invoice was not kept")
	}
	return kept, err
}

// Invoice returns an invoice by its id. It uses the primary key.
func (s *Store) Invoice(ctx context.Context, p ident.Platform, id uuid.UUID) (i StoredInvoice, found bool, err error) {
	var description, hash []byte
	i.Platform, i.InvoiceRequest.ID = p, id
	found, err = storage.ReadRow(
		ctx, s.db.Read, `SELECT connection, reference, satoshis, description_hash, request, payment_hash, expires_at, created_at
		FROM lightning_invoices WHERE platform_id = $1 AND id = $2`, []any{p, id},
		&i.Connection, &i.Reference, &i.Amount.Minor, &description, &i.Request, &hash, &i.Invoice.ExpiresAt, &i.CreatedAt)
	if found {
		i.DescriptionHash, i.PaymentHash = [32]byte(description), [32]byte(hash)
	}
	return i, found, err
}

// isUnique reports whether a statement was refused by a unique index.
func isUnique(err error, index string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "23505" && refused.ConstraintName == index
}

// OldRows are what is needed no more after a time: events that were read, payments that have ended, and invoices that have expired. They
// are found by lightning_events_by_created_at, lightning_payments_ended and lightning_invoices_by_expiry.
//
// A payment stays as long as anybody may ask about it, because its outcome is not recorded, and as long as its invoice is good, because
// that must not be paid again. What is paid late to an invoice that is gone is received under its memo, which is the reference.
func OldRows(before time.Time) []storage.OldRows {
	return []storage.OldRows{
		eventTables.OldRows(before),
		{Table: "lightning_payments", Before: before, Delete: `
			WITH old AS MATERIALIZED (
				SELECT o.platform_id, o.connection, o.id FROM platforms p CROSS JOIN LATERAL (
					SELECT l.platform_id, l.connection, l.id FROM lightning_payments l WHERE l.platform_id = p.id AND l.ended_at < $1
						AND (l.expires_at IS NULL OR l.expires_at < $1) AND NOT EXISTS (SELECT FROM rail_payments r
						WHERE r.platform_id = l.platform_id AND r.id = l.id AND r.kind = 'PAYOUT'
						AND r.state NOT IN ('DONE', 'REFUSED', 'RETURNED', 'CANCELLED'))
					ORDER BY l.ended_at LIMIT $2 FOR UPDATE OF l SKIP LOCKED) o LIMIT $2)
			DELETE FROM lightning_payments l USING old WHERE l.platform_id = old.platform_id AND l.connection = old.connection AND l.id = old.id`},
		{Table: "lightning_invoices", Before: before, Delete: `
			WITH old AS MATERIALIZED (
				SELECT o.platform_id, o.id FROM platforms p CROSS JOIN LATERAL (
					SELECT platform_id, id FROM lightning_invoices WHERE platform_id = p.id AND expires_at < $1
					ORDER BY expires_at LIMIT $2) o LIMIT $2)
			DELETE FROM lightning_invoices i USING old WHERE i.platform_id = old.platform_id AND i.id = old.id`},
	}
}

// changedOnce returns ErrChanged unless a statement has changed a row.
func changedOnce(changed int64, err error) error {
	if err == nil && changed == 0 {
		return ErrChanged
	}
	if isUnique(err, "lightning_payment_hash_once") {
		return fmt.Errorf("%w: %w", ErrPaidBefore, err)
	}
	return err
}
