package evm

import (
	"context"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/ports"
)

const (
	// keptBlocks is how many ends of ranges are kept: a reorganisation that is deeper is not recognised.
	keptBlocks = 1000
	// keptDeposits is how many blocks deposits are kept.
	keptDeposits = 2_000_000
	// keptAddresses is how long addresses of quotes are kept: a payer may use one again by mistake.
	keptAddresses = 400 * 24 * time.Hour
	// keptEvents is how many events are kept that were reported. Those of transfers that no record has are kept for ever: no payment that may
	// be one of them is made again.
	keptEvents = 10_000
	// maxDeletedRows bounds each deletion.
	maxDeletedRows = 1000
)

// Store stores what connections must not forget. Each method is one atomic step. Everything belongs to a connection, which may serve
// several platforms.
type Store struct{ db *storage.DB }

// NewStore returns the store of all connections.
func NewStore(db *storage.DB) *Store { return &Store{db} }

// inTx runs fn in one transaction. A connection to a chain serves several platforms, so it sees the rows of all.
func (s *Store) inTx(ctx context.Context, fn func(ctx context.Context, tx querier) error) error {
	ctx = ports.ForAllPlatforms(ctx)
	return s.db.InTx(ctx, func(tx storage.Tx) error { return fn(ctx, querier{tx, s.db.Now()}) })
}

// querier is a transaction about chains.
type querier struct {
	storage.Tx
	now time.Time
}

// row reads the row of a query into targets. It returns false if there is none.
func (q querier) row(ctx context.Context, sql string, args []any, targets ...any) (found bool, err error) {
	return storage.ReadRow(ctx, q.Read, sql, args, targets...)
}

// bigOrZero is the field of an amount in a column that is never NULL: nil is zero.
func bigOrZero(n **big.Int) any {
	return schema.Converted(
		func() *big.Int { return valueOrZero(*n) },
		func(stored *big.Int) error {
			*n = stored
			return nil
		})
}

func valueOrZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// OpenChain returns the state of a connection, which begins with the given one. It uses the primary key.
func (s *Store) OpenChain(ctx context.Context, initial Chain) (state Chain, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO evm_chains (connection, chain_id, wallet, position, position_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, initial.Connection, initial.ChainID, initial.Wallet, initial.Position, initial.PositionHash,
			s.db.Now()); err != nil {
			return err
		}
		// The block at which the reading begins is where a reorganisation ends.
		if _, err := tx.Exec(ctx, `INSERT INTO evm_blocks (connection, number, hash) SELECT connection, position, position_hash FROM evm_chains
			WHERE connection = $1 AND NOT EXISTS (SELECT FROM evm_blocks WHERE connection = $1)`, initial.Connection); err != nil {
			return err
		}
		var err error
		state, _, err = tx.chain(ctx, initial.Connection)
		return err
	})
	return state, err
}

// ChainOf returns the state of a connection, or false if it has none yet. It uses the primary key.
func (s *Store) ChainOf(ctx context.Context, connection string) (state Chain, found bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) (err error) {
		state, found, err = tx.chain(ctx, connection)
		return err
	})
	return state, found, err
}

func (q querier) chain(ctx context.Context, connection string) (state Chain, found bool, err error) {
	found, err = q.row(ctx, `SELECT chain_id, wallet, position, position_hash FROM evm_chains WHERE connection = $1`, []any{connection},
		&state.ChainID, &state.Wallet, &state.Position, &state.PositionHash)
	if found {
		state.Connection = connection
	}
	return state, found, err
}

// Advance stores what a range of blocks has brought, or takes back what vanished. It does nothing and returns false if the chain is
// no longer at the position from which the range was read. It locks the row of the connection, so that events are numbered in the
// order of their commits.
func (s *Store) Advance(ctx context.Context, a Advance) (advanced bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		n, err := tx.Exec(
			ctx, `UPDATE evm_chains SET position = $4, position_hash = $5 WHERE connection = $1 AND position = $2 AND position_hash = $3`,
			a.Connection, a.From.Number, a.From.Hash, a.To.Number, a.To.Hash)
		if err != nil || n == 0 {
			return err
		}
		advanced = true
		if err := tx.addBlock(ctx, a); err != nil {
			return err
		}
		for _, d := range a.Reversed {
			if err := tx.reverseDeposit(ctx, a.Connection, d); err != nil {
				return err
			}
		}
		if err := tx.addDeposits(ctx, a.Connection, a.Deposits); err != nil {
			return err
		}
		return tx.addEvents(ctx, a.Connection, a.Events, a.At)
	})
	return advanced && err == nil, err
}

