package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

var (
	_ ports.Pricing    = (*DB)(nil)
	_ ports.PriceAudit = (*DB)(nil)
)

// overrideRow is a row of corridor_overrides. A row without a platform applies to all.
type overrideRow struct {
	bun.BaseModel `bun:"table:corridor_overrides"`

	PlatformID  uuid.NullUUID `bun:"platform_id"`
	Source      string        `bun:"source"`
	Destination string        `bun:"destination"`
	Terms       overrideTerms `bun:"embed:"`
}

// changeRow is a row of corridor_changes.
type changeRow struct {
	bun.BaseModel `bun:"table:corridor_changes"`

	Seq         int64         `bun:"seq"`
	ChangedAt   time.Time     `bun:"changed_at"`
	ChangedBy   string        `bun:"changed_by"`
	Note        string        `bun:"note"`
	PlatformID  uuid.NullUUID `bun:"platform_id"`
	Source      string        `bun:"source"`
	Destination string        `bun:"destination"`
	ProposalID  uuid.NullUUID `bun:"proposal_id"`
	Approver    string        `bun:"approver"`
	Before      overrideTerms `bun:"embed:old_"`
	After       overrideTerms `bun:"embed:new_"`
}

// overrideTerms are the columns of an override; NULL keeps the built-in value.
type overrideTerms struct {
	FeeFixed    *int64  `bun:"fee_fixed"`
	FeeFraction *string `bun:"fee_fraction"`
	MinSending  *int64  `bun:"min_sending"`
	MaxSending  *int64  `bun:"max_sending"`
	LockSeconds *int64  `bun:"lock_seconds"`
}

// CorridorOverrides reads the whole table, the overrides for all platforms first.
func (db *DB) CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error) {
	return selectOverrides(ctx, db.bun)
}

func selectOverrides(ctx context.Context, from bun.IDB) ([]ports.CorridorOverride, error) {
	var rows []overrideRow
	if err := from.NewSelect().Model(&rows).OrderExpr("platform_id NULLS FIRST, source, destination").Scan(ctx); err != nil {
		return nil, err
	}
	var found []ports.CorridorOverride
	for _, row := range rows {
		override := ports.CorridorOverride{From: money.Currency(row.Source), To: money.Currency(row.Destination)}
		override.Platform.SetUUID(row.PlatformID.UUID)
		var err error
		if override.Terms, err = row.Terms.override(); err != nil {
			return nil, fmt.Errorf("corridor_overrides %s to %s: %w", row.Source, row.Destination, err)
		}
		found = append(found, override)
	}
	return found, nil
}

// PlatformCurrencies reads the settings of all platforms for their currencies: one for each
// platform and currency. Every process does so every ten seconds.
func (db *DB) PlatformCurrencies(ctx context.Context) ([]ports.PlatformCurrency, error) {
	platforms, err := selectRows(ctx, db, db.read, currenciesOfPlatforms, "")
	var found []ports.PlatformCurrency
	for _, p := range platforms {
		for _, currency := range p.Currencies {
			found = append(found, ports.PlatformCurrency{Platform: p.ID, Currency: currency})
		}
	}
	return found, err
}

var currenciesOfPlatforms = platforms.Only("id", "currencies")

