package postgres

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

// receivedFiles is the table bank_received_files.
var receivedFiles = schema.New("bank_received_files", []string{"connection", "number"}, func(r *bankorder.Received) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &r.Connection}, {Name: "number", Field: &r.Number}, {Name: "name", Field: &r.Name},
		{Name: "size", Field: &r.Size},
		{Name: "modified_at", Field: &r.ModifiedAt}, {Name: "sha256", Field: &r.SHA256}, {Name: "state", Field: &r.State},
		{Name: "problem", Field: &r.Problem}, {Name: "found_at", Field: &r.FoundAt},
	}
})

var receivedColumns = receivedFiles.Names("r")

// knownBankFiles uses bank_received_file_unique.
var knownBankFiles = `SELECT ` + receivedColumns + ` FROM unnest($2::text[], $3::bigint[], $4::timestamptz[]) AS f(name, size, modified_at)
	JOIN bank_received_files r ON r.connection = $1 AND r.name = f.name AND r.size = f.size AND r.modified_at = f.modified_at ORDER BY r.number`

// KnownBankFiles implements ports.BankInbox.
func (db *DB) KnownBankFiles(ctx context.Context, connection string, files []bankorder.Received) ([]bankorder.Received, error) {
	return queryTable(ctx, db, db.read, receivedFiles, knownBankFiles, append([]any{connection}, schema.Arrays(files,
		func(f *bankorder.Received) []any {
			return []any{&f.Name, &f.Size, &f.ModifiedAt}
		})...)...)
}

// sameBankFile uses bank_received_file_unique.
var sameBankFile = `SELECT ` + receivedColumns + ` FROM bank_received_files r
	WHERE connection = $1 AND name = $2 AND size = $3 AND modified_at = $4 AND sha256 = $5`

// beginBankFile uses bank_received_file_unique and bank_received_files_by_content.
var beginBankFile = `
	WITH counted AS (UPDATE bank_connections SET received = received + 1 WHERE connection = $1 RETURNING received)
	INSERT INTO bank_received_files AS r (connection, number, name, size, modified_at, sha256, state, found_at, ended_at)
	SELECT $1, received, $2, $3, $4, $5, CASE WHEN d.same THEN 'DUPLICATE' ELSE 'READING' END, $6::timestamptz, CASE WHEN d.same THEN $6::timestamptz END
	FROM counted, (SELECT EXISTS (SELECT FROM bank_received_files WHERE connection = $1 AND sha256 = $5 AND state = 'READ') AS same) d
	RETURNING ` + receivedColumns

// continueBankFile uses bank_received_files_by_content. Places in a file depend on its content alone, so that it can be
// read on when the bank has put the same content down again meanwhile.
var continueBankFile = `UPDATE bank_received_files r SET name = $2, modified_at = $3 WHERE connection = $1 AND sha256 = $4 AND state = 'READING'
	RETURNING ` + receivedColumns

// BeginBankFile implements ports.BankInbox.
func (db *DB) BeginBankFile(ctx context.Context, lease ports.Lease, f bankorder.Received) (begun bankorder.Received, err error) {
	err = db.bankFiles.Hold(ctx, lease, func(tx storage.Tx) error {
		var found bool
		for _, attempt := range []struct {
			sql  string
			args []any
		}{
			{sameBankFile, []any{lease.Name, f.Name, f.Size, f.ModifiedAt, f.SHA256}},
			{continueBankFile, []any{lease.Name, f.Name, f.ModifiedAt, f.SHA256}},
			{beginBankFile, []any{lease.Name, f.Name, f.Size, f.ModifiedAt, f.SHA256, f.FoundAt}},
		} {
			if begun, found, err = queryTableRow(ctx, db, tx.Read, receivedFiles, attempt.sql, attempt.args...); found || err != nil {
				return err
			}
		}
		return pgx.ErrNoRows // the connection has no row
	})
	return begun, err
}