// addBlock stores the end of a range, and removes those that are no longer part of the chain or are too many.
func (q querier) addBlock(ctx context.Context, a Advance) error {
	if _, err := q.Exec(ctx, `DELETE FROM evm_blocks WHERE connection = $1 AND number >= $2`, a.Connection, a.To.Number); err != nil {
		return err
	}
	if _, err := q.Exec(ctx, `INSERT INTO evm_blocks (connection, number, hash) VALUES ($1, $2, $3)`, a.Connection, a.To.Number,
		a.To.Hash); err != nil {
		return err
	}
	if _, err := q.Exec(ctx, `DELETE FROM evm_blocks WHERE connection = $1 AND number <=
		(SELECT number FROM evm_blocks WHERE connection = $1 ORDER BY number DESC OFFSET $2 LIMIT 1)`, a.Connection, keptBlocks); err != nil {
		return err
	}
	// Uses evm_addresses_of_quotes.
	if _, err := q.Exec(ctx, `DELETE FROM evm_addresses a WHERE connection = $1 AND address IN
		(SELECT address FROM evm_addresses WHERE connection = $1 AND reference NOT LIKE 'FUND-%' AND created_at < $2 ORDER BY created_at LIMIT $3)
		AND NOT EXISTS (SELECT FROM evm_holdings h WHERE h.connection = $1 AND h.address = a.address AND h.received <> h.sent)`,
		a.Connection, a.At.Add(-keptAddresses), maxDeletedRows); err != nil {
		return err
	}
	// Uses evm_deposits_by_block.
	_, err := q.Exec(ctx, `DELETE FROM evm_deposits WHERE connection = $1 AND partner_id IN
		(SELECT partner_id FROM evm_deposits WHERE connection = $1 AND block_number < $2 AND NOT oversized ORDER BY block_number LIMIT $3)`,
		a.Connection, int64(a.To.Number)-keptDeposits, maxDeletedRows)
	return err
}

func (q querier) reverseDeposit(ctx context.Context, connection string, d Deposit) error {
	n, err := q.Exec(ctx, `UPDATE evm_deposits SET reversed = true WHERE connection = $1 AND partner_id = $2 AND NOT reversed`,
		connection, d.PartnerID)
	if err != nil || n == 0 {
		return err
	}
	return q.changeHoldings(ctx, connection,
		[]Holding{{Address: d.Address, Currency: d.Currency, Received: new(big.Int).Neg(d.Amount), Sent: new(big.Int),
			Wallet: !d.Wallet.IsZero()}})
}

func (q querier) addDeposits(ctx context.Context, connection string, deposits []Deposit) error {
	batch := &pgx.Batch{}
	var holdings []Holding
	for _, d := range deposits {
		batch.Queue(insertDeposit.SQL, depositTable.Columns(&depositRow{connection, d}).Fields()...)
		holdings = append(holdings, Holding{Address: d.Address, Currency: d.Currency, Received: d.Amount, Sent: new(big.Int),
			Wallet: !d.Wallet.IsZero()})
	}
	if err := q.Send(ctx, batch); err != nil {
		return err
	}
	return q.changeHoldings(ctx, connection, holdings)
}

// changeHoldings adds to what addresses received and sent. They are no longer claimed.
func (q querier) changeHoldings(ctx context.Context, connection string, changes []Holding) error {
	batch := &pgx.Batch{}
	for _, c := range changes {
		batch.Queue(`INSERT INTO evm_holdings AS h (connection, currency, address, received, sent, wallet) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (connection, currency, address) DO UPDATE SET received = h.received + excluded.received, sent = h.sent + excluded.sent, claimed_at = NULL`,
			connection, c.Currency, c.Address, valueOrZero(c.Received), valueOrZero(c.Sent), c.Wallet)
	}
	return q.Send(ctx, batch)
}

