package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// readInFlight uses rail_payments_in_flight, rail_payments_settled and rail_payments_returned.
const readInFlight = `
	WITH flight AS (
		SELECT kind = 'COLLECTION' AS comes_in, amount FROM rail_payments
			WHERE connection = ANY ($1) AND currency = $2 AND state = 'SENT' AND sent_at <= $4
		UNION ALL
		SELECT kind = 'COLLECTION', amount FROM rail_payments
			WHERE connection = ANY ($1) AND currency = $2 AND settled_at > $3 AND sent_at <= $4 AND state IN ('DONE', 'REFUSED', 'RETURNED')
		UNION ALL
		SELECT kind <> 'COLLECTION', amount FROM rail_payments
			WHERE connection = ANY ($1) AND currency = $2 AND returned_at > $3 AND sent_at <= $4)
	SELECT coalesce(sum(amount) FILTER (WHERE NOT comes_in), 0), coalesce(sum(amount) FILTER (WHERE comes_in), 0) FROM flight`

// RailInFlight implements rails.RailProofStore.
func (db *DB) RailInFlight(ctx context.Context, connections []string, currency money.Currency, from,
	to time.Time) (out, in money.Total, err error) {
	_, err = storage.ReadRow(ctx, db.read, readInFlight, []any{connections, currency, from, to}, &out, &in)
	return out, in, err
}

// RailPaymentsOfAmount implements rails.RailProofStore. It uses rail_payments_in_flight and rail_payments_settled.
func (db *DB) RailPaymentsOfAmount(ctx context.Context, connections []string, amount money.Amount, since time.Time,
	limit int) ([]rail.Payment, error) {
	return db.readRailPayments(ctx, `SELECT `+railPaymentColumns+` FROM (
			SELECT * FROM rail_payments WHERE connection = ANY ($1) AND currency = $2 AND state = 'SENT' AND amount = $3
			UNION ALL
			SELECT * FROM rail_payments WHERE connection = ANY ($1) AND currency = $2 AND settled_at > $4 AND amount = $3 AND sent_at IS NOT NULL) p
		ORDER BY sent_at DESC, id LIMIT $5`, connections, amount.Currency, amount.Minor, since, limit)
}

// railProofs is the table rail_proofs.
var railProofs = schema.New("rail_proofs", nil, func(p *ports.DayProof) schema.Columns {
	return schema.Columns{
		{Name: "day", Field: &p.Day}, {Name: "currency", Field: &p.Currency},
		{Name: "connections", Type: "text[]", Field: schema.Array(&p.Connections)},
		{Name: "from_at", Field: &p.From}, {Name: "to_at", Field: &p.To}, {Name: "partners", Field: &p.Partners},
		{Name: "ledger_from", Field: &p.LedgerFrom}, {Name: "ledger_to", Field: &p.LedgerTo}, {Name: "flight_out", Field: &p.Out},
		{Name: "flight_in", Field: &p.In}, {Name: "state", Field: &p.State}, {Name: "difference", Field: &p.Difference},
		{Name: "suspects", Type: "text[]", Field: schema.Array(&p.Suspects)}, {Name: "problem", Field: &p.Problem},
		{Name: "proved_at", Field: &p.ProvedAt},
	}
})

var insertRailProof = railProofs.Insert("ON CONFLICT (day, currency, connections) DO NOTHING")

// SaveRailProofs implements rails.RailProofStore.
func (db *DB) SaveRailProofs(ctx context.Context, day time.Time, proofs []rail.Proof) error {
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM rail_proofs WHERE day = $1::date`, day.UTC())
	for _, p := range proofs {
		batch.Queue(insertRailProof.SQL, railProofs.Columns(&ports.DayProof{Day: day.UTC(), Proof: p}).Fields()...)
	}
	return db.storage.Send(ctx, batch)
}

// RailProofs implements rails.RailProofStore. It uses the primary key.
func (db *DB) RailProofs(ctx context.Context) ([]rail.Proof, time.Time, error) {
	found, err := selectRows(ctx, db, db.read, railProofs, `WHERE day = (SELECT max(day) FROM rail_proofs) ORDER BY currency, connections`)
	if err != nil || len(found) == 0 {
		return nil, time.Time{}, err
	}
	proofs := make([]rail.Proof, len(found))
	for i, p := range found {
		proofs[i] = p.Proof
	}
	return proofs, found[0].Day, nil
}

// ProvedRails implements treasury.RailProofReader. It uses the primary key.
func (db *DB) ProvedRails(ctx context.Context, first, last time.Time) ([]ports.DayProof, error) {
	return selectRows(ctx, db, db.read, railProofs,
		`WHERE day BETWEEN $1::date AND $2::date AND state = 'PROVED' ORDER BY day, currency, connections`, first.UTC(), last.UTC())
}
