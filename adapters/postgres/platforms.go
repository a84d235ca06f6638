package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/sca"
)

// platforms is the table platforms.
var platforms = schema.New("platforms", []string{"id"}, func(p *platform.Platform) schema.Columns {
	return schema.Columns{
		{Name: "id", Field: &p.ID}, {Name: "name", Field: &p.Name}, {Name: "environment", Field: &p.Environment},
		{Name: "regulated", Field: &p.Regulated},
		{Name: "uma_domain", Field: &p.UMADomain}, {Name: "uma_subdomain", Field: &p.UMASubdomain},
		{Name: "webhook_endpoint", Field: &p.WebhookEndpoint},
		{Name: "webhook_signatures", Type: "text[]", Field: schema.Converted(
			func() []string { return p.WebhookSignatures.Names() },
			func(names []string) error {
				p.WebhookSignatures, _ = platform.ParseWebhookSignatures(names)
				return nil
			})},
		{Name: "invitation_url", Field: &p.InvitationURL}, {Name: "lightning_addresses", Field: &p.LightningAddresses},
		{Name: "currencies", Type: "jsonb", Field: jsonList(&p.Currencies, newPlatformCurrencyColumn, platformCurrencyColumn.settings)},
		{Name: "kyc_redirect_origins", Type: "text[]", Field: schema.Array(&p.KYCRedirectOrigins)},
		{Name: "embedded_wallets", Type: "jsonb", Field: schema.JSON(
			func() *walletsColumn { return newWalletsColumn(p.Wallets) },
			func(column *walletsColumn) { p.Wallets = column.wallets() })},
		{Name: "sca_payments_since", Field: &p.SCAPaymentsSince},
		{Name: "sca_exemptions", Type: "text[]", Field: schema.Converted(p.SCAExemptions.Names,
			func(names []string) error {
				p.SCAExemptions, _ = sca.ParseExemptions(names)
				return nil
			})},
		{Name: "fee_configs", Type: "jsonb", Field: jsonList(&p.Fees, newFeeColumn, feeColumn.config)},
		{Name: "sca_regions", Type: "text[]", Field: schema.Converted( // NULL is nil
			func() []string { return p.SCARegions },
			func(regions []string) error {
				p.SCARegions = regions
				return nil
			})},
		{Name: "created_at", Field: &p.CreatedAt}, {Name: "updated_at", Field: &p.UpdatedAt},
		{Name: "closed_at", Field: &p.ClosedAt}, {Name: "successor_id", Field: &p.Successor},
		{Name: "listener_until", Field: &p.ListenerUntil},
	}
})

var (
	insertPlatform = platforms.Insert("")
	updatePlatform = platforms.Update("regulated", "uma_domain", "webhook_endpoint", "webhook_signatures", "currencies",
		"kyc_redirect_origins",
		"invitation_url", "lightning_addresses",
		"embedded_wallets", "fee_configs", "sca_regions", "sca_payments_since", "sca_exemptions", "updated_at")
	closePlatform = platforms.Update("closed_at", "successor_id", "webhook_endpoint", "updated_at")
)

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

// feeColumn is one fee in the fee_configs column.
type feeColumn struct {
	Type        string `json:"type"`
	Source      string `json:"source"`
	Fixed       int64  `json:"fixed"`
	BasisPoints int64  `json:"basisPoints"`
}

func newFeeColumn(c platform.FeeConfig) feeColumn {
	return feeColumn{string(c.Type), string(c.Source), c.Fee.Fixed.Minor, c.Fee.BasisPoints}
}

func (c feeColumn) config() platform.FeeConfig {
	source := money.Currency(c.Source)
	return platform.FeeConfig{Type: platform.FeeType(c.Type), Source: source,
		Fee: platform.Fee{Fixed: money.Amount{Minor: c.Fixed, Currency: source}, BasisPoints: c.BasisPoints}}
}

// CreatePlatform inserts one platform.
func (u *Unit) CreatePlatform(ctx context.Context, p platform.Platform) error {
	return writeNow(ctx, u, insertPlatform, p, nil)
}

// LockPlatform uses the primary key.
func (u *Unit) LockPlatform(ctx context.Context, id ident.Platform) (platform.Platform, error) {
	return selectExisting(ctx, u.db, u.query, platforms, platformNotFound(id), `WHERE id = $1 FOR UPDATE`, id)
}