// addEvents numbers events, and locks the row of the connection.
func (q querier) addEvents(ctx context.Context, connection string, events []Event, now time.Time) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	if _, err := q.row(ctx, `UPDATE evm_chains SET event_number = event_number + $2 WHERE connection = $1 RETURNING event_number`,
		[]any{connection, len(events)}, &last); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i, e := range events {
		e.Number = last - int64(len(events)-1-i)
		batch.Queue(insertEvent.SQL, eventTable.Columns(&eventRow{e, connection, now}).Fields()...)
	}
	return q.Send(ctx, batch)
}

// Report adds an event to those of a connection.
func (s *Store) Report(ctx context.Context, connection string, e Event) error {
	return s.inTx(ctx, func(ctx context.Context, tx querier) error {
		return tx.addEvents(ctx, connection, []Event{e}, s.db.Now())
	})
}

// Blocks returns the ends of the ranges that were read, the latest first. It uses the primary key.
func (s *Store) Blocks(ctx context.Context, connection string) (blocks []Block, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		var err error
		blocks, err = storage.Collect(ctx, tx.Read, `SELECT number, hash FROM evm_blocks WHERE connection = $1 ORDER BY number DESC`,
			[]any{connection}, func(rows pgx.Rows, b *Block) error { return rows.Scan(&b.Number, &b.Hash) })
		return err
	})
	return blocks, err
}

// depositRow is a row of evm_deposits.
type depositRow struct {
	connection string
	Deposit
}

// depositTable is the table evm_deposits.
var depositTable = schema.New("evm_deposits", []string{"connection", "partner_id"}, func(d *depositRow) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &d.connection}, {Name: "partner_id", Field: &d.PartnerID}, {Name: "platform_id", Field: &d.Platform},
		{Name: "reference", Field: &d.Reference}, {Name: "address", Field: &d.Address}, {Name: "transaction_hash", Field: &d.Transaction},
		{Name: "log_index", Field: &d.LogIndex}, {Name: "block_number", Field: &d.Block.Number}, {Name: "block_hash", Field: &d.Block.Hash},
		{Name: "received_at", Field: &d.At}, {Name: "currency", Field: &d.Currency}, {Name: "amount", Field: bigOrZero(&d.Amount)},
		{Name: "payer", Field: &d.Payer}, {Name: "reversed", Field: &d.Reversed}, {Name: "oversized", Field: &d.Oversized},
	}
})

var insertDeposit = depositTable.Insert("")

// DepositsAfter returns the deposits in blocks after one, that were not reversed, at most limit. It uses evm_deposits_by_block.
func (s *Store) DepositsAfter(ctx context.Context, connection string, block uint64, limit int) ([]Deposit, error) {
	return s.deposits(ctx, `WHERE connection = $1 AND block_number > $2 AND NOT reversed
		ORDER BY block_number, partner_id LIMIT $3`, connection, block, limit)
}

// DepositsOf returns every deposit that the transactions have brought, with those that were reversed. It uses
// evm_deposits_by_transaction.
func (s *Store) DepositsOf(ctx context.Context, connection string, transactions []eth.Hash) ([]Deposit, error) {
	return s.deposits(ctx, `WHERE connection = $1 AND transaction_hash = ANY($2::bytea[])`, connection, transactions)
}

// OversizedDeposits returns the latest deposits that are larger than an amount can be. It uses evm_deposits_oversized.
func (s *Store) OversizedDeposits(ctx context.Context, connection string, limit int) ([]Deposit, error) {
	return s.deposits(ctx, `WHERE connection = $1 AND oversized AND NOT reversed
		ORDER BY block_number DESC LIMIT $2`, connection, limit)
}

func (s *Store) deposits(ctx context.Context, rest string, args ...any) (deposits []Deposit, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		deposits = nil
		found, err := storage.Select(ctx, tx.Read, depositTable, rest, args...)
		for _, d := range found {
			deposits = append(deposits, d.Deposit)
		}
		return err
	})
	return deposits, err
}

// eventRow is a row of evm_events.
type eventRow struct {
	Event
	connection string
	createdAt  time.Time
}

