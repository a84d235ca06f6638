package postgres

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/uma"
	"causeway/ports"
)

var _ ports.UMAStore = (*DB)(nil)

// umaKeySecrets is the column secrets.
type umaKeySecrets struct {
	Signing    []byte `json:"signing"`
	Encryption []byte `json:"encryption"`
}

// umaKeys is the table uma_keys.
var umaKeys = schema.New("uma_keys", keyOfPlatform, func(k *uma.KeyPair) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &k.Platform}, {Name: "id", Field: &k.ID}, {Name: "number", Field: &k.Number},
		sealed.JSON(sealed.UMAKeysSecrets,
			func() umaKeySecrets { return umaKeySecrets{k.Signing, k.Encryption} },
			func(s umaKeySecrets) { k.Signing, k.Encryption = s.Signing, s.Encryption }),
		{Name: "active_from", Field: &k.ActiveFrom}, {Name: "created_at", Field: &k.CreatedAt},
	}
})

var insertUMAKeys = umaKeys.Insert("ON CONFLICT DO NOTHING RETURNING number")

// UMAKeys uses the primary key.
func (db *DB) UMAKeys(ctx context.Context, p ident.Platform) (uma.KeyRing, error) {
	return selectRows(ctx, db, db.read, umaKeys, `WHERE platform_id = $1`, p)
}

// AddUMAKeys relies on uma_key_number_unique.
func (db *DB) AddUMAKeys(ctx context.Context, pair uma.KeyPair) (bool, error) {
	columns, err := sealed.ToWrite(ctx, db.sealed, insertUMAKeys, &pair)
	if err != nil {
		return false, err
	}
	added, err := queryValues[int](ctx, db.read, insertUMAKeys.SQL, columns.Fields()...)
	return len(added) == 1, err
}

// DeleteUMAKeys uses the primary key.
func (db *DB) DeleteUMAKeys(ctx context.Context, p ident.Platform, pairs []uma.KeyPair) error {
	ids := mapped(pairs, func(k uma.KeyPair) uuid.UUID { return k.ID })
	_, err := db.exec(ctx, `DELETE FROM uma_keys WHERE platform_id = $1 AND id = ANY($2)`, p, ids)
	return err
}

// UMAPlatform scans the platforms, which are few.
func (db *DB) UMAPlatform(ctx context.Context, domain string) (platform.Platform, bool, error) {
	found, err := selectRows(ctx, db, db.read, platforms, `WHERE uma_domain = $1 AND environment = 'PRODUCTION' LIMIT 2`, domain)
	if err != nil || len(found) != 1 {
		return platform.Platform{}, false, err
	}
	return found[0], true, nil
}

