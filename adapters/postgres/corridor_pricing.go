package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// overrideRow is a row of corridor_overrides. A row without a platform applies to all.
type overrideRow struct {
	ports.CorridorOverride
	percent *string
}

var overrides = schema.New("corridor_overrides", nil, func(o *overrideRow) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &o.Platform}, {Name: "source", Field: &o.From}, {Name: "destination", Field: &o.To},
	}, overrideColumns("", &o.Terms, &o.percent))
})

// changeRow is a row of corridor_changes.
type changeRow struct {
	ports.CorridorChange
	before, after *string // percent
}

var corridorChanges = schema.New("corridor_changes", nil, func(c *changeRow) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "seq", Field: &c.Number}, {Name: "changed_at", Field: &c.At}, {Name: "changed_by", Field: &c.By}, {Name: "note", Field: &c.Note},
		{Name: "platform_id", Field: &c.Platform}, {Name: "source", Field: &c.From}, {Name: "destination", Field: &c.To},
		{Name: "proposal_id", Field: &c.Approval.Proposal}, {Name: "approver", Field: schema.Optional(&c.Approval.By.Actor)},
	}, overrideColumns("old_", &c.Before, &c.before), overrideColumns("new_", &c.After, &c.after))
})

// overrideColumns are the columns of terms; NULL keeps the built-in value. percent holds the text of their percentage.
func overrideColumns(prefix string, o *corridor.Override, percent **string) schema.Columns {
	return schema.Columns{
		{Name: prefix + "fee_fixed", Field: &o.Fixed}, {Name: prefix + "fee_fraction", Field: percent},
		{Name: prefix + "min_sending", Field: &o.MinSending}, {Name: prefix + "max_sending", Field: &o.MaxSending},
		{Name: prefix + "lock_seconds", Field: schema.Converted(
			func() *int64 {
				if o.Lock == nil {
					return nil
				}
				return new(int64(*o.Lock / time.Second))
			},
			func(seconds *int64) error {
				if o.Lock = nil; seconds != nil {
					o.Lock = new(time.Duration(*seconds) * time.Second)
				}
				return nil
			})},
	}
}

// setPercent parses the text of the percentage of terms.
func setPercent(o *corridor.Override, text *string) error {
	if text == nil {
		return nil
	}
	percent, err := money.ParseFraction(*text)
	if err != nil {
		return fmt.Errorf("fee_fraction: %w", err)
	}
	o.Percent = &percent
	return nil
}

var saveCorridorOverride = overrides.Insert(`
	ON CONFLICT (coalesce(platform_id, '00000000-0000-0000-0000-000000000000'), source, destination) DO UPDATE
	SET fee_fixed = EXCLUDED.fee_fixed, fee_fraction = EXCLUDED.fee_fraction, min_sending = EXCLUDED.min_sending,
		max_sending = EXCLUDED.max_sending, lock_seconds = EXCLUDED.lock_seconds`)

// CorridorOverrides reads the whole table, the overrides for all platforms first.
func (db *DB) CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error) {
	return selectOverrides(ctx, db, db.read)
}

func selectOverrides(ctx context.Context, db *DB, read storage.Reader) ([]ports.CorridorOverride, error) {
	rows, err := selectRows(ctx, db, read, overrides, "ORDER BY platform_id NULLS FIRST, source, destination")
	if err != nil {
		return nil, err
	}
	var found []ports.CorridorOverride
	for _, row := range rows {
		if err := setPercent(&row.Terms, row.percent); err != nil {
			return nil, fmt.Errorf("corridor_overrides %s to %s: %w", row.From, row.To, err)
		}
		found = append(found, row.CorridorOverride)
	}
	return found, nil
}

// PriceSettings reads all platforms, but for those that were closed before the requests that still run began. Every process does so
// every ten seconds.
func (db *DB) PriceSettings(ctx context.Context) ([]platform.Platform, error) {
	return selectRows(ctx, db, db.read, priceSettings, `WHERE closed_at IS NULL OR closed_at > now() - interval '1 hour'`)
}