// eventTable is the table evm_events.
var eventTable = schema.New("evm_events", []string{"connection", "number"}, func(e *eventRow) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &e.connection}, {Name: "number", Field: &e.Number}, {Name: "kind", Field: &e.Kind},
		{Name: "platform_id", Field: &e.Platform}, {Name: "partner_id", Field: &e.PartnerID}, {Name: "receipt", Field: &e.Receipt},
		{Name: "subject", Field: schema.Optional(&e.Subject)}, {Name: "reference", Field: &e.Reference},
		{Name: "currency", Field: &e.Amount.Currency},
		{Name: "amount", Field: &e.Amount.Minor}, {Name: "payer", Field: &e.Payer}, {Name: "at", Field: &e.At},
		{Name: "memo", Field: &e.Memo},
		{Name: "created_at", Field: &e.createdAt}, {Name: "sent", Field: bigOrZero(&e.Transfer.Sent)},
		{Name: "arrived", Field: bigOrZero(&e.Transfer.Arrived)}, {Name: "taken", Field: bigOrZero(&e.Transfer.Taken)},
	}
})

var insertEvent = eventTable.Insert("")

// Events returns what is to be reported after a number, oldest first, at most limit. What was reported long before that number is
// deleted, but transfers that no record has. It uses the primary key.
func (s *Store) Events(ctx context.Context, connection string, after int64, limit int) (events []Event, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		if _, err := tx.Exec(ctx, `DELETE FROM evm_events WHERE connection = $1 AND number IN
			(SELECT number FROM evm_events WHERE connection = $1 AND number <= $2 AND kind NOT IN ('UNKNOWN', 'MOVED') ORDER BY number LIMIT $3)`, connection, after-keptEvents,
			maxDeletedRows); err != nil {
			return err
		}
		found, err := storage.Select(ctx, tx.Read, eventTable, `WHERE connection = $1 AND number > $2 ORDER BY number LIMIT $3`,
			connection, after, limit)
		for _, e := range found {
			if e.Kind != Differs {
				e.Transfer = Transfer{}
			}
			events = append(events, e.Event)
		}
		return err
	})
	return events, err
}

// claimHoldings uses evm_holdings_to_sweep. A claim ends in the time of the database.
var claimHoldings = `
	UPDATE evm_holdings h SET claimed_at = ` + storage.Time(6) + ` FROM (
		SELECT connection, currency, address FROM evm_holdings
		WHERE connection = $1 AND currency = $2 AND received <> sent AND NOT wallet AND received - sent >= $3
			AND (claimed_at IS NULL OR claimed_at < ` + storage.Time(6) + ` - $4::interval)
		ORDER BY claimed_at NULLS FIRST LIMIT $5 FOR UPDATE SKIP LOCKED) k
	WHERE h.connection = k.connection AND h.currency = k.currency AND h.address = k.address
	RETURNING h.currency, h.address, h.received, h.sent`

// ClaimHoldings returns deposit addresses that hold at least an amount of a currency and were not claimed for some time, at most
// limit. Whatever changes a holding, also by nothing, ends its claim.
func (s *Store) ClaimHoldings(ctx context.Context, connection string, currency money.Currency, atLeast *big.Int, every time.Duration,
	limit int) (holdings []Holding, err error) {
	return s.holdings(ctx, claimHoldings, connection, currency, valueOrZero(atLeast), every, limit, s.db.Now())
}

// Holdings returns the deposit addresses after one that hold something, in the order of currency and address. It uses the primary
// key.
func (s *Store) Holdings(ctx context.Context, connection string, after Holding,
	limit int) (holdings []Holding, err error) {
	return s.holdings(ctx, `SELECT currency, address, received, sent FROM evm_holdings
		WHERE connection = $1 AND (currency, address) > ($2, $3) AND received <> sent ORDER BY currency, address LIMIT $4`,
		connection, after.Currency, after.Address, limit)
}

// HeldBy returns what an address should hold: what it received, less what it sent. It uses the primary key.
func (s *Store) HeldBy(ctx context.Context, connection string, address eth.Address, currency money.Currency) (*big.Int, error) {
	found, err := s.holdings(ctx, `SELECT currency, address, received, sent FROM evm_holdings
		WHERE connection = $1 AND currency = $2 AND address = $3`, connection, currency, address)
	if err != nil || len(found) == 0 {
		return new(big.Int), err
	}
	return new(big.Int).Sub(found[0].Received, found[0].Sent), nil
}

func (s *Store) holdings(ctx context.Context, sql string, args ...any) (holdings []Holding, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) (err error) {
		holdings, err = storage.Collect(ctx, tx.Read, sql, args, func(rows pgx.Rows, h *Holding) error {
			return rows.Scan(&h.Currency, &h.Address, &h.Received, &h.Sent)
		})
		return err
	})
	return holdings, err
}