// SaveUMANonce uses the primary key.
func (db *DB) SaveUMANonce(ctx context.Context, p ident.Platform, domain, nonce string, until time.Time) (bool, error) {
	hash := sha256.Sum256([]byte(domain + "\x00" + nonce))
	added, err := db.exec(ctx, `INSERT INTO uma_nonces (platform_id, hash, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		p, hash[:], until)
	return added == 1, err
}

// umaPeers is the table uma_peers.
var umaPeers = schema.New("uma_peers", []string{"platform_id", "domain"}, func(k *ofPlatform[uma.PeerKeys]) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &k.platform}, {Name: "domain", Field: &k.value.Domain},
		{Name: "signing_key", Field: &k.value.Signing}, {Name: "encryption_key", Field: &k.value.Encryption},
		{Name: "expires_at", Field: &k.value.Until},
	}
})

var saveUMAPeer = umaPeers.Insert(`ON CONFLICT (platform_id, domain) DO UPDATE
	SET signing_key = EXCLUDED.signing_key, encryption_key = EXCLUDED.encryption_key, expires_at = EXCLUDED.expires_at`)

// UMAPeer uses the primary key.
func (db *DB) UMAPeer(ctx context.Context, p ident.Platform, domain string) (uma.PeerKeys, bool, error) {
	row, found, err := selectRow(ctx, db, db.read, umaPeers, `WHERE platform_id = $1 AND domain = $2`, p, domain)
	return row.value, found, err
}

// SaveUMAPeer uses the primary key.
func (db *DB) SaveUMAPeer(ctx context.Context, p ident.Platform, keys uma.PeerKeys) error {
	row := ofPlatform[uma.PeerKeys]{p, keys}
	columns, err := sealed.ToWrite(ctx, db.sealed, saveUMAPeer, &row)
	if err == nil {
		_, err = db.exec(ctx, saveUMAPeer.SQL, columns.Fields()...)
	}
	return err
}

// UMAPeers uses the primary key.
func (db *DB) UMAPeers(ctx context.Context, p ident.Platform, limit int) ([]string, error) {
	return queryValues[string](ctx, db.read, `SELECT domain FROM uma_peers WHERE platform_id = $1 ORDER BY domain LIMIT $2`, p, limit)
}

// umaReceiverColumn is the column uma_receiver of lookups; NULL for none.
type umaReceiverColumn struct {
	Callback   string                    `json:"callback"`
	Currencies []umaCurrencyColumn       `json:"currencies"`
	TravelRule bool                      `json:"travelRule,omitempty"`
	Wanted     []counterpartyFieldColumn `json:"wanted,omitempty"`
}

type umaCurrencyColumn struct {
	Code       string `json:"code"`
	Decimals   int    `json:"decimals"`
	Multiplier string `json:"multiplier"` // decimal
	Min        int64  `json:"min"`
	Max        int64  `json:"max"`
}

func newUMAReceiverColumn(r *uma.Receiver) *umaReceiverColumn {
	if r == nil {
		return nil
	}
	return &umaReceiverColumn{Callback: r.Callback, TravelRule: r.TravelRule, Wanted: mapped(r.Wanted, newInfoField),
		Currencies: mapped(r.Currencies, func(c uma.Currency) umaCurrencyColumn {
			return umaCurrencyColumn{Code: string(c.Code), Decimals: c.Decimals, Multiplier: c.Multiplier.String(), Min: c.Min, Max: c.Max}
		})}
}

func (column *umaReceiverColumn) receiver() *uma.Receiver {
	if column == nil {
		return nil
	}
	return &uma.Receiver{Callback: column.Callback, TravelRule: column.TravelRule, Wanted: mapped(column.Wanted, infoField),
		Currencies: mapped(column.Currencies, func(c umaCurrencyColumn) uma.Currency {
			return uma.Currency{Code: money.Currency(c.Code), Decimals: c.Decimals, Multiplier: storedMultiplier(c.Multiplier),
				Min: c.Min, Max: c.Max}
		})}
}

// storedMultiplier returns 0 for a text that is none, so that the currency is not usable.
func storedMultiplier(text string) money.Rate {
	rate, err := money.ParseRate(strings.TrimSpace(text))
	if err != nil {
		return money.Rate{}
	}
	return rate
}

// umaChannelColumn is an entry of the column channels of uma_channels.
type umaChannelColumn struct {
	Outpoint      string `json:"outpoint"`
	MilliSatoshis int64  `json:"milliSatoshis"`
}

// umaChannels is the table uma_channels.
var umaChannels = schema.New("uma_channels", []string{"platform_id", "transaction_id"}, func(c *umaChannelsRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Key.Platform}, {Name: "transaction_id", Field: &c.Key.ID},
		{Name: "channels", Type: "jsonb", Field: jsonList(&c.Channels, func(u uma.ChannelUse) umaChannelColumn { return umaChannelColumn(u) },
			func(u umaChannelColumn) uma.ChannelUse { return uma.ChannelUse(u) })},
		{Name: "received_at", Field: &c.ReceivedAt},
	}
})

type umaChannelsRow struct {
	Key        ports.TransactionKey
	Channels   []uma.ChannelUse
	ReceivedAt time.Time
}

var insertUMAChannels = umaChannels.Insert("ON CONFLICT DO NOTHING")

// SaveUMAChannels uses the primary key.
func (db *DB) SaveUMAChannels(ctx context.Context, key ports.TransactionKey, channels []uma.ChannelUse, at time.Time) error {
	row := umaChannelsRow{key, channels, at}
	columns, err := sealed.ToWrite(ctx, db.sealed, insertUMAChannels, &row)
	if err == nil {
		_, err = db.exec(ctx, insertUMAChannels.SQL, columns.Fields()...)
	}
	return err
}

// UMAChannels uses the primary key.
func (db *DB) UMAChannels(ctx context.Context, key ports.TransactionKey) ([]uma.ChannelUse, error) {
	row, _, err := selectRow(ctx, db, db.read, umaChannels, `WHERE platform_id = $1 AND transaction_id = $2`, key.Platform, key.ID)
	return row.Channels, err
}

// RevokeUMAKeys uses the primary key.
func (u *Unit) RevokeUMAKeys(ctx context.Context, p ident.Platform) error {
	return u.execOne(ctx, nil, `DELETE FROM uma_keys WHERE platform_id = $1`, p)
}

// ForgetUMAPeer uses the primary key.
func (u *Unit) ForgetUMAPeer(ctx context.Context, p ident.Platform, domain string) error {
	return u.execOne(ctx, nil, `DELETE FROM uma_peers WHERE platform_id = $1 AND domain = $2`, p, domain)
}
