package bankfile

import (
	"context"
	"fmt"
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

// receivedTable is the table bank_received_files.
var receivedTable = schema.New("bank_received_files", []string{"connection", "number"}, func(r *bankorder.Received) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &r.Connection}, {Name: "number", Field: &r.Number}, {Name: "name", Field: &r.Name},
		{Name: "size", Field: &r.Size},
		{Name: "modified_at", Field: &r.ModifiedAt}, {Name: "sha256", Field: &r.SHA256}, {Name: "state", Field: &r.State},
		{Name: "problem", Field: &r.Problem}, {Name: "found_at", Field: &r.FoundAt},
	}
})

var receivedColumns = receivedTable.Names("r")

// knownFiles uses bank_received_file_unique.
var knownFiles = `SELECT ` + receivedColumns + ` FROM unnest($2::text[], $3::bigint[], $4::timestamptz[]) AS f(name, size, modified_at)
	JOIN bank_received_files r ON r.connection = $1 AND r.name = f.name AND r.size = f.size AND r.modified_at = f.modified_at ORDER BY r.number`

// KnownFiles returns those files that were received before, by name, size and time of the change.
func (s *Store) KnownFiles(ctx context.Context, connection string, files []bankorder.Received) ([]bankorder.Received, error) {
	return sealed.Query(ctx, s.sealed, s.db.Read, receivedTable, knownFiles, append([]any{connection}, schema.Arrays(files,
		func(f *bankorder.Received) []any {
			return []any{&f.Name, &f.Size, &f.ModifiedAt}
		})...)...)
}

// sameFile uses bank_received_file_unique.
var sameFile = `SELECT ` + receivedColumns + ` FROM bank_received_files r
	WHERE connection = $1 AND name = $2 AND size = $3 AND modified_at = $4 AND sha256 = $5`

// beginFile uses bank_received_file_unique and bank_received_files_by_content.
var beginFile = `
	WITH counted AS (UPDATE bank_connections SET received = received + 1 WHERE connection = $1 RETURNING received)
	INSERT INTO bank_received_files AS r (connection, number, name, size, modified_at, sha256, state, found_at, ended_at)
	SELECT $1, received, $2, $3, $4, $5, CASE WHEN d.same THEN 'DUPLICATE' ELSE 'READING' END, $6::timestamptz, CASE WHEN d.same THEN $6::timestamptz END
	FROM counted, (SELECT EXISTS (SELECT FROM bank_received_files WHERE connection = $1 AND sha256 = $5 AND state = 'READ') AS same) d
	RETURNING ` + receivedColumns

// continueFile uses bank_received_files_by_content. Places in a file depend on its content alone, so that it can be
// read on when the bank has put the same content down again meanwhile.
var continueFile = `UPDATE bank_received_files r SET name = $2, modified_at = $3 WHERE connection = $1 AND sha256 = $4 AND state = 'READING'
	RETURNING ` + receivedColumns

// BeginFile records a file that is read; if the same content was begun before, it returns that, to be read on. One with the content of a
// file that was read is a duplicate.
func (s *Store) BeginFile(ctx context.Context, lease ports.Lease, f bankorder.Received) (begun bankorder.Received, err error) {
	err = s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		var found bool
		for _, attempt := range []struct {
			sql  string
			args []any
		}{
			{sameFile, []any{lease.Name, f.Name, f.Size, f.ModifiedAt, f.SHA256}},
			{continueFile, []any{lease.Name, f.Name, f.ModifiedAt, f.SHA256}},
			{beginFile, []any{lease.Name, f.Name, f.Size, f.ModifiedAt, f.SHA256, f.FoundAt}},
		} {
			if begun, found, err = storage.First(sealed.Query(ctx, s.sealed, tx.Read, receivedTable, attempt.sql,
				attempt.args...)); found || err != nil {
				return err
			}
		}
		return pgx.ErrNoRows // the connection has no row
	})
	return begun, err
}

