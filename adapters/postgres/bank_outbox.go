package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

// queuedBankOrders uses bank_orders_queued.
const queuedBankOrders = `SELECT rail, currency, count(*), min(queued_at) FROM bank_orders
	WHERE connection = $1 AND state = 'QUEUED' GROUP BY rail, currency ORDER BY min(queued_at), rail, currency`

// QueuedBankOrders implements ports.BankOutbox.
func (db *DB) QueuedBankOrders(ctx context.Context, connection string) ([]ports.QueuedBankOrders, error) {
	rows, err := db.pool.Query(ctx, queuedBankOrders, connection)
	if err != nil {
		return nil, err
	}
	var queued []ports.QueuedBankOrders
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var q ports.QueuedBankOrders
		var rail, currency string
		err := rows.Scan(&rail, &currency, &q.Orders, &q.Oldest)
		q.Rail, q.Currency, q.Oldest = corridor.Rail(rail), money.Currency(currency), q.Oldest.UTC()
		queued = append(queued, q)
		return err
	})
	return queued, err
}

// maxTrace is the largest trace number; the next one is 1.
const maxTrace = 9_999_999

// assignBankOrders uses bank_orders_queued. The orders of a batch follow each other. The oldest is taken whatever its amount.
const assignBankOrders = `
	WITH chosen AS MATERIALIZED (
		SELECT platform_id, id, batch, amount, queued_at FROM bank_orders
		WHERE connection = $1 AND rail = $2 AND currency = $3 AND state = 'QUEUED' ORDER BY queued_at, id LIMIT $4 FOR UPDATE),
	summed AS (SELECT *, sum(amount) OVER (ORDER BY queued_at, id) AS sum_so_far FROM chosen),
	fitting AS (SELECT * FROM summed WHERE sum_so_far <= $7 OR sum_so_far = amount),
	placed AS (SELECT platform_id, id, row_number() OVER (ORDER BY batch, queued_at, id) AS position FROM fitting),
	assigned AS (
		UPDATE bank_orders o SET state = 'IN_FILE', file_number = $5, file_position = p.position, updated_at = $6
		FROM placed p WHERE o.platform_id = p.platform_id AND o.id = p.id)
	SELECT count(*), coalesce(sum(amount), 0)::text FROM fitting`

// CutBankFile implements ports.BankOutbox. The foreign key of the orders to their file is checked at the end of their
// statement, so the file is written first, with what they come to afterwards.
func (db *DB) CutBankFile(ctx context.Context, lease ports.BankLease, cut ports.BankFileCut) (f bankorder.File, some bool, err error) {
	err = db.underBankLease(ctx, lease, func(tx pgx.Tx) error {
		var traces, ofDay int
		if err := tx.QueryRow(ctx, `SELECT c.files + 1, c.traces, (SELECT count(*) FROM bank_files WHERE connection = $1 AND rail = $2 AND day = $3::date)
			FROM bank_connections c WHERE c.connection = $1`, lease.Connection, string(cut.Rail), cut.Day).Scan(&f.Number, &traces, &ofDay); err != nil {
			return err
		}
		if ofDay >= cut.MaxOfDay {
			return nil
		}
		f.Connection, f.Rail, f.Currency, f.DayNumber, f.State, f.CreatedAt = lease.Connection, cut.Rail, cut.Currency, ofDay+1, bankorder.FileCreated, cut.Now
		f.Name, f.MessageID = cut.Name(f.Number)
		// Placeholders that satisfy the constraints until the orders are known.
		if _, err := tx.Exec(ctx, `INSERT INTO bank_files (connection, number, rail, currency, day, day_number, name, message_id, orders, sum, first_trace, state, created_at)
			VALUES ($1, $2, $3, $4, $5::date, $6, $7, $8, 1, 1, 0, 'CREATED', $9)`,
			f.Connection, f.Number, string(f.Rail), string(f.Currency), cut.Day, f.DayNumber, f.Name, f.MessageID, cut.Now); err != nil {
			return err
		}
		var sum string
		if err := tx.QueryRow(ctx, assignBankOrders, f.Connection, string(f.Rail), string(f.Currency), cut.MaxOrders, f.Number, cut.Now, cut.MaxSum).Scan(&f.Orders, &sum); err != nil {
			return err
		}
		if f.Orders == 0 {
			_, err := tx.Exec(ctx, `DELETE FROM bank_files WHERE connection = $1 AND number = $2`, f.Connection, f.Number)
			return err
		}
		if f.Sum, err = money.ParseTotal(sum); err != nil {
			return err
		}
		if f.FirstTrace = traces + 1; traces+f.Orders > maxTrace {
			f.FirstTrace = 1
		}
		some = true
		_, err = tx.Exec(ctx, `WITH counted AS (UPDATE bank_connections SET files = $2, traces = $5 WHERE connection = $1)
			UPDATE bank_files SET orders = $3, sum = $4::text::numeric, first_trace = $6 WHERE connection = $1 AND number = $2`,
			f.Connection, f.Number, f.Orders, sum, f.FirstTrace+f.Orders-1, f.FirstTrace)
		return err
	})
	return f, some && err == nil, err
}

