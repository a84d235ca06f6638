package storage

import (
	"causeway/adapters/postgres/schema"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// RailPayments is the table rail_payments.
var RailPayments = schema.New("rail_payments", []string{"platform_id", "id", "kind"}, func(p *rail.Payment) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &p.Platform}, {Name: "id", Field: &p.ID},
		{Name: "kind", Field: schema.Converted(
			func() rail.Kind { return p.Kind },
			func(kind rail.Kind) error {
				p.Kind, p.Back = kind, kind.IsReturn()
				return nil
			})},
		{Name: "rail", Field: &p.Rail}, {Name: "country", Field: &p.Country}, {Name: "connection", Field: &p.Connection},
		{Name: "currency", Field: schema.Converted(
			func() money.Currency { return p.Currency },
			func(currency money.Currency) error {
				p.Currency, p.Amount.Currency = currency, currency
				return nil
			})},
		{Name: "amount", Field: &p.Amount.Minor}, {Name: "state", Field: &p.State}, {Name: "wait", Field: &p.Wait},
		{Name: "reason", Field: &p.Reason},
		{Name: "reviewed", Field: &p.Reviewed}, {Name: "forced", Field: &p.Forced}, {Name: "sent_again", Field: &p.SentAgain},
		{Name: "partner_id", Field: &p.PartnerID}, {Name: "recorded_at", Field: &p.RecordedAt},
		{Name: "handed_over_at", Field: &p.HandedOverAt},
		{Name: "sent_at", Field: &p.SentAt}, {Name: "settled_at", Field: &p.SettledAt}, {Name: "returned_at", Field: &p.ReturnedAt},
	}
})

// RailPaymentKey returns the key of a payment.
func RailPaymentKey(p rail.Payment) ports.RailPaymentKey {
	return ports.RailPaymentKey{Platform: p.Platform, ID: p.ID, Kind: p.Kind}
}

// RailKeyColumns returns the columns of keys, as arguments for unnest.
func RailKeyColumns(keys []ports.RailPaymentKey) []any {
	return schema.Arrays(keys, func(k *ports.RailPaymentKey) []any { return []any{&k.Platform, &k.ID, &k.Kind} })
}

// LatestPauses reads what is paused or resumed, by name. While lost commits are not reviewed, every connection is paused. A row
// without a name, which pauses nothing, says when commits were last found to be lost.
const LatestPauses = `
	SELECT DISTINCT ON (name) name, paused, set_by, note, set_at, loss FROM (
		SELECT name, paused, set_by, note, set_at, 0 AS loss, id FROM rail_controls
		UNION ALL
		SELECT c.name, true, 'causeway', 'the database has lost commits; run causeway recover', f.noticed_at, f.id, 0
		FROM lost_commit_findings f CROSS JOIN (SELECT DISTINCT name FROM rail_connections) c
		WHERE NOT EXISTS (SELECT FROM lost_commit_reviews r WHERE r.finding_id = f.id)
		UNION ALL
		(SELECT '', false, 'causeway', 'the database has lost commits', noticed_at, id, 0 FROM lost_commit_findings ORDER BY id DESC LIMIT 1)
	) AS p ORDER BY name, loss DESC, id DESC`