// BankFileBeingRead uses the primary key.
func (db *DB) BankFileBeingRead(ctx context.Context, connection string, number int64) (bankorder.Received, bool, error) {
	return selectRow(ctx, db, db.read, receivedFiles, `WHERE connection = $1 AND number = $2`, connection, number)
}

// bankFilesWithContent uses bank_received_files_by_digest.
const bankFilesWithContent = `FROM bank_received_files WHERE connection = $1 AND sha256 = $2 ORDER BY state IN ('READING', 'READ', 'DUPLICATE') DESC, number DESC LIMIT 1`

// BankFileWithContent implements ports.BankInbox.
func (db *DB) BankFileWithContent(ctx context.Context, connection string,
	sha256 []byte) (state bankorder.ReceivedState, found bool, err error) {
	found, err = storage.ReadRow(ctx, db.read, `SELECT state `+bankFilesWithContent, []any{connection, sha256}, &state)
	return state, found, err
}

// ReopenBankFile implements ports.BankInbox.
func (db *DB) ReopenBankFile(ctx context.Context, lease ports.Lease, sha256 []byte) error {
	return db.bankFiles.Hold(ctx, lease, func(tx storage.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE bank_received_files SET state = 'READING', problem = '', ended_at = NULL
			WHERE connection = $1 AND state = 'UNREADABLE' AND number = (SELECT number `+bankFilesWithContent+`)`, lease.Name, sha256)
		return err
	})
}

// EndBankFile implements ports.BankInbox.
func (db *DB) EndBankFile(ctx context.Context, lease ports.Lease, number int64, state bankorder.ReceivedState, problem string,
	at time.Time) error {
	return db.bankFiles.Hold(ctx, lease, func(tx storage.Tx) error {
		_, err := tx.Exec(
			ctx, `UPDATE bank_received_files SET state = $3, problem = $4, ended_at = $5 WHERE connection = $1 AND number = $2 AND state = 'READING'`,
			lease.Name, number, state, storedText(problem, maxProblem), at)
		return err
	})
}

// ordersOfReports uses bank_order_end_to_end_id_unique and bank_order_key_unique.
var ordersOfReports = `SELECT ` + bankOrderColumns +
	` FROM bank_orders o WHERE o.connection = $1 AND (o.end_to_end_id = ANY($2::text[]) OR o.key = ANY($3::text[])) FOR UPDATE`

// ReportBankOrders implements ports.BankInbox. Reports about one order are applied one after the other.
func (db *DB) ReportBankOrders(ctx context.Context, lease ports.Lease, file int64, reports []ports.BankOrderReport,
	now time.Time) (notices []bankorder.Notice, fees []ports.RailFee, err error) {
	err = db.bankFiles.Hold(ctx, lease, func(tx storage.Tx) error {
		orders, err := db.lockReportedOrders(ctx, tx, lease.Name, reports)
		if err != nil {
			return err
		}
		changes := &bankOrderChanges{db: db, file: file, now: now}
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
		return insertBankNotices(ctx, tx, notices)
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
func (db *DB) lockReportedOrders(ctx context.Context, tx storage.Tx, connection string,
	reports []ports.BankOrderReport) (map[string]*bankorder.Order, error) {
	var ids, keys []string
	for _, r := range reports {
		if r.EndToEndID != "" {
			ids = append(ids, r.EndToEndID)
		}
		if r.Key != "" {
			keys = append(keys, r.Key)
		}
	}
	orders, err := queryTable(ctx, db, tx.Read, bankOrders, ordersOfReports, connection, ids, keys)
	found := map[string]*bankorder.Order{}
	for i := range orders {
		o := &orders[i]
		found["id "+o.EndToEndID], found["key "+o.Key] = o, o
	}
	return found, err
}

// bankOrderChanges collects what a piece of a file changes.
type bankOrderChanges struct {
	db          *DB
	file        int64
	now         time.Time
	orders      []*bankorder.Order // each once, in the order of their reports
	changed     map[*bankorder.Order]bool
	corrections []bankCorrection
}

type bankCorrection struct {
	order  bankorder.Order
	report ports.BankOrderReport
}

func (c *bankOrderChanges) reported(o *bankorder.Order, changed bool) {
	if c.changed == nil {
		c.changed = map[*bankorder.Order]bool{}
	}
	if _, known := c.changed[o]; !known {
		c.orders = append(c.orders, o)
	}
	c.changed[o] = c.changed[o] || changed
}

func (c *bankOrderChanges) correct(o bankorder.Order, r ports.BankOrderReport) {
	c.corrections = append(c.corrections, bankCorrection{o, r})
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

func (c *bankOrderChanges) write(ctx context.Context, tx storage.Tx, connection string) error {
	if len(c.orders) == 0 {
		return nil
	}
	news := int64(0)
	reported := make([]reportedOrder, len(c.orders))
	for i, o := range c.orders {
		reason, err := c.db.sealed.SealText(ctx, sealed.Row{Platform: o.Platform.UUID(), ID: o.ID}, sealed.BankOrdersReason, o.Text)
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
		details, err := c.db.sealed.SealJSONText(ctx, sealed.Row{Platform: platform, ID: id}, sealed.BankCorrectionsDetails,
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

// reportBankFile uses bank_file_message_unique and bank_orders_open_by_file.
var reportBankFile = `SELECT ` + bankOrderColumns +
	` FROM bank_orders o WHERE o.connection = $1 AND o.file_number = $2 AND o.state IN ('IN_FILE', 'ACCEPTED', 'PENDING')
	AND o.state = ANY($3::text[]) AND o.reported_in <> $4 ORDER BY o.file_position LIMIT $5 FOR UPDATE`

// bankFileHasSum uses the primary key, and bank_order_position_unique for a file whose sum differs.
const bankFileHasSum = `SELECT f.currency = $4 AND (f.sum = $3 OR $3 = (SELECT coalesce(sum(o.amount), 0) FROM bank_orders o
		WHERE o.connection = f.connection AND o.file_number = f.number AND o.state <> 'REJECTED'))
	FROM bank_files f WHERE f.connection = $1 AND f.number = $2`

// ReportBankFile implements ports.BankInbox.
func (db *DB) ReportBankFile(ctx context.Context, lease ports.Lease, file int64, messageID string, report bankorder.Report,
	now time.Time, limit int) (changed int, problem bankorder.NoticeKind, err error) {
	err = db.bankFiles.Hold(ctx, lease, func(tx storage.Tx) error {
		var number int64
		found, err := storage.ReadRow(ctx, tx.Read, `SELECT number FROM bank_files WHERE connection = $1 AND message_id = $2`,
			[]any{lease.Name, messageID}, &number)
		if err == nil && !found {
			problem = bankorder.UnknownPayment
			return nil
		}
		if err == nil && report.Amount != (money.Amount{}) {
			var same bool
			if _, err = storage.ReadRow(ctx, tx.Read, bankFileHasSum, []any{lease.Name, number, report.Amount.Minor,
				report.Amount.Currency}, &same); !same {
				problem = bankorder.Contradiction
			}
			report.Amount = money.Amount{} // it is of no single order
		}
		if err != nil || problem != "" {
			return err
		}
		orders, err := queryTable(ctx, db, tx.Read, bankOrders, reportBankFile, lease.Name, number,
			bankorder.Reportable(report.State), file, limit)
		if err != nil {
			return err
		}
		changes := &bankOrderChanges{db: db, file: file, now: now}
		for _, o := range orders {
			applied, effect := o.Apply(report, now)
			changes.reported(&applied, effect == bankorder.Changes)
		}
		changed = len(changes.orders)
		return changes.write(ctx, tx, lease.Name)
	})
	return changed, problem, err
}
