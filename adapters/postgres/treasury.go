package postgres

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/treasury"
	"causeway/ports"
)

// treasuryMovements are movements without their arrivals.
var treasuryMovements = schema.New("treasury_movements", keyOfPlatform, func(m *treasury.Movement) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &m.Platform}, {Name: "id", Field: &m.ID}, {Name: "kind", Field: &m.Kind},
		{Name: "from_account", Field: &m.From}, {Name: "to_account", Field: &m.To},
		{Name: "currency", Field: &m.Amount.Currency}, {Name: "amount", Field: &m.Amount.Minor},
		{Name: "bought_currency", Field: schema.Optional(&m.Bought.Currency)}, {Name: "bought_amount", Field: schema.Optional(&m.Bought.Minor)},
		{Name: "in_transit", Field: &m.InTransit}, {Name: "allow_overdraft", Field: &m.AllowOverdraft}, {Name: "note", Field: &m.Note},
		{Name: "effective_at", Field: &m.Effective}, {Name: "posting_id", Field: &m.Posting}, {Name: "created_at", Field: &m.At},
	}, schema.AuthorColumns(&m.By), schema.ApprovalColumns(&m.Approval))
})

type arrivalRow struct {
	platform ident.Platform
	movement ident.Movement
	treasury.Arrival
}

var treasuryArrivals = schema.New("treasury_arrivals", []string{"platform_id", "movement_id"}, func(a *arrivalRow) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &a.platform}, {Name: "movement_id", Field: &a.movement}, {Name: "posting_id", Field: &a.Posting},
		{Name: "effective_at", Field: &a.Effective}, {Name: "arrived_at", Field: &a.At},
	}, schema.AuthorColumns(&a.By), schema.ApprovalColumns(&a.Approval))
})

var keyOfOverdraft = []string{"platform_id", "account", "currency"}

var ledgerOverdrafts = schema.New("ledger_overdrafts", keyOfOverdraft, func(o *treasury.Overdraft) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &o.Account.Platform}, {Name: "account", Field: &o.Account.Path},
		{Name: "currency", Field: &o.Account.Currency}, {Name: "overdrawn", Field: &o.Overdrawn}, {Name: "since", Field: &o.Since},
		{Name: "balance", Field: &o.Balance}, {Name: "notified_at", Field: &o.NotifiedAt},
	}
})

var (
	insertMovement = treasuryMovements.Insert("")
	insertArrival  = treasuryArrivals.Insert("")
	saveOverdraft  = ledgerOverdrafts.Insert(`ON CONFLICT (platform_id, account, currency) DO UPDATE
		SET overdrawn = EXCLUDED.overdrawn, since = EXCLUDED.since, balance = EXCLUDED.balance, notified_at = EXCLUDED.notified_at`)
)

// CreateMovement implements treasury.Tx.
func (u *Unit) CreateMovement(ctx context.Context, m treasury.Movement) error {
	if err := write(ctx, u, insertMovement, m); err != nil {
		return err
	}
	return u.flush(ctx)
}

// LockMovement implements treasury.Tx. The lock is that of LockSafeguarding.
func (u *Unit) LockMovement(ctx context.Context, p ident.Platform, id ident.Movement) (m treasury.Movement, found bool, err error) {
	if err := u.LockSafeguarding(ctx, p); err != nil {
		return m, false, err
	}
	return readMovement(ctx, u.query, p, id)
}

// RecordArrival implements treasury.Tx.
func (u *Unit) RecordArrival(ctx context.Context, m treasury.Movement) error {
	if err := write(ctx, u, insertArrival, arrivalRow{m.Platform, m.ID, *m.Arrival}); err != nil {
		return err
	}
	return u.flush(ctx)
}

// SaveOverdrafts implements treasury.Tx.
func (u *Unit) SaveOverdrafts(ctx context.Context, overdrafts []treasury.Overdraft) error {
	for _, o := range overdrafts {
		if err := write(ctx, u, saveOverdraft, o); err != nil {
			return err
		}
	}
	return u.flush(ctx)
}

// fromMovements has movements with their arrivals, by primary keys.
const fromMovements = `treasury_movements AS m LEFT JOIN treasury_arrivals AS a ON a.platform_id = m.platform_id AND a.movement_id = m.id`

var (
	movementNames   = treasuryMovements.Names("m") + ", " + treasuryArrivals.Names("a")
	selectMovements = `SELECT ` + movementNames + ` FROM ` + fromMovements + ` WHERE m.platform_id = $1 `
)

func scanMovement(rows pgx.Rows) (m treasury.Movement, err error) {
	var a arrivalRow
	err = sealed.ScanStored(rows, slices.Concat(treasuryMovements.Columns(&m), treasuryArrivals.Columns(&a).Joined()))
	if a.Posting != uuid.Nil {
		m.Arrival = &a.Arrival
	}
	return m, err
}

func readMovement(ctx context.Context, read storage.Reader, p ident.Platform,
	id ident.Movement) (m treasury.Movement, found bool, err error) {
	err = read(ctx, selectMovements+`AND m.id = $2`, []any{p, id}, func(rows pgx.Rows) (err error) {
		found = true
		m, err = scanMovement(rows)
		return err
	})
	return m, found, err
}

// Movement uses primary keys.
func (db *DB) Movement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, bool, error) {
	return readMovement(ctx, db.queryRows, p, id)
}

// Movements uses primary keys.
func (db *DB) Movements(ctx context.Context, p ident.Platform, f ports.MovementFilter) (ports.Page[treasury.Movement], error) {
	l := newJoinedList(fromMovements, "m", p)
	l.whereEqual("kind", string(f.Kind))
	if f.Open {
		l.where("m.in_transit AND a.movement_id IS NULL")
	}
	return selectPageOf(ctx, db, l, f.Paging, movementNames, scanMovement)
}

// Overdrafts uses the primary key.
func (db *DB) Overdrafts(ctx context.Context, p ident.Platform) ([]treasury.Overdraft, error) {
	return selectRows(ctx, db, db.queryRows, ledgerOverdrafts, `WHERE platform_id = $1 ORDER BY account, currency`, p)
}
