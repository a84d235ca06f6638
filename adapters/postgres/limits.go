package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/transaction"
)

// limits is the table limits.
var limits = schema.New("limits", nil, func(r *limit.Rule) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "currency", Field: &r.Currency}, {Name: "customer", Field: &r.Customer},
		{Name: "region", Field: &r.Region}, {Name: "per_payment", Field: &r.PerPayment}, {Name: "daily", Field: &r.Daily},
		{Name: "changed_at", Field: &r.ChangedAt},
	}
})

var saveLimit = limits.Insert(`
	ON CONFLICT (platform_id, currency, customer, region) DO UPDATE
	SET per_payment = EXCLUDED.per_payment, daily = EXCLUDED.daily, changed_at = EXCLUDED.changed_at`)

const (
	// deleteClearedLimits uses the primary key.
	deleteClearedLimits = `DELETE FROM limits WHERE platform_id = $1 AND per_payment = 0 AND daily = 0 AND changed_at < now() - interval '2 days'`

	// readLimitUsage and readLargestUsage use the primary key and limit_usage_by_day.
	readLimitUsage = `
	SELECT u.scope, u.currency, u.transactions, u.spent FROM limit_usage u
	JOIN unnest($3::text[], $4::text[]) AS k(scope, currency) USING (scope, currency) WHERE u.platform_id = $1 AND u.day = $2::date`
	readLargestUsage = `
	SELECT DISTINCT ON (currency) '', currency, transactions, spent FROM limit_usage
	WHERE platform_id = $1 AND day = $2::date AND scope LIKE 'Customer:%' ORDER BY currency, spent DESC`

	// lockLimitUsage uses the primary key. Counters are locked in the order of their keys, as addLimitUsage does.
	lockLimitUsage = `
	INSERT INTO limit_usage AS u (platform_id, scope, day, currency, transactions, spent)
	SELECT $1, k.scope, $2::date, k.currency, 0, 0 FROM unnest($3::text[], $4::text[]) AS k(scope, currency) ORDER BY k.scope, k.currency
	ON CONFLICT (platform_id, scope, day, currency) DO UPDATE SET spent = u.spent
	RETURNING scope, currency, transactions, spent`
)

// LimitRules implements prices.Store. Every process reads all rules every ten seconds.
func (db *DB) LimitRules(ctx context.Context) ([]limit.Rule, error) {
	return selectRows(ctx, db, db.read, limits, "ORDER BY platform_id, currency, customer, region")
}

// LimitRulesOf implements limits.Store.
func (db *DB) LimitRulesOf(ctx context.Context, p ident.Platform) (limit.Rules, error) {
	return selectLimits(ctx, db, db.read, p, "")
}

func selectLimits(ctx context.Context, db *DB, read storage.Reader, p ident.Platform, lock string) (limit.Rules, error) {
	return selectRows(ctx, db, read, limits, "WHERE platform_id = $1 ORDER BY currency, customer, region"+lock, p)
}

// LockLimitRules implements limits.Tx. The lock of the platform makes that wait which adds a rule.
func (u *Unit) LockLimitRules(ctx context.Context, p ident.Platform) (limit.Rules, error) {
	u.queueExec(`SELECT FROM platforms WHERE id = $1 FOR NO KEY UPDATE`, p)
	return selectLimits(ctx, u.db, u.query, p, "")
}

// SaveLimitRule implements limits.Tx.
func (u *Unit) SaveLimitRule(ctx context.Context, r limit.Rule) error {
	u.queueExec(deleteClearedLimits, r.Platform)
	return write(ctx, u, saveLimit, r)
}

// CustomerRegion implements limits.Store. It uses the primary key, and decrypts nothing.
func (db *DB) CustomerRegion(ctx context.Context, p ident.Platform, id ident.Customer) (string, error) {
	region, found, err := storage.First(queryValues[string](ctx, db.read, `SELECT region FROM customers WHERE platform_id = $1 AND id = $2`, p, id))
	if err == nil && !found {
		err = customerNotFound(id)
	}
	return region, err
}

// LimitCounts implements payments.Tx.
func (u *Unit) LimitCounts(ctx context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error) {
	return readCounts(ctx, u.query, readLimitUsage, p, day, counters)
}

// LockLimitCounts implements payments.Tx.
func (u *Unit) LockLimitCounts(ctx context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error) {
	return readCounts(ctx, u.query, lockLimitUsage, p, day, counters)
}

// LimitCounts implements limits.Store.
func (db *DB) LimitCounts(ctx context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error) {
	return readCounts(ctx, db.read, readLimitUsage, p, day, counters)
}

// LargestLimitCounts implements limits.Store.
func (db *DB) LargestLimitCounts(ctx context.Context, p ident.Platform, day string) (limit.Counts, error) {
	return scanCounts(ctx, db.read, readLargestUsage, p, schema.Day(&day))
}

func readCounts(ctx context.Context, read storage.Reader, query string, p ident.Platform, day string,
	counters []limit.Counter) (limit.Counts, error) {
	scopes, currencies := make([]string, len(counters)), make([]money.Currency, len(counters))
	for i, c := range counters {
		scopes[i], currencies[i] = string(c.Scope), c.Currency
	}
	return scanCounts(ctx, read, query, p, schema.Day(&day), scopes, currencies)
}

func scanCounts(ctx context.Context, read storage.Reader, query string, args ...any) (limit.Counts, error) {
	counts := limit.Counts{}
	return counts, read(ctx, query, args, func(rows pgx.Rows) error {
		var counter limit.Counter
		var count limit.Count
		err := rows.Scan(&counter.Scope, &counter.Currency, &count.Transactions, &count.Sent)
		counts[counter] = count
		return err
	})
}

// AddLimitUsage implements payments.Tx.
func (u *Unit) AddLimitUsage(_ context.Context, sent []transaction.Transaction) error {
	var scopes []string
	var days []any
	var currencies []money.Currency
	var transactions, spent []int64
	for _, t := range sent {
		for _, scope := range t.LimitUsage.Scopes {
			scopes, days, currencies = append(scopes, string(scope)), append(days, schema.Day(&t.LimitUsage.Day)),
				append(currencies, t.Pricing.Sent.Currency)
			transactions, spent = append(transactions, 1), append(spent, t.Pricing.Sent.Minor)
		}
	}
	u.queueExec(addLimitUsage, sent[0].Platform, scopes, days, currencies, transactions, spent)
	return nil
}

// joinScopes returns the text of scopes, which have no spaces.
func joinScopes(scopes []limit.Scope) string {
	texts := make([]string, len(scopes))
	for i, s := range scopes {
		texts[i] = string(s)
	}
	return strings.Join(texts, " ")
}

func splitScopes(text string) (scopes []limit.Scope) {
	for _, s := range strings.Fields(text) {
		scopes = append(scopes, limit.Scope(s))
	}
	return scopes
}
