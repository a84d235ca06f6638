package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// platformRow is a row of platforms.
type platformRow struct {
	bun.BaseModel `bun:"table:platforms"`

	ID                uuid.UUID                `bun:"id,pk"`
	Name              string                   `bun:"name"`
	Environment       string                   `bun:"environment"`
	Regulated         bool                     `bun:"regulated"`
	UMADomain         string                   `bun:"uma_domain"`
	UMASubdomain      string                   `bun:"uma_subdomain"`
	WebhookEndpoint   string                   `bun:"webhook_endpoint"`
	WebhookSignatures []string                 `bun:"webhook_signatures,array"`
	InvitationURL     string                   `bun:"invitation_url"`
	Currencies        []platformCurrencyColumn `bun:"currencies,type:jsonb"`
	RedirectOrigins   []string                 `bun:"kyc_redirect_origins,array"`
	Wallets           *walletsColumn           `bun:"embedded_wallets,type:jsonb"`
	CreatedAt         time.Time                `bun:"created_at"`
	UpdatedAt         time.Time                `bun:"updated_at"`
}

// walletsColumn is the embedded_wallets column; NULL if nothing is set.
type walletsColumn struct {
	AppName        string   `json:"appName,omitempty"`
	CodeLength     int      `json:"codeLength"`
	Alphanumeric   bool     `json:"alphanumeric,omitempty"`
	CodeSeconds    int      `json:"codeSeconds"`
	FromAddress    string   `json:"fromAddress,omitempty"`
	FromName       string   `json:"fromName"`
	ReplyTo        string   `json:"replyTo,omitempty"`
	LogoURL        string   `json:"logoUrl,omitempty"`
	PasskeyRPID    string   `json:"passkeyRpId,omitempty"`
	PasskeyOrigins []string `json:"passkeyOrigins,omitempty"`
	OAuthClientIDs []string `json:"oauthClientIds,omitempty"`
}

// platformCurrencyColumn is one currency in the currencies column.
type platformCurrencyColumn struct {
	Code       string                    `json:"code"`
	Min        int64                     `json:"min"`
	Max        int64                     `json:"max"`
	Fields     []counterpartyFieldColumn `json:"fields,omitempty"`
	Directions []string                  `json:"directions"`
}

type counterpartyFieldColumn struct {
	Name      string `json:"name"`
	Mandatory bool   `json:"mandatory,omitempty"`
}

// CreatePlatform inserts one platform.
func (u *unit) CreatePlatform(ctx context.Context, p platform.Platform) error {
	return u.insert(ctx, newPlatformRow(p))
}

// LockPlatform uses the primary key.
func (u *unit) LockPlatform(ctx context.Context, id ident.Platform) (platform.Platform, error) {
	if err := u.flush(ctx); err != nil {
		return platform.Platform{}, err
	}
	return selectPlatform(ctx, u.db.bun.NewSelect().Conn(u.sqlConn).For("UPDATE"), id)
}

// LockPlatformShared uses the primary key. It takes the lock that the foreign key of a
// new customer takes anyway; it conflicts only with LockPlatform.
func (u *unit) LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error) {
	if err := u.flush(ctx); err != nil {
		return platform.Platform{}, err
	}
	return selectPlatform(ctx, u.db.bun.NewSelect().Conn(u.sqlConn).For("KEY SHARE"), id)
}

// UpdatePlatform writes the settings that a platform or an operator can change.
func (u *unit) UpdatePlatform(ctx context.Context, p platform.Platform) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	_, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(newPlatformRow(p)).
		Column("regulated", "uma_domain", "webhook_endpoint", "webhook_signatures", "currencies", "kyc_redirect_origins", "invitation_url", "embedded_wallets", "updated_at").WherePK().Exec(ctx)
	return err
}

// Platform uses the primary key.
func (db *DB) Platform(ctx context.Context, id ident.Platform) (platform.Platform, error) {
	return selectPlatform(ctx, db.bun.NewSelect(), id)
}

func selectPlatform(ctx context.Context, query *bun.SelectQuery, id ident.Platform) (platform.Platform, error) {
	var row platformRow
	err := query.Model(&row).Where("id = ?", id.UUID()).Scan(ctx)
	if isNoRows(err) {
		return platform.Platform{}, fault.New(fault.NotFound, "There is no platform %s.", id)
	}
	if err != nil {
		return platform.Platform{}, err
	}
	return row.platform(), nil
}

