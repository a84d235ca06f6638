package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

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

// chooseBankOrders uses bank_orders_queued. The oldest is taken whatever its amount. Orders that another connection takes over at
// the same time are left out.
const chooseBankOrders = `
	WITH chosen AS MATERIALIZED (
		SELECT platform_id, id, subject_id, kind, batch, amount, queued_at FROM bank_orders
		WHERE connection = $1 AND rail = $2 AND currency = $3 AND state = 'QUEUED' ORDER BY queued_at, id LIMIT $4 FOR UPDATE SKIP LOCKED),
	summed AS (SELECT *, sum(amount) OVER (ORDER BY queued_at, id) AS sum_so_far FROM chosen)
	SELECT platform_id, id, subject_id, kind, batch, amount FROM summed WHERE sum_so_far <= $5 OR sum_so_far = amount ORDER BY queued_at, id`

// placeBankOrders uses the primary key.
const placeBankOrders = `
	UPDATE bank_orders o SET state = 'IN_FILE', file_number = $3, file_position = k.position, updated_at = $4
	FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS k(platform_id, id, position) WHERE o.platform_id = k.platform_id AND o.id = k.id`

// deleteWithdrawnOrders uses the primary key. An order that is in a file stays.
const deleteWithdrawnOrders = `
	DELETE FROM bank_orders o USING unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	WHERE o.platform_id = k.platform_id AND o.id = k.id AND o.state = 'QUEUED' AND o.connection = $3`

// CutBankFile implements ports.BankOutbox. The payments leave with it, so it asks for each whether it may.
func (db *DB) CutBankFile(ctx context.Context, lease ports.BankLease, cut ports.BankFileCut) (f bankorder.File, some bool, err error) {
	err = db.underBankLease(ctx, lease, func(tx pgx.Tx) error {
		var traces, ofDay int
		if err := tx.QueryRow(ctx, `SELECT c.files + 1, c.traces, (SELECT count(*) FROM bank_files WHERE connection = $1 AND rail = $2 AND day = $3::date)
			FROM bank_connections c WHERE c.connection = $1`, lease.Connection, string(cut.Rail), cut.Day).Scan(&f.Number, &traces, &ofDay); err != nil {
			return err
		}
		if ofDay >= cut.MaxOfDay {
			return ports.ErrBankDayFull
		}
		leaving, err := leavingBankOrders(ctx, tx, lease.Connection, cut)
		if err != nil || len(leaving) == 0 {
			return err
		}
		f.Connection, f.Rail, f.Currency, f.DayNumber, f.State, f.CreatedAt = lease.Connection, cut.Rail, cut.Currency, ofDay+1, bankorder.FileCreated, cut.Now
		f.Name, f.MessageID = cut.Name(f.Number)
		f.Orders, f.Sum = len(leaving), sumOfBankOrders(leaving)
		if f.FirstTrace = traces + 1; traces+f.Orders > maxTrace {
			f.FirstTrace = 1
		}
		some = true
		return placeInFile(ctx, tx, f, cut.Day, leaving)
	})
	return f, some && err == nil, err
}

// placeInFile writes a file with its orders, of which those of a batch follow each other. The foreign key of the orders to their
// file is checked at the end of their statement, so the file is written first.
func placeInFile(ctx context.Context, tx pgx.Tx, f bankorder.File, day string, orders []chosenOrder) error {
	if _, err := tx.Exec(ctx, `WITH counted AS (UPDATE bank_connections SET files = $2, traces = $9 WHERE connection = $1)
		INSERT INTO bank_files (connection, number, rail, currency, day, day_number, name, message_id, first_trace, orders, sum, state, created_at)
		VALUES ($1, $2, $3, $4, $5::date, $6, $7, $8, $10, $11, $12::text::numeric, 'CREATED', $13)`, f.Connection, f.Number, string(f.Rail), string(f.Currency), day,
		f.DayNumber, f.Name, f.MessageID, f.FirstTrace+f.Orders-1, f.FirstTrace, f.Orders, f.Sum.String(), f.CreatedAt); err != nil {
		return err
	}
	slices.SortStableFunc(orders, func(a, b chosenOrder) int { return cmp.Compare(a.batch, b.batch) })
	platforms, ids := orderColumns(orders)
	placed, err := tx.Exec(ctx, placeBankOrders, platforms, ids, f.Number, f.CreatedAt)
	if err == nil && int(placed.RowsAffected()) != len(orders) {
		err = fmt.Errorf("%d of the %d orders of file %d are not there", len(orders)-int(placed.RowsAffected()), len(orders), f.Number)
	}
	return err
}

// chosenOrder is a queued order that may be put into a file.
type chosenOrder struct {
	payment ports.RailPaymentKey
	id      uuid.UUID
	batch   string
	amount  int64
}

func sumOfBankOrders(orders []chosenOrder) (sum money.Total) {
	for _, o := range orders {
		sum = sum.Add(money.TotalOf(o.amount))
	}
	return sum
}

func orderColumns(orders []chosenOrder) (platforms, ids idArray) {
	for _, o := range orders {
		platforms, ids = append(platforms, pgID(o.payment.Platform.UUID())), append(ids, pgID(o.id))
	}
	return platforms, ids
}

// leavingBankOrders returns the oldest queued orders that may leave, and records that they have. It deletes those that are no
// longer payments of the connection; those that are held stay queued.
func leavingBankOrders(ctx context.Context, tx pgx.Tx, connection string, cut ports.BankFileCut) ([]chosenOrder, error) {
	for {
		chosen, err := chosenBankOrders(ctx, tx, connection, cut)
		if err != nil || len(chosen) == 0 {
			return nil, err
		}
		keys := make([]ports.RailPaymentKey, len(chosen))
		for i, o := range chosen {
			keys[i] = o.payment
		}
		departures, err := leaveRailPayments(ctx, tx, connection, keys, cut.Now)
		if err != nil {
			return nil, err
		}
		var leaving, withdrawn []chosenOrder
		for i, o := range chosen {
			switch {
			case departures[i].MayBeSent():
				leaving = append(leaving, o)
			case !departures[i].IsHeld():
				withdrawn = append(withdrawn, o)
			}
		}
		if len(withdrawn) > 0 {
			platforms, ids := orderColumns(withdrawn)
			if _, err := tx.Exec(ctx, deleteWithdrawnOrders, platforms, ids, connection); err != nil {
				return nil, err
			}
		}
		if len(leaving) > 0 || len(withdrawn) == 0 {
			return leaving, nil
		}
	}
}

func chosenBankOrders(ctx context.Context, tx pgx.Tx, connection string, cut ports.BankFileCut) (chosen []chosenOrder, err error) {
	rows, err := tx.Query(ctx, chooseBankOrders, connection, string(cut.Rail), string(cut.Currency), cut.MaxOrders, cut.MaxSum)
	if err != nil {
		return nil, err
	}
	return chosen, forEachRow(rows, func(rows pgx.Rows) error {
		var o chosenOrder
		var platform, id, subject pgtype.UUID
		err := rows.Scan(&platform, &id, &subject, &o.payment.Kind, &o.batch, &o.amount)
		o.payment.Platform.SetUUID(platform.Bytes)
		o.id, o.payment.ID = id.Bytes, subject.Bytes
		chosen = append(chosen, o)
		return err
	})
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
