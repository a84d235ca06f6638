package postgres

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// lookupRow is a row of lookups.
type lookupRow struct {
	bun.BaseModel `bun:"table:lookups"`

	PlatformID      uuid.UUID                 `bun:"platform_id,pk"`
	ID              uuid.UUID                 `bun:"id,pk"`
	CustomerID      uuid.NullUUID             `bun:"customer_id"`
	SenderUMA       string                    `bun:"sender_uma"`
	ReceiverUMA     string                    `bun:"receiver_uma"`
	ExternalID      uuid.NullUUID             `bun:"external_id"`
	RequestedFields []counterpartyFieldColumn `bun:"requested_fields,type:jsonb"`
	Currencies      []string                  `bun:"currencies,array"`
	StoredInfo      json.RawMessage           `bun:"receiver_info,type:jsonb"`
	ExpiresAt       time.Time                 `bun:"expires_at"`
	CreatedAt       time.Time                 `bun:"created_at"`

	ReceiverInfo map[string]string `bun:"-"`
}

// CreateLookup inserts one lookup.
func (u *unit) CreateLookup(ctx context.Context, l quote.Lookup) (err error) {
	row := &lookupRow{
		PlatformID: l.Platform.UUID(), ID: l.ID.UUID(), CustomerID: nullID(l.Customer.UUID()),
		SenderUMA: l.SenderUMA, ReceiverUMA: l.ReceiverUMA, ExternalID: nullID(l.External.UUID()),
		RequestedFields: []counterpartyFieldColumn{}, Currencies: []string{}, ReceiverInfo: map[string]string{},
		ExpiresAt: l.ExpiresAt, CreatedAt: l.CreatedAt,
	}
	for _, field := range l.Fields {
		row.RequestedFields = append(row.RequestedFields, counterpartyFieldColumn(field))
	}
	for _, currency := range l.Currencies {
		row.Currencies = append(row.Currencies, string(currency))
	}
	maps.Copy(row.ReceiverInfo, l.Facts)
	if row.StoredInfo, err = u.db.sealJSON(ctx, row.sealedRow(), lookupsReceiverInfo, row.ReceiverInfo); err != nil {
		return err
	}
	return u.insert(ctx, row)
}

func (row *lookupRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

// Lookup uses the primary key.
func (db *DB) Lookup(ctx context.Context, p ident.Platform, id ident.Lookup) (quote.Lookup, error) {
	var row lookupRow
	err := db.bun.NewSelect().Model(&row).
		Where("platform_id = ? AND id = ? AND expires_at > ?", p.UUID(), id.UUID(), db.clock.Now()).Scan(ctx)
	if isNoRows(err) {
		return quote.Lookup{}, fault.New(fault.LookupRequestNotFound, "There is no lookup %s, or it has expired. Look the receiver up again and use its lookupId.", id)
	}
	if err == nil {
		err = db.openJSON(ctx, row.sealedRow(), lookupsReceiverInfo, row.StoredInfo, &row.ReceiverInfo)
	}
	if err != nil {
		return quote.Lookup{}, err
	}
	return row.lookup(), nil
}

func (row *lookupRow) lookup() quote.Lookup {
	l := quote.Lookup{SenderUMA: row.SenderUMA, ReceiverUMA: row.ReceiverUMA, ExpiresAt: row.ExpiresAt.UTC(), CreatedAt: row.CreatedAt.UTC()}
	l.Platform.SetUUID(row.PlatformID)
	l.ID.SetUUID(row.ID)
	l.Customer.SetUUID(row.CustomerID.UUID)
	l.External.SetUUID(row.ExternalID.UUID)
	for _, field := range row.RequestedFields {
		l.Fields = append(l.Fields, transaction.InfoField(field))
	}
	for _, currency := range row.Currencies {
		l.Currencies = append(l.Currencies, money.Currency(currency))
	}
	if len(row.ReceiverInfo) > 0 {
		l.Facts = row.ReceiverInfo
	}
	return l
}
