package bankfile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/bankorder"
	"causeway/core/money"
	"causeway/ports"
)

// queuedOrders uses bank_orders_queued.
const queuedOrders = `SELECT rail, currency, count(*), min(queued_at) FROM bank_orders
	WHERE connection = $1 AND state = 'QUEUED' GROUP BY rail, currency ORDER BY min(queued_at), rail, currency`

// QueuedOrders returns what waits, by rail and currency.
func (s *Store) QueuedOrders(ctx context.Context, connection string) ([]QueuedOrders, error) {
	return storage.Collect(ctx, s.db.Read, queuedOrders, []any{connection}, func(rows pgx.Rows, q *QueuedOrders) error {
		return rows.Scan(&q.Rail, &q.Currency, &q.Orders, &q.Oldest)
	})
}

// maxTrace is the largest trace number; the next one is 1.
const maxTrace = 9_999_999

// chooseOrders uses bank_orders_queued. The oldest is taken whatever its amount. Orders that another connection takes over at
// the same time are left out.
const chooseOrders = `
	WITH chosen AS MATERIALIZED (
		SELECT platform_id, id, subject_id, kind, batch, amount, queued_at FROM bank_orders
		WHERE connection = $1 AND rail = $2 AND currency = $3 AND state = 'QUEUED' ORDER BY queued_at, id LIMIT $4 FOR UPDATE SKIP LOCKED),
	summed AS (SELECT *, sum(amount) OVER (ORDER BY queued_at, id) AS sum_so_far FROM chosen)
	SELECT platform_id, id, subject_id, kind, batch, amount FROM summed WHERE sum_so_far <= $5 OR sum_so_far = amount ORDER BY queued_at, id`

// placeOrders uses the primary key.
const placeOrders = `
	UPDATE bank_orders o SET state = 'IN_FILE', file_number = $3, file_position = k.position, updated_at = $4
	FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS k(platform_id, id, position) WHERE o.platform_id = k.platform_id AND o.id = k.id`

// deleteWithdrawnOrders uses the primary key. An order that is in a file stays.
const deleteWithdrawnOrders = `
	DELETE FROM bank_orders o USING unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	WHERE o.platform_id = k.platform_id AND o.id = k.id AND o.state = 'QUEUED' AND o.connection = $3`

// CutFile puts the oldest queued orders whose payments may leave into a new file, by batch, so that these have left; false if there are
// none. Those that are held stay queued, and those that were withdrawn are forgotten. ErrDayFull if no number of the day is left.
func (s *Store) CutFile(ctx context.Context, lease ports.Lease, cut FileCut) (f bankorder.File, some bool, err error) {
	err = s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		var traces, ofDay int
		var lost *time.Time
		if _, err := storage.ReadRow(
			ctx, tx.Read, `SELECT c.files + 1, c.traces, (SELECT count(*) FROM bank_files WHERE connection = $1 AND rail = $2 AND day = $3::text::date),
			(SELECT max(noticed_at) FROM lost_commit_findings)
			FROM bank_connections c WHERE c.connection = $1`, []any{lease.Name, cut.Rail, cut.Day}, &f.Number, &traces, &ofDay, &lost); err != nil {
			return err
		}
		if ofDay >= cut.MaxOfDay {
			return ErrDayFull
		}
		leaving, err := leavingOrders(ctx, tx, lease.Name, cut)
		if err != nil || len(leaving) == 0 {
			return err
		}
		f.Connection, f.Rail, f.Currency, f.DayNumber, f.State, f.CreatedAt = lease.Name, cut.Rail, cut.Currency, ofDay+1,
			bankorder.FileCreated, cut.Now
		if lost == nil {
			lost = new(time.Time)
		}
		f.Name, f.MessageID = cut.Name(f.Number, *lost)
		f.Orders, f.Sum = len(leaving), sumOfOrders(leaving)
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
func placeInFile(ctx context.Context, tx storage.Tx, f bankorder.File, day string, orders []chosenOrder) error {
	if _, err := tx.Exec(ctx, `WITH counted AS (UPDATE bank_connections SET files = $2, traces = $9 WHERE connection = $1)
		INSERT INTO bank_files (connection, number, rail, currency, day, day_number, name, message_id, first_trace, orders, sum, state, created_at)
		VALUES ($1, $2, $3, $4, $5::text::date, $6, $7, $8, $10, $11, $12, 'CREATED', $13)`, f.Connection, f.Number, f.Rail, f.Currency, day,
		f.DayNumber, f.Name, f.MessageID, f.FirstTrace+f.Orders-1, f.FirstTrace, f.Orders, f.Sum, f.CreatedAt); err != nil {
		return err
	}
	slices.SortStableFunc(orders, func(a, b chosenOrder) int { return cmp.Compare(a.batch, b.batch) })
	placed, err := tx.Exec(ctx, placeOrders, append(orderColumns(orders), f.Number, f.CreatedAt)...)
	if err == nil && int(placed) != len(orders) {
		err = fmt.Errorf("%d of the %d orders of file %d are not there", len(orders)-int(placed), len(orders), f.Number)
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

func sumOfOrders(orders []chosenOrder) (sum money.Total) {
	for _, o := range orders {
		sum = sum.Add(money.TotalOf(o.amount))
	}
	return sum
}

func orderColumns(orders []chosenOrder) []any {
	return schema.Arrays(orders, func(o *chosenOrder) []any { return []any{&o.payment.Platform, &o.id} })
}

// leavingOrders returns the oldest queued orders that may leave, and records that they have. It deletes those that are no
// longer payments of the connection; those that are held stay queued.
func leavingOrders(ctx context.Context, tx storage.Tx, connection string, cut FileCut) ([]chosenOrder, error) {
	for {
		chosen, err := chosenOrders(ctx, tx, connection, cut)
		if err != nil || len(chosen) == 0 {
			return nil, err
		}
		keys := make([]ports.RailPaymentKey, len(chosen))
		for i, o := range chosen {
			keys[i] = o.payment
		}
		departures, err := storage.LeaveRailPayments(ctx, tx, connection, keys, cut.Now)
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
			if _, err := tx.Exec(ctx, deleteWithdrawnOrders, append(orderColumns(withdrawn), connection)...); err != nil {
				return nil, err
			}
		}
		if len(leaving) > 0 || len(withdrawn) == 0 {
			return leaving, nil
		}
	}
}

func chosenOrders(ctx context.Context, tx storage.Tx, connection string, cut FileCut) (chosen []chosenOrder, err error) {
	return storage.Collect(ctx, tx.Read, chooseOrders, []any{connection, cut.Rail, cut.Currency, cut.MaxOrders, cut.MaxSum},
		func(rows pgx.Rows, o *chosenOrder) error {
			return rows.Scan(&o.payment.Platform, &o.id, &o.payment.ID, &o.payment.Kind, &o.batch, &o.amount)
		})
}

// filesTable is the table bank_files.
var filesTable = schema.New("bank_files", []string{"connection", "number"}, func(f *bankorder.File) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &f.Connection}, {Name: "number", Field: &f.Number}, {Name: "rail", Field: &f.Rail},
		{Name: "currency", Field: &f.Currency},
		{Name: "day_number", Field: &f.DayNumber}, {Name: "name", Field: &f.Name}, {Name: "message_id", Field: &f.MessageID},
		{Name: "orders", Field: &f.Orders}, {Name: "sum", Field: &f.Sum}, {Name: "first_trace", Field: &f.FirstTrace},
		{Name: "state", Field: &f.State},
		{Name: "temporary_name", Field: &f.TemporaryName}, {Name: "sha256", Field: &f.SHA256},
		{Name: "size", Field: schema.Optional(&f.Size)},
		{Name: "place", Field: &f.Place}, {Name: "created_at", Field: &f.CreatedAt}, {Name: "delivered_at", Field: &f.DeliveredAt},
		{Name: "settles_at", Field: &f.SettlesAt},
	}
})