const bankFileColumns = `connection, number, rail, currency, day_number, name, message_id, orders, sum::text, first_trace, state, temporary_name, sha256, coalesce(size, 0), place, created_at, delivered_at, settles_at`

// undeliveredBankFile uses bank_files_undelivered.
const undeliveredBankFile = `SELECT ` + bankFileColumns + ` FROM bank_files WHERE connection = $1 AND state <> 'DELIVERED' ORDER BY number LIMIT 1`

// UndeliveredBankFile implements ports.BankOutbox.
func (db *DB) UndeliveredBankFile(ctx context.Context, connection string) (f bankorder.File, some bool, err error) {
	var rail, currency, sum, state string
	var digest []byte
	var delivered, settles *time.Time
	err = db.pool.QueryRow(ctx, undeliveredBankFile, connection).
		Scan(&f.Connection, &f.Number, &rail, &currency, &f.DayNumber, &f.Name, &f.MessageID, &f.Orders, &sum, &f.FirstTrace, &state, &f.TemporaryName, &digest, &f.Size, &f.Place, &f.CreatedAt, &delivered, &settles)
	if isNoRows(err) {
		return f, false, nil
	}
	if err != nil {
		return f, false, err
	}
	f.Rail, f.Currency, f.State, f.CreatedAt = corridor.Rail(rail), money.Currency(currency), bankorder.FileState(state), f.CreatedAt.UTC()
	f.DeliveredAt, f.SettlesAt = timeOrZero(delivered), timeOrZero(settles)
	copy(f.SHA256[:], digest)
	f.Sum, err = money.ParseTotal(sum)
	return f, err == nil, err
}

// bankFileOrders uses bank_order_position_unique.
const bankFileOrders = `SELECT ` + bankOrderColumns + ` FROM bank_orders o WHERE o.connection = $1 AND o.file_number = $2 AND o.file_position > $3
	ORDER BY o.file_position LIMIT $4`

// BankFileOrders implements ports.BankOutbox.
func (db *DB) BankFileOrders(ctx context.Context, connection string, number int64, after, limit int) ([]bankorder.Order, error) {
	rows, err := db.pool.Query(ctx, bankFileOrders, connection, number, after, limit)
	if err != nil {
		return nil, err
	}
	orders := make([]bankorder.Order, 0, limit)
	err = forEachRow(rows, func(rows pgx.Rows) error {
		o, err := db.scanBankOrder(ctx, rows)
		orders = append(orders, o)
		return err
	})
	return orders, err
}

// BeginBankUpload implements ports.BankOutbox.
func (db *DB) BeginBankUpload(ctx context.Context, lease ports.BankLease, number int64) (attempt int, err error) {
	err = db.underBankLease(ctx, lease, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `UPDATE bank_files SET attempts = attempts + 1 WHERE connection = $1 AND number = $2 AND state = 'CREATED' RETURNING attempts`,
			lease.Connection, number).Scan(&attempt)
		if isNoRows(err) {
			return oneBankFile(0, number, nil)
		}
		return err
	})
	return attempt, err
}

// BankFileUploaded implements ports.BankOutbox.
func (db *DB) BankFileUploaded(ctx context.Context, lease ports.BankLease, f bankorder.File) error {
	return db.underBankLease(ctx, lease, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE bank_files SET state = 'UPLOADED', temporary_name = $3, fence = $4, sha256 = $5, size = $6, uploaded_at = $7, place = $8
			WHERE connection = $1 AND number = $2 AND state = 'CREATED'`, lease.Connection, f.Number, f.TemporaryName, lease.Fence, f.SHA256[:], f.Size, db.clock.Now(), f.Place)
		return oneBankFile(done.RowsAffected(), f.Number, err)
	})
}

// BankFileDelivered implements ports.BankOutbox.
func (db *DB) BankFileDelivered(ctx context.Context, lease ports.BankLease, number int64, at, settlesAt time.Time) error {
	return db.underBankLease(ctx, lease, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE bank_files SET state = 'DELIVERED', delivered_at = $3, settles_at = $4 WHERE connection = $1 AND number = $2 AND state = 'UPLOADED'`,
			lease.Connection, number, at, nullTime(settlesAt))
		return oneBankFile(done.RowsAffected(), number, err)
	})
}

// oneBankFile is the error of a change of a file that is not in the state before.
func oneBankFile(changed, number int64, err error) error {
	if err == nil && changed != 1 {
		return fmt.Errorf("file %d is not in the expected state", number)
	}
	return err
}