// FileBeingRead returns the file with a number. It uses the primary key.
func (s *Store) FileBeingRead(ctx context.Context, connection string, number int64) (bankorder.Received, bool, error) {
	return storage.First(storage.Select(ctx, s.db.Read, receivedTable, `WHERE connection = $1 AND number = $2`, connection, number))
}

// filesWithContent uses bank_received_files_by_digest.
const filesWithContent = `FROM bank_received_files WHERE connection = $1 AND sha256 = $2 ORDER BY state IN ('READING', 'READ', 'DUPLICATE') DESC, number DESC LIMIT 1`

// FileWithContent returns the state of the file with a SHA-256 that is read or was read, or else of one that could not be; false if there
// is none.
func (s *Store) FileWithContent(ctx context.Context, connection string,
	sha256 []byte) (state bankorder.ReceivedState, found bool, err error) {
	found, err = storage.ReadRow(ctx, s.db.Read, `SELECT state `+filesWithContent, []any{connection, sha256}, &state)
	return state, found, err
}

// ReopenFile lets the newest file with a SHA-256 that could not be read be read again.
func (s *Store) ReopenFile(ctx context.Context, lease ports.Lease, sha256 []byte) error {
	return s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE bank_received_files SET state = 'READING', problem = '', ended_at = NULL
			WHERE connection = $1 AND state = 'UNREADABLE' AND number = (SELECT number `+filesWithContent+`)`, lease.Name, sha256)
		return err
	})
}

// EndFile records that all of a file is stored, or why it cannot be read.
func (s *Store) EndFile(ctx context.Context, lease ports.Lease, number int64, state bankorder.ReceivedState, problem string,
	at time.Time) error {
	return s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		_, err := tx.Exec(
			ctx, `UPDATE bank_received_files SET state = $3, problem = $4, ended_at = $5 WHERE connection = $1 AND number = $2 AND state = 'READING'`,
			lease.Name, number, state, storage.Text(problem, storage.MaxProblem), at)
		return err
	})
}

// ordersOfReports uses bank_order_end_to_end_id_unique and bank_order_key_unique.
var ordersOfReports = `SELECT ` + orderColumnNames +
	` FROM bank_orders o WHERE o.connection = $1 AND (o.end_to_end_id = ANY($2::text[]) OR o.key = ANY($3::text[])) FOR UPDATE`

// ReportOrders applies reports of a file, and keeps notices of those that are about no order, or contradict it. It returns these notices,
// and as fees what was deducted from payments that came back. Applying the same again changes nothing, and returns the same. Reports about
// one order are applied one after the other.
func (s *Store) ReportOrders(ctx context.Context, lease ports.Lease, file int64, reports []OrderReport,
	now time.Time) (notices []bankorder.Notice, fees []ports.RailFee, err error) {
	err = s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		orders, err := s.lockReportedOrders(ctx, tx, lease.Name, reports)
		if err != nil {
			return err
		}
		changes := &orderChanges{sealed: s.sealed, file: file, now: now}
		for _, r := range reports {
			notice := bankorder.Notice{Connection: lease.Name, File: file, Place: r.Place, Name: r.EndToEndID, Code: r.Code,
				At: now, Report: r.Report}
			if notice.Name == "" {
				notice.Name = r.Key
			}
			order := orders["id "+r.EndToEndID]
			if r.EndToEndID == "" {
				order = orders["key "+r.Key]
			}
			if order != nil {
				recorded := *order
				notice.Order = &recorded
			}
			switch {
			case order == nil:
				notice.Kind = bankorder.UnknownPayment
			case r.Notice != "":
				notice.Kind = r.Notice
				if r.Notice == bankorder.Correction {
					changes.correct(*order, r)
				}
				changes.reported(order, false)
			default:
				applied, effect := order.Apply(r.Report, now)
				if effect == bankorder.Contradicts || order.IsRefundReturned(r.Report) {
					notice.Kind = bankorder.Contradiction
				} else if deducted := applied.Deducted(r.Report); deducted.Minor > 0 {
					fees = append(fees, deductionFee(applied, deducted, r.Report, now))
				}
				*order = applied
				changes.reported(order, effect == bankorder.Changes)
			}
			if notice.Kind != "" {
				notices = append(notices, notice)
			}
		}
		if err := changes.write(ctx, tx, lease.Name); err != nil {
			return err
		}
		return insertNoticeRows(ctx, tx, notices)
	})
	return notices, fees, err
}

// deductionFee returns what was deducted from a payment that came back. A payment comes back once, however often and by
// whichever ids the bank reports it, so that the id of the fee is that of the payment.
func deductionFee(o bankorder.Order, deducted money.Amount, r bankorder.Report, now time.Time) ports.RailFee {
	at := o.ReturnedAt
	if at.IsZero() { // it was rejected before
		at = r.At
	}
	if at.IsZero() {
		at = now
	}
	return ports.RailFee{Platform: o.Platform, Rail: o.Rail, PartnerID: o.EndToEndID + "/return", Amount: deducted, At: at,
		Memo: "deducted from the return", Undated: true}
}

// lockReportedOrders returns the orders that reports name, by "id" and end-to-end id, and by "key" and key.
func (s *Store) lockReportedOrders(ctx context.Context, tx storage.Tx, connection string,
	reports []OrderReport) (map[string]*bankorder.Order, error) {
	var ids, keys []string
	for _, r := range reports {
		if r.EndToEndID != "" {
			ids = append(ids, r.EndToEndID)
		}
		if r.Key != "" {
			keys = append(keys, r.Key)
		}
	}
	orders, err := sealed.Query(ctx, s.sealed, tx.Read, ordersTable, ordersOfReports, connection, ids, keys)
	found := map[string]*bankorder.Order{}
	for i := range orders {
		o := &orders[i]
		found["id "+o.EndToEndID], found["key "+o.Key] = o, o
	}
	return found, err
}

// orderChanges collects what a piece of a file changes.
type orderChanges struct {
	sealed      sealed.Cipher
	file        int64
	now         time.Time
	orders      []*bankorder.Order // each once, in the order of their reports
	changed     map[*bankorder.Order]bool
	corrections []correction
}

type correction struct {
	order  bankorder.Order
	report OrderReport
}

func (c *orderChanges) reported(o *bankorder.Order, changed bool) {
	if c.changed == nil {
		c.changed = map[*bankorder.Order]bool{}
	}
	if _, known := c.changed[o]; !known {
		c.orders = append(c.orders, o)
	}
	c.changed[o] = c.changed[o] || changed
}

func (c *orderChanges) correct(o bankorder.Order, r OrderReport) {
	c.corrections = append(c.corrections, correction{o, r})
}

// updateReportedOrders uses the primary key. An order whose state stays keeps the number of its newest change.
const updateReportedOrders = `
	WITH counted AS (UPDATE bank_connections SET news = news + $3 WHERE connection = $1 RETURNING news - $3 AS before)
	UPDATE bank_orders o SET state = r.state, partner_id = r.partner_id, code = r.code, reason = r.reason, accepted_at = r.accepted_at,
		settled_at = r.settled_at, returned_at = r.returned_at, return_id = r.return_id, reported_in = $2, updated_at = $4,
		news = CASE WHEN r.n > 0 THEN c.before + r.n ELSE o.news END
	FROM counted c, unnest($5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::bigint[], $15::text[])
		AS r(platform_id, id, state, partner_id, code, reason, accepted_at, settled_at, returned_at, n, return_id)
	WHERE o.platform_id = r.platform_id AND o.id = r.id`

// reportedOrder is an order with what is stored of it.
type reportedOrder struct {
	bankorder.Order
	reason string
	news   int64 // from 1; zero if the order stays as it is
}

func (c *orderChanges) write(ctx context.Context, tx storage.Tx, connection string) error {
	if len(c.orders) == 0 {
		return nil
	}
	news := int64(0)
	reported := make([]reportedOrder, len(c.orders))
	for i, o := range c.orders {
		reason, err := c.sealed.SealText(ctx, sealed.Row{Platform: o.Platform.UUID(), ID: o.ID}, sealed.BankOrdersReason, o.Text)
		if err != nil {
			return err
		}
		if reported[i] = (reportedOrder{Order: *o, reason: reason}); c.changed[o] {
			news++
			reported[i].news = news
		}
	}
	columns := schema.Arrays(reported, func(r *reportedOrder) []any {
		return []any{&r.Platform, &r.ID, &r.State, &r.PartnerID, &r.Code, &r.reason, &r.AcceptedAt, &r.SettledAt, &r.ReturnedAt,
			&r.news, &r.ReturnID}
	})
	if _, err := tx.Exec(ctx, updateReportedOrders, append([]any{connection, c.file, news, c.now}, columns...)...); err != nil {
		return err
	}
	for _, correction := range c.corrections {
		platform := correction.order.Platform.UUID()
		id := uuid.NewSHA1(correction.order.ID, fmt.Appendf(nil, "%d %s", c.file, correction.report.Place))
		details, err := c.sealed.SealJSONText(ctx, sealed.Row{Platform: platform, ID: id}, sealed.BankCorrectionsDetails,
			correction.report.Correction)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(
			ctx, `INSERT INTO bank_corrections (platform_id, id, order_id, connection, file, place, details, received_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
			platform, id, correction.order.ID, connection, c.file, correction.report.Place, details, c.now); err != nil {
			return err
		}
	}
	return nil
}