// undeliveredFile uses bank_files_undelivered.
var undeliveredFile = `SELECT ` + filesTable.Names("") + ` FROM bank_files WHERE connection = $1 AND state <> 'DELIVERED'
	AND NOT EXISTS (SELECT FROM lost_commit_findings f WHERE NOT EXISTS (SELECT FROM lost_commit_reviews r WHERE r.finding_id = f.id))
	ORDER BY number LIMIT 1`

// UndeliveredFile returns the oldest file that is not delivered; false if there is none. While lost commits are not reviewed none is
// returned, because the bank may have it already.
func (s *Store) UndeliveredFile(ctx context.Context, connection string) (f bankorder.File, some bool, err error) {
	return storage.First(sealed.Query(ctx, s.sealed, s.db.Read, filesTable, undeliveredFile, connection))
}

// ordersOfFile uses bank_order_position_unique.
var ordersOfFile = `SELECT ` + orderColumnNames +
	` FROM bank_orders o WHERE o.connection = $1 AND o.file_number = $2 AND o.file_position > $3
	ORDER BY o.file_position LIMIT $4`

// FileOrders returns the orders of a file after a position, by position, at most limit.
func (s *Store) FileOrders(ctx context.Context, connection string, number int64, after, limit int) ([]bankorder.Order, error) {
	return sealed.Query(ctx, s.sealed, s.db.Read, ordersTable, ordersOfFile, connection, number, after, limit)
}

// BeginUpload numbers the attempt to upload a file that is created.
func (s *Store) BeginUpload(ctx context.Context, lease ports.Lease, number int64) (attempt int, err error) {
	err = s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		found, err := storage.ReadRow(
			ctx, tx.Read, `UPDATE bank_files SET attempts = attempts + 1 WHERE connection = $1 AND number = $2 AND state = 'CREATED' RETURNING attempts`,
			[]any{lease.Name, number}, &attempt)
		if err == nil && !found {
			return oneFile(0, number, nil)
		}
		return err
	})
	return attempt, err
}

// FileUploaded records what was uploaded.
func (s *Store) FileUploaded(ctx context.Context, lease ports.Lease, f bankorder.File) error {
	return s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		done, err := tx.Exec(
			ctx, `UPDATE bank_files SET state = 'UPLOADED', temporary_name = $3, fence = $4, sha256 = $5, size = $6, uploaded_at = $7, place = $8
			WHERE connection = $1 AND number = $2 AND state = 'CREATED'`, lease.Name, f.Number, f.TemporaryName, lease.Fence, f.SHA256, f.Size,
			s.db.Now(), f.Place)
		return oneFile(done, f.Number, err)
	})
}

// FileDelivered records that the file has its final name, and when its orders settle; zero if by a report.
func (s *Store) FileDelivered(ctx context.Context, lease ports.Lease, number int64, at, settlesAt time.Time) error {
	return s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		done, err := tx.Exec(
			ctx, `UPDATE bank_files SET state = 'DELIVERED', delivered_at = $3, settles_at = $4 WHERE connection = $1 AND number = $2 AND state = 'UPLOADED'`,
			lease.Name, number, at, settlesAt)
		return oneFile(done, number, err)
	})
}

// oneFile is the error of a change of a file that is not in the state before.
func oneFile(changed, number int64, err error) error {
	if err == nil && changed != 1 {
		return fmt.Errorf("file %d is not in the expected state", number)
	}
	return err
}