// ChangePricing works with the rights of the login and not of the service, which may only read the tables. The
// trigger of corridor_overrides writes the history.
func (db *DB) ChangePricing(ctx context.Context, fn func(context.Context, ports.PricingTx) error) error {
	err := db.inTransaction(ctx, func(tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, `SET LOCAL ROLE NONE`); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `LOCK TABLE corridor_overrides IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		return fn(ctx, pricingTx{db, tx})
	})
	if isForbidden(err) {
		return fmt.Errorf("this login may not change corridor_overrides; use the one that migrates the database: %w", err)
	}
	return translate(err)
}

// pricingTx is a transaction of the owner that has locked corridor_overrides.
type pricingTx struct {
	db *DB
	tx bun.Tx
}

// CorridorOverrides implements ports.PricingReader.
func (t pricingTx) CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error) {
	return selectOverrides(ctx, t.tx)
}

// FourEyesPlatforms reads the latest settings of every platform, by the primary key.
func (t pricingTx) FourEyesPlatforms(ctx context.Context, a books.Action) ([]ident.Platform, error) {
	var ids []uuid.UUID
	if err := t.tx.NewRaw(`SELECT platform_id FROM (SELECT DISTINCT ON (platform_id) platform_id, four_eyes FROM ledger_settings ORDER BY platform_id, version DESC) latest
		WHERE ? = ANY (four_eyes) ORDER BY platform_id`, string(a)).Scan(ctx, &ids); err != nil {
		return nil, err
	}
	platforms := make([]ident.Platform, len(ids))
	for i, id := range ids {
		platforms[i].SetUUID(id)
	}
	return platforms, nil
}

// SaveOverride writes the override of a key; the history takes its author from the settings of the transaction.
func (t pricingTx) SaveOverride(ctx context.Context, o ports.CorridorOverride, by ports.CorridorAuthor) error {
	var approved string
	if !by.Approval.IsZero() {
		approved = by.Approval.Proposal.UUID().String()
	}
	if _, err := t.tx.ExecContext(ctx, `SELECT set_config('causeway.change_note', ?, true), set_config('causeway.operator', ?, true),
		set_config('causeway.proposal', ?, true), set_config('causeway.approver', ?, true)`, by.Note, by.By, approved, by.Approval.By.Actor); err != nil {
		return err
	}
	if a := t.db.operatorAction; a != nil {
		if _, err := t.tx.Tx.ExecContext(ctx, insertOperatorAction, operatorActionColumns(*a)...); err != nil {
			return err
		}
	}
	return saveOverride(ctx, t.tx, o)
}

// saveOverride replaces the override of a key; an override of nothing removes the row.
func saveOverride(ctx context.Context, tx bun.Tx, o ports.CorridorOverride) error {
	row := &overrideRow{PlatformID: nullID(o.Platform.UUID()), Source: string(o.From), Destination: string(o.To), Terms: newOverrideTerms(o.Terms)}
	if o.Terms.IsZero() {
		_, err := tx.NewDelete().Model(row).
			Where("platform_id IS NOT DISTINCT FROM ?", row.PlatformID).Where("source = ?", row.Source).Where("destination = ?", row.Destination).Exec(ctx)
		return err
	}
	_, err := tx.NewInsert().Model(row).
		On("CONFLICT (coalesce(platform_id, '00000000-0000-0000-0000-000000000000'), source, destination) DO UPDATE").
		Set("fee_fixed = EXCLUDED.fee_fixed").Set("fee_fraction = EXCLUDED.fee_fraction").
		Set("min_sending = EXCLUDED.min_sending").Set("max_sending = EXCLUDED.max_sending").
		Set("lock_seconds = EXCLUDED.lock_seconds").Returning("NULL").Exec(ctx)
	return err
}

// PricesAndChanges implements ports.PriceAudit.
func (db *DB) PricesAndChanges(ctx context.Context) (prices []ports.CorridorOverride, changes []ports.CorridorChange, err error) {
	err = db.bun.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, func(ctx context.Context, tx bun.Tx) (err error) {
		if prices, err = selectOverrides(ctx, tx); err != nil {
			return err
		}
		changes, err = selectChanges(ctx, tx, ports.CorridorChangeFilter{})
		return err
	})
	return prices, changes, err
}

// CorridorChanges scans the whole history: it has a row for each change by an operator.
func (db *DB) CorridorChanges(ctx context.Context, f ports.CorridorChangeFilter) ([]ports.CorridorChange, error) {
	return selectChanges(ctx, db.bun, f)
}

func selectChanges(ctx context.Context, from bun.IDB, f ports.CorridorChangeFilter) ([]ports.CorridorChange, error) {
	var rows []changeRow
	query := from.NewSelect().Model(&rows).OrderExpr("seq")
	if !f.Platform.IsZero() {
		query = query.Where("platform_id IS NULL OR platform_id = ?", f.Platform.UUID())
	}
	if f.From != "" {
		query = query.Where("source = ?", string(f.From))
	}
	if f.To != "" {
		query = query.Where("destination = ?", string(f.To))
	}
	if err := query.Scan(ctx); err != nil {
		return nil, err
	}
	var found []ports.CorridorChange
	for _, row := range rows {
		change := ports.CorridorChange{Number: row.Seq, At: row.ChangedAt.UTC(), CorridorAuthor: ports.CorridorAuthor{By: row.ChangedBy, Note: row.Note}}
		change.Approval.By.Actor = row.Approver
		change.Approval.Proposal.SetUUID(row.ProposalID.UUID)
		change.From, change.To = money.Currency(row.Source), money.Currency(row.Destination)
		change.Platform.SetUUID(row.PlatformID.UUID)
		var err error
		if change.Before, err = row.Before.override(); err == nil {
			change.After, err = row.After.override()
		}
		if err != nil {
			return nil, fmt.Errorf("corridor_changes %d, %s to %s: %w", row.Seq, row.Source, row.Destination, err)
		}
		found = append(found, change)
	}
	return found, nil
}

func (t overrideTerms) override() (corridor.Override, error) {
	override := corridor.Override{Fixed: t.FeeFixed, MinSending: t.MinSending, MaxSending: t.MaxSending}
	if t.FeeFraction != nil {
		percent, err := money.ParseFraction(*t.FeeFraction)
		if err != nil {
			return override, fmt.Errorf("fee_fraction: %w", err)
		}
		override.Percent = &percent
	}
	if t.LockSeconds != nil {
		override.Lock = new(time.Duration(*t.LockSeconds) * time.Second)
	}
	return override, nil
}

func newOverrideTerms(override corridor.Override) overrideTerms {
	terms := overrideTerms{FeeFixed: override.Fixed, MinSending: override.MinSending, MaxSending: override.MaxSending}
	if override.Percent != nil {
		terms.FeeFraction = new(override.Percent.String())
	}
	if override.Lock != nil {
		terms.LockSeconds = new(int64(*override.Lock / time.Second))
	}
	return terms
}