// LockPlatformShared uses the primary key. It takes the lock that the foreign key of a
// new customer takes anyway; it conflicts only with LockPlatform.
func (u *Unit) LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error) {
	return selectExisting(ctx, u.db, u.query, platforms, platformNotFound(id), `WHERE id = $1 FOR KEY SHARE`, id)
}

// UpdatePlatform writes the settings that a platform or an operator can change.
func (u *Unit) UpdatePlatform(ctx context.Context, p platform.Platform) error {
	return writeNow(ctx, u, updatePlatform, p, nil)
}

// ClosePlatform uses the primary keys. An event that another unit of work is adding stays in the queue until it is given up.
func (u *Unit) ClosePlatform(ctx context.Context, p platform.Platform) error {
	u.revokes = true
	if err := writeNow(ctx, u, closePlatform, p, platformNotFound(p.ID)); err != nil {
		return err
	}
	u.queueExec(`DELETE FROM webhook_queue WHERE platform_id = $1`, p.ID)
	u.queueExec(`DELETE FROM webhook_backlog WHERE platform_id = $1`, p.ID)
	return nil
}

// SetListener uses the primary key. It does not lock the platform against what else is written.
func (db *DB) SetListener(ctx context.Context, p ident.Platform, until time.Time) error {
	_, err := db.pool.Exec(ctx, `UPDATE platforms SET listener_until = $2 WHERE id = $1 AND closed_at IS NULL`,
		pgx.QueryExecModeCacheStatement, p, until)
	return err
}

// isOpen is the condition that the platform $1 is not closed. It uses the primary key.
const isOpen = `EXISTS (SELECT FROM platforms o WHERE o.id = $1 AND o.closed_at IS NULL)`

// Platform uses the primary key.
func (db *DB) Platform(ctx context.Context, id ident.Platform) (platform.Platform, error) {
	return selectExisting(ctx, db, db.read, platforms, platformNotFound(id), `WHERE id = $1`, id)
}

func platformNotFound(id ident.Platform) error {
	return fault.New(fault.NotFound, "There is no platform %s.", id)
}

func newWalletsColumn(w *platform.Wallets) *walletsColumn {
	if w == nil {
		return nil
	}
	return &walletsColumn{
		AppName: w.AppName, CodeLength: w.CodeLength, Alphanumeric: w.AlphanumericCodes, CodeSeconds: int(w.CodeLifetime / time.Second),
		FromAddress: w.FromAddress, FromName: w.FromName, ReplyTo: w.ReplyTo, LogoURL: w.LogoURL,
		PasskeyRPID: w.PasskeyRPID, PasskeyOrigins: w.PasskeyOrigins, OAuthClientIDs: w.OAuthClientIDs,
	}
}

func (w *walletsColumn) wallets() *platform.Wallets {
	if w == nil {
		return nil
	}
	return &platform.Wallets{
		AppName: w.AppName, CodeLength: w.CodeLength, AlphanumericCodes: w.Alphanumeric, CodeLifetime: time.Duration(w.CodeSeconds) * time.Second,
		FromAddress: w.FromAddress, FromName: w.FromName, ReplyTo: w.ReplyTo, LogoURL: w.LogoURL,
		PasskeyRPID: w.PasskeyRPID, PasskeyOrigins: w.PasskeyOrigins, OAuthClientIDs: w.OAuthClientIDs,
	}
}

func newPlatformCurrencyColumn(c platform.Currency) platformCurrencyColumn {
	return platformCurrencyColumn{Code: string(c.Code), Min: c.MinAmount, Max: c.MaxAmount, Directions: c.Directions,
		Fields: mapped(c.RequiredCounterpartyFields,
			func(f platform.CounterpartyField) counterpartyFieldColumn { return counterpartyFieldColumn(f) })}
}

func (column platformCurrencyColumn) settings() platform.Currency {
	return platform.Currency{Code: money.Currency(column.Code), MinAmount: column.Min, MaxAmount: column.Max, Directions: column.Directions,
		RequiredCounterpartyFields: mapped(column.Fields,
			func(f counterpartyFieldColumn) platform.CounterpartyField { return platform.CounterpartyField(f) })}
}

// Platforms reads at most limit platforms after one, in order of creation. Uses the primary key.
func (db *DB) Platforms(ctx context.Context, after ident.Platform, limit int) ([]platform.Platform, error) {
	return selectRows(ctx, db, db.queryRows, platforms, `WHERE id > $1 ORDER BY id LIMIT $2`, after.UUID(), limit)
}