// reportFile uses bank_file_message_unique and bank_orders_open_by_file.
var reportFile = `SELECT ` + orderColumnNames +
	` FROM bank_orders o WHERE o.connection = $1 AND o.file_number = $2 AND o.state IN ('IN_FILE', 'ACCEPTED', 'PENDING')
	AND o.state = ANY($3::text[]) AND o.reported_in <> $4 ORDER BY o.file_position LIMIT $5 FOR UPDATE`

// fileHasSum uses the primary key, and bank_order_position_unique for a file whose sum differs.
const fileHasSum = `SELECT f.currency = $4 AND (f.sum = $3 OR $3 = (SELECT coalesce(sum(o.amount), 0) FROM bank_orders o
		WHERE o.connection = f.connection AND o.file_number = f.number AND o.state <> 'REJECTED'))
	FROM bank_files f WHERE f.connection = $1 AND f.number = $2`

// ReportFile applies a report about a whole file to at most limit of its orders, without those about which the same file of the bank had a
// report of their own, and returns how many it has changed. It changes none if the message is an UnknownPayment, or if the amount of the
// report is a Contradiction: neither the sum of the file nor that without the orders that were rejected.
func (s *Store) ReportFile(ctx context.Context, lease ports.Lease, file int64, messageID string, report bankorder.Report,
	now time.Time, limit int) (changed int, problem bankorder.NoticeKind, err error) {
	err = s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		var number int64
		found, err := storage.ReadRow(ctx, tx.Read, `SELECT number FROM bank_files WHERE connection = $1 AND message_id = $2`,
			[]any{lease.Name, messageID}, &number)
		if err == nil && !found {
			problem = bankorder.UnknownPayment
			return nil
		}
		if err == nil && report.Amount != (money.Amount{}) {
			var same bool
			if _, err = storage.ReadRow(ctx, tx.Read, fileHasSum, []any{lease.Name, number, report.Amount.Minor,
				report.Amount.Currency}, &same); !same {
				problem = bankorder.Contradiction
			}
			report.Amount = money.Amount{} // it is of no single order
		}
		if err != nil || problem != "" {
			return err
		}
		orders, err := sealed.Query(ctx, s.sealed, tx.Read, ordersTable, reportFile, lease.Name, number,
			bankorder.Reportable(report.State), file, limit)
		if err != nil {
			return err
		}
		changes := &orderChanges{sealed: s.sealed, file: file, now: now}
		for _, o := range orders {
			applied, effect := o.Apply(report, now)
			changes.reported(&applied, effect == bankorder.Changes)
		}
		changed = len(changes.orders)
		return changes.write(ctx, tx, lease.Name)
	})
	return changed, problem, err
}