func newPlatformRow(p platform.Platform) *platformRow {
	row := &platformRow{
		ID: p.ID.UUID(), Name: p.Name, Environment: string(p.Environment), Regulated: p.Regulated,
		UMADomain: p.UMADomain, UMASubdomain: p.UMASubdomain, WebhookEndpoint: p.WebhookEndpoint, InvitationURL: p.InvitationURL,
		WebhookSignatures: p.WebhookSignatures.Names(), Currencies: make([]platformCurrencyColumn, len(p.Currencies)),
		RedirectOrigins: append([]string{}, p.KYCRedirectOrigins...), CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	if w := p.Wallets; w != nil {
		row.Wallets = &walletsColumn{
			AppName: w.AppName, CodeLength: w.CodeLength, Alphanumeric: w.AlphanumericCodes, CodeSeconds: int(w.CodeLifetime / time.Second),
			FromAddress: w.FromAddress, FromName: w.FromName, ReplyTo: w.ReplyTo, LogoURL: w.LogoURL,
			PasskeyRPID: w.PasskeyRPID, PasskeyOrigins: w.PasskeyOrigins, OAuthClientIDs: w.OAuthClientIDs,
		}
	}
	for i, c := range p.Currencies {
		column := platformCurrencyColumn{Code: string(c.Code), Min: c.MinAmount, Max: c.MaxAmount, Directions: c.Directions}
		for _, field := range c.RequiredCounterpartyFields {
			column.Fields = append(column.Fields, counterpartyFieldColumn(field))
		}
		row.Currencies[i] = column
	}
	return row
}

func (row *platformRow) platform() platform.Platform {
	p := platform.Platform{
		Name: row.Name, Environment: platform.Environment(row.Environment), Regulated: row.Regulated,
		UMADomain: row.UMADomain, UMASubdomain: row.UMASubdomain, WebhookEndpoint: row.WebhookEndpoint, InvitationURL: row.InvitationURL,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
	}
	if len(row.RedirectOrigins) > 0 {
		p.KYCRedirectOrigins = row.RedirectOrigins
	}
	if w := row.Wallets; w != nil {
		p.Wallets = &platform.Wallets{
			AppName: w.AppName, CodeLength: w.CodeLength, AlphanumericCodes: w.Alphanumeric, CodeLifetime: time.Duration(w.CodeSeconds) * time.Second,
			FromAddress: w.FromAddress, FromName: w.FromName, ReplyTo: w.ReplyTo, LogoURL: w.LogoURL,
			PasskeyRPID: w.PasskeyRPID, PasskeyOrigins: w.PasskeyOrigins, OAuthClientIDs: w.OAuthClientIDs,
		}
	}
	p.ID.SetUUID(row.ID)
	p.WebhookSignatures, _ = platform.ParseWebhookSignatures(row.WebhookSignatures)
	for _, column := range row.Currencies {
		p.Currencies = append(p.Currencies, column.settings())
	}
	return p
}

func (column platformCurrencyColumn) settings() platform.Currency {
	c := platform.Currency{Code: money.Currency(column.Code), MinAmount: column.Min, MaxAmount: column.Max, Directions: column.Directions}
	for _, field := range column.Fields {
		c.RequiredCounterpartyFields = append(c.RequiredCounterpartyFields, platform.CounterpartyField(field))
	}
	return c
}

// Platforms reads at most limit platforms after one, in order of creation. Uses the primary key.
func (db *DB) Platforms(ctx context.Context, after ident.Platform, limit int) ([]platform.Platform, error) {
	var rows []platformRow
	if err := db.readBun.NewSelect().Model(&rows).Where("id > ?", after.UUID()).Order("id").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, err
	}
	platforms := make([]platform.Platform, len(rows))
	for i := range rows {
		platforms[i] = rows[i].platform()
	}
	return platforms, nil
}

// PlatformIDs reads the ids of at most limit platforms, in order of creation.
// Uses the primary key.
func (db *DB) PlatformIDs(ctx context.Context, limit int) ([]ident.Platform, error) {
	var found []uuid.UUID
	if err := db.bun.NewSelect().Model((*platformRow)(nil)).Column("id").Order("id").Limit(int64(limit)).Scan(ctx, &found); err != nil {
		return nil, err
	}
	ids := make([]ident.Platform, len(found))
	for i, id := range found {
		ids[i].SetUUID(id)
	}
	return ids, nil
}
