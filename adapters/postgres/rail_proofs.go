package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

var _ ports.RailProofStore = (*DB)(nil)

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
	SELECT coalesce(sum(amount) FILTER (WHERE NOT comes_in), 0)::text, coalesce(sum(amount) FILTER (WHERE comes_in), 0)::text FROM flight`

// RailInFlight implements ports.RailProofStore.
func (db *DB) RailInFlight(ctx context.Context, connections []string, currency money.Currency, from, to time.Time) (out, in money.Total, err error) {
	var outgoing, incoming string
	if err = db.pool.QueryRow(ctx, readInFlight, connections, string(currency), from, to).Scan(&outgoing, &incoming); err != nil {
		return out, in, err
	}
	if out, err = money.ParseTotal(outgoing); err != nil {
		return out, in, err
	}
	in, err = money.ParseTotal(incoming)
	return out, in, err
}

// RailPaymentsOfAmount implements ports.RailProofStore. It uses rail_payments_in_flight and rail_payments_settled.
func (db *DB) RailPaymentsOfAmount(ctx context.Context, connections []string, amount money.Amount, since time.Time, limit int) ([]rail.Payment, error) {
	return db.readRailPayments(ctx, `SELECT `+railPaymentColumns+` FROM (
			SELECT * FROM rail_payments WHERE connection = ANY ($1) AND currency = $2 AND state = 'SENT' AND amount = $3
			UNION ALL
			SELECT * FROM rail_payments WHERE connection = ANY ($1) AND currency = $2 AND settled_at > $4 AND amount = $3 AND sent_at IS NOT NULL) p
		ORDER BY sent_at DESC, id LIMIT $5`, connections, string(amount.Currency), amount.Minor, since, limit)
}

// SaveRailProofs implements ports.RailProofStore.
func (db *DB) SaveRailProofs(ctx context.Context, day time.Time, proofs []rail.Proof) error {
	batch := &pgx.Batch{}
	date := pgtype.Date{Time: day.UTC(), Valid: true}
	batch.Queue(`DELETE FROM rail_proofs WHERE day = $1`, date)
	for _, p := range proofs {
		batch.Queue(`INSERT INTO rail_proofs (day, currency, connections, from_at, to_at, partners, ledger_from, ledger_to, flight_out, flight_in, state, difference, suspects, problem, proved_at)
			VALUES ($1, $2, $3, $4, $5, $6::text::numeric, $7::text::numeric, $8::text::numeric, $9::text::numeric, $10::text::numeric, $11, $12::text::numeric, $13, $14, $15)
			ON CONFLICT (day, currency, connections) DO NOTHING`,
			date, string(p.Currency), p.Connections, nullTime(p.From), nullTime(p.To), p.Partners.String(), p.LedgerFrom.String(), p.LedgerTo.String(),
			p.Out.String(), p.In.String(), string(p.State), p.Difference.String(), append([]string{}, p.Suspects...), p.Problem, p.ProvedAt)
	}
	return db.pool.SendBatch(ctx, batch).Close() // one transaction
}

const railProofColumns = `day, currency, connections, from_at, to_at, partners::text, ledger_from::text, ledger_to::text, flight_out::text, flight_in::text,
	state, difference::text, suspects, problem, proved_at`

// RailProofs implements ports.RailProofStore. It uses the primary key.
func (db *DB) RailProofs(ctx context.Context) ([]rail.Proof, time.Time, error) {
	found, err := db.readRailProofs(ctx, `WHERE day = (SELECT max(day) FROM rail_proofs) ORDER BY currency, connections`)
	if err != nil || len(found) == 0 {
		return nil, time.Time{}, err
	}
	proofs := make([]rail.Proof, len(found))
	for i, p := range found {
		proofs[i] = p.Proof
	}
	return proofs, found[0].Day, nil
}

// ProvedRails implements ports.RailProofReader. It uses the primary key.
func (db *DB) ProvedRails(ctx context.Context, first, last time.Time) ([]ports.DayProof, error) {
	return db.readRailProofs(ctx, `WHERE day BETWEEN $1 AND $2 AND state = 'PROVED' ORDER BY day, currency, connections`,
		pgtype.Date{Time: first.UTC(), Valid: true}, pgtype.Date{Time: last.UTC(), Valid: true})
}

func (db *DB) readRailProofs(ctx context.Context, where string, args ...any) ([]ports.DayProof, error) {
	rows, err := db.pool.Query(ctx, `SELECT `+railProofColumns+` FROM rail_proofs `+where, args...)
	if err != nil {
		return nil, err
	}
	var proofs []ports.DayProof
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var p ports.DayProof
		var date pgtype.Date
		var from, to, at pgtype.Timestamptz
		var texts [6]string
		if err := rows.Scan(&date, &p.Currency, &p.Connections, &from, &to, &texts[0], &texts[1], &texts[2], &texts[3], &texts[4], &p.State, &texts[5], &p.Suspects, &p.Problem, &at); err != nil {
			return err
		}
		p.Day, p.From, p.To, p.ProvedAt = date.Time, utcTime(from), utcTime(to), utcTime(at)
		for i, total := range []*money.Total{&p.Partners, &p.LedgerFrom, &p.LedgerTo, &p.Out, &p.In, &p.Difference} {
			var err error
			if *total, err = money.ParseTotal(texts[i]); err != nil {
				return err
			}
		}
		proofs = append(proofs, p)
		return nil
	})
	return proofs, err
}