var priceSettings = platforms.Only("id", "currencies", "fee_configs")

// Pricing is a database in which operators change the prices.
type Pricing struct{ *DB }

// Pricing returns the prices of the database.
func (db *DB) Pricing() Pricing { return Pricing{db} }

// DoUnit implements ports.UnitsOfWork with a PricingTx. It works with the rights of the login, of which those of the service carry out
// only what is proposed; no two run beside each other. The trigger of corridor_overrides writes the history.
func (db Pricing) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return db.asOwner(ctx, overrides.Name, func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE corridor_overrides IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		return fn(ctx, &PricingTx{operatorTx{db.DB, tx, priceProposals}})
	})
}

// PricingTx is a transaction that has locked corridor_overrides.
type PricingTx struct{ operatorTx }

// CorridorOverrides reads the locked table.
func (t *PricingTx) CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error) {
	return selectOverrides(ctx, t.db, t.tx.Read)
}

// personText returns the id of a person as a setting of a transaction, which is empty for none.
func personText(id ident.Person) string {
	if id.IsZero() {
		return ""
	}
	return id.UUID().String()
}

// SaveOverride writes the override of a key; the history takes its author from the settings of the transaction.
func (t *PricingTx) SaveOverride(ctx context.Context, o ports.CorridorOverride, by ports.CorridorAuthor) error {
	var approved string
	if !by.Approval.IsZero() {
		approved = by.Approval.Proposal.UUID().String()
	}
	if _, err := t.tx.Exec(ctx, `SELECT set_config('causeway.change_note', $1, true), set_config('causeway.operator', $2, true),
		set_config('causeway.proposal', $3, true), set_config('causeway.approver', $4, true),
		set_config('causeway.person', $5, true)`, by.Note, by.By, approved, by.Approval.By.Actor, personText(by.Person)); err != nil {
		return err
	}
	if o.Terms.IsZero() { // an override of nothing removes the row
		_, err := t.tx.Exec(ctx, `DELETE FROM corridor_overrides WHERE platform_id IS NOT DISTINCT FROM $1 AND source = $2 AND destination = $3`,
			o.Platform, o.From, o.To)
		return err
	}
	row := overrideRow{CorridorOverride: o}
	if o.Terms.Percent != nil {
		row.percent = new(o.Terms.Percent.String())
	}
	return writeIn(ctx, t.db, t.tx, saveCorridorOverride, row)
}

// PricesAndChanges implements audit.PriceAudit.
func (db *DB) PricesAndChanges(ctx context.Context) (prices []ports.CorridorOverride, changes []ports.CorridorChange, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) (err error) {
		if prices, err = selectOverrides(ctx, db, readOn(tx)); err != nil {
			return err
		}
		changes, err = selectChanges(ctx, db, readOn(tx), ports.CorridorChangeFilter{})
		return err
	})
	return prices, changes, err
}

// CorridorChanges scans the whole history: it has a row for each change by an operator.
func (db *DB) CorridorChanges(ctx context.Context, f ports.CorridorChangeFilter) ([]ports.CorridorChange, error) {
	return selectChanges(ctx, db, db.queryRows, f)
}

func selectChanges(ctx context.Context, db *DB, read storage.Reader, f ports.CorridorChangeFilter) ([]ports.CorridorChange, error) {
	rows, err := selectRows(ctx, db, read, corridorChanges, `WHERE ($1::uuid IS NULL OR platform_id IS NULL OR platform_id = $1)
		AND $2 IN ('', source) AND $3 IN ('', destination) ORDER BY seq`, f.Platform, f.From, f.To)
	if err != nil {
		return nil, err
	}
	var found []ports.CorridorChange
	for _, row := range rows {
		if err := errors.Join(setPercent(&row.Before, row.before), setPercent(&row.After, row.after)); err != nil {
			return nil, fmt.Errorf("corridor_changes %d, %s to %s: %w", row.Number, row.From, row.To, err)
		}
		found = append(found, row.CorridorChange)
	}
	return found, nil
}
