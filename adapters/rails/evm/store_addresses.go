package evm

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/ident"
	"causeway/core/money"
)

const (
	// The queries read from an id on, which is that of a time (UUID version 7), by the primary keys.
	lastAccountID = `SELECT id FROM internal_accounts WHERE platform_id = $1 ORDER BY id DESC LIMIT 1`
	lastQuoteID   = `SELECT id FROM quotes WHERE platform_id = $1 ORDER BY id DESC LIMIT 1`

	unknownAccountReferences = `
	SELECT a.id, a.reference, CASE WHEN a.account_type = 'EMBEDDED_WALLET' THEN a.id END FROM internal_accounts a
	WHERE a.platform_id = $2 AND a.id > $3 AND a.currency = ANY($4::text[]) AND (a.account_type <> 'EMBEDDED_WALLET' OR $6)
		AND NOT EXISTS (SELECT FROM evm_addresses e WHERE e.connection = $1 AND e.platform_id = a.platform_id AND e.reference = a.reference)
	ORDER BY a.id LIMIT $5`
	unknownQuoteReferences = `
	SELECT q.id, q.reference, NULL::uuid FROM quotes q JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id
	WHERE q.platform_id = $2 AND q.id > $3 AND t.sent_currency = ANY($4::text[]) AND q.network = ANY($6::text[]) AND q.reference <> ''
		AND q.instructions NOT IN ('', 'null', '[]')
		AND NOT EXISTS (SELECT FROM evm_addresses e WHERE e.connection = $1 AND e.platform_id = q.platform_id AND e.reference = q.reference)
	ORDER BY q.id LIMIT $5`
)

// UnknownReferences returns, at most limit, the references of internal accounts and of quotes with just-in-time funding that have
// no address yet, and are in one of the currencies. Those that were seen before, except for the last minutes before, are not read
// again, because some are committed later than others. It reads the references of one platform after the other.
func (s *Store) UnknownReferences(ctx context.Context, q ReferenceQuery) (found References, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		found = References{}
		platforms, err := tx.platforms(ctx, q.Platforms)
		if err != nil {
			return err
		}
		for _, p := range platforms {
			for _, quotes := range []bool{false, true} {
				if err := tx.unknownReferences(ctx, q, p, quotes, &found); err != nil || found.More {
					return err
				}
			}
		}
		return nil
	})
	return found, err
}

// platforms returns the given platforms or, if there are none, all.
func (q querier) platforms(ctx context.Context, of []ident.Platform) ([]ident.Platform, error) {
	if len(of) > 0 {
		return of, nil
	}
	return storage.Collect(ctx, q.Read, `SELECT id FROM platforms ORDER BY id`, nil,
		func(rows pgx.Rows, p *ident.Platform) error { return rows.Scan(p) })
}

func (q querier) unknownReferences(ctx context.Context, query ReferenceQuery, p ident.Platform, quotes bool,
	found *References) error {
	from, err := q.referencesFrom(ctx, query, p, quotes)
	if err != nil {
		return err
	}
	position := ReferencePosition{Platform: p, Quotes: quotes}
	last, unknown := lastAccountID, unknownAccountReferences
	remaining := query.Limit - len(found.References)
	args := []any{query.Connection, p, from, append([]money.Currency{}, query.Currencies...), remaining}
	if quotes {
		last, unknown = lastQuoteID, unknownQuoteReferences
		args = append(args, []string{"", string(query.Rail), query.Rail.PublicName()})
	} else {
		args = append(args, query.Wallets)
	}
	// The last id is read first: what is added in between is read again.
	if found, err := q.row(ctx, last, []any{p}, &position.Last); err != nil || !found {
		return err
	}
	var read int
	var lastRead uuid.UUID
	if err := q.Read(ctx, unknown, args, func(rows pgx.Rows) error {
		r := PlatformReference{Platform: p}
		read++
		if err := rows.Scan(&lastRead, &r.Reference, &r.Wallet); err != nil {
			return err
		}
		found.References = append(found.References, r)
		return nil
	}); err != nil {
		return err
	}
	if found.More = read == remaining; found.More {
		position.Last = lastRead
	}
	found.Read = append(found.Read, position)
	return nil
}

// referencesFrom returns the id after which the references of a platform are read.
func (q querier) referencesFrom(ctx context.Context, query ReferenceQuery, p ident.Platform,
	quotes bool) (from uuid.UUID, err error) {
	found, err := q.row(ctx, `SELECT last FROM evm_reference_positions WHERE connection = $1 AND platform_id = $2 AND quotes = $3`,
		[]any{query.Connection, p, quotes}, &from)
	switch {
	case err != nil:
		return from, err
	case !found && quotes:
		return firstIDAt(query.QuotesFrom), nil
	case !found:
		return uuid.Nil, nil
	}
	var id [8]byte
	copy(id[2:], from[:6])
	return firstIDAt(time.UnixMilli(int64(binary.BigEndian.Uint64(id[:]))).Add(-query.Overlap)), nil
}

// firstIDAt returns the lowest id of version 7 of a time.
func firstIDAt(t time.Time) (id uuid.UUID) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(t.UnixMilli(), 0)))
	copy(id[:6], ms[2:])
	return id
}

// AddAddresses stores addresses, and how far the references were read. An address that exists stays; a new one of an embedded wallet is
// reported. It uses the primary keys.
func (s *Store) AddAddresses(ctx context.Context, connection string, addresses []DepositAddress,
	read []ReferencePosition) error {
	return s.inTx(ctx, func(ctx context.Context, tx querier) error {
		batch := &pgx.Batch{}
		now := s.db.Now()
		var issued []Event
		for _, a := range addresses {
			batch.Queue(
				`INSERT INTO evm_addresses (connection, address, platform_id, reference, created_at, account_id) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
				connection, a.Address, a.Platform, a.Reference, now, a.Wallet)
			if !a.Wallet.IsZero() {
				issued = append(issued, Event{Kind: Issued, Platform: a.Platform, PartnerID: eth.FormatAddress(a.Address), Subject: a.Wallet.UUID(),
					Reference: a.Reference, Payer: a.Address, At: now})
			}
		}
		for _, r := range read {
			batch.Queue(`INSERT INTO evm_reference_positions AS p (connection, platform_id, quotes, last) VALUES ($1, $2, $3, $4)
				ON CONFLICT (connection, platform_id, quotes) DO UPDATE SET last = greatest(p.last, excluded.last)`, connection, r.Platform,
				r.Quotes, r.Last)
		}
		if err := tx.Send(ctx, batch); err != nil {
			return err
		}
		return tx.addEvents(ctx, connection, issued, now)
	})
}

// DepositAddresses returns those of the addresses that were issued. It uses the primary key.
func (s *Store) DepositAddresses(ctx context.Context, connection string,
	addresses []eth.Address) (map[eth.Address]DepositAddress, error) {
	found := map[eth.Address]DepositAddress{}
	return found, s.inTx(ctx, func(ctx context.Context, tx querier) error {
		return tx.Read(
			ctx, `SELECT e.address, e.platform_id, e.reference, e.account_id FROM unnest($2::bytea[]) AS k(address) JOIN evm_addresses e ON e.connection = $1 AND e.address = k.address`,
			[]any{connection, append([]eth.Address{}, addresses...)}, func(rows pgx.Rows) error {
				var d DepositAddress
				err := rows.Scan(&d.Address, &d.Platform, &d.Reference, &d.Wallet)
				found[d.Address] = d
				return err
			})
	})
}
