package postgres

import (
	"math/big"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// RailOperations is what operators watch of connections to partners.
type RailOperations struct {
	// Waiting are the payments that wait, by what they wait for.
	Waiting map[rail.Wait]Backlog
	// Unsettled are the accounts of connections with payments that were handed over and are not settled.
	Unsettled []RailUnsettledMetric
	// Proofs are those of the last day that has some, and ProofAge is the time since they were made.
	Proofs   []RailProofMetric
	ProofAge time.Duration
	Feeds    []RailFeedMetric
	// RefusedStatements are those that reconciliation refused, by connection.
	RefusedStatements map[string]Backlog
	// Paused are the names of the connections and rails that are paused.
	Paused []string
	// Accounts are the accounts at partners whose balance is known.
	Accounts []RailAccountMetric
}

// RailAccountMetric is what an account at a partner can pay out, and has paid out in the last 24 hours, in minor units.
type RailAccountMetric struct {
	rail.AccountKey
	Available, PaidOut int64
}

// RailFeedMetric is the state of the feed of a connection.
type RailFeedMetric struct {
	Connection string
	// Age is the time since the feed was read, and Failures how often that has failed since.
	Age      time.Duration
	Failures int
	// KeptAside is the number of items that could not be taken.
	KeptAside int
}

// RailUnsettledMetric is how long the oldest payment of an account at a partner is not settled.
type RailUnsettledMetric struct {
	rail.AccountKey
	Age time.Duration
}

// RailProofMetric is the result of one proof.
type RailProofMetric struct {
	Connections string // separated by commas
	Currency    money.Currency
	// Difference is how much the partners hold more or less than the ledger, in minor units, without its sign.
	Difference float64
	NoBalance  bool
}

// countWaitingPayments uses rail_payments_review and rail_payments_queued.
const countWaitingPayments = `
	SELECT wait, count(*), min(recorded_at) FROM (
		(SELECT wait, recorded_at FROM rail_payments WHERE state = 'REVIEW' ORDER BY recorded_at, id LIMIT $1)
		UNION ALL
		(SELECT wait, recorded_at FROM rail_payments WHERE state = 'QUEUED' ORDER BY connection, currency, forced DESC, recorded_at, id LIMIT $1)) AS waiting
	GROUP BY wait`

// selectOldestInFlight uses rail_payments_handed_over and rail_payments_in_flight: two probes for each account.
const selectOldestInFlight = `
	SELECT a.connection, a.currency, p.since FROM rail_accounts a CROSS JOIN LATERAL (
		SELECT min(since) AS since FROM (
			(SELECT handed_over_at AS since FROM rail_payments WHERE connection = a.connection AND currency = a.currency AND state = 'HANDED_OVER' ORDER BY handed_over_at LIMIT 1)
			UNION ALL
			(SELECT sent_at FROM rail_payments WHERE connection = a.connection AND currency = a.currency AND state = 'SENT' ORDER BY sent_at LIMIT 1)) AS oldest) AS p
	WHERE p.since IS NOT NULL ORDER BY a.connection, a.currency`

// selectLastProofs uses the primary key.
const selectLastProofs = `
	SELECT currency, connections, abs(difference)::text, state, proved_at FROM rail_proofs WHERE day = (SELECT max(day) FROM rail_proofs)`

// selectFeeds uses rail_feed_items_open.
const selectFeeds = `
	SELECT f.connection, f.failures, f.succeeded_at, (SELECT count(*) FROM (
		SELECT FROM rail_feed_items i WHERE i.connection = f.connection AND i.discarded_at IS NULL LIMIT $1) AS kept)
	FROM rail_feeds f ORDER BY f.connection`

// countRefusedStatements uses rail_statements_open.
const countRefusedStatements = `
	SELECT connection, count(*), min(received_at) FROM (
		SELECT connection, received_at FROM rail_statements WHERE reconciled_at IS NULL AND problem <> '' ORDER BY retry_at LIMIT $1) AS refused
	GROUP BY connection`

// rowReader runs a query, and calls row for each of its rows.
type rowReader func(sql string, args []any, row func(pgx.Rows) error) error

// selectPaidOut uses rail_usage_by_hour.
const selectPaidOut = `SELECT connection, currency, sum(amount)::bigint FROM rail_usage WHERE hour > $1 GROUP BY connection, currency`

// countRailAccounts adds what is paused, and the accounts at partners.
func countRailAccounts(read rowReader, now time.Time, o *RailOperations) error {
	if err := read(storage.LatestPauses, nil, func(rows pgx.Rows) error {
		var p ports.RailPause
		err := storage.ScanPause(rows, &p)
		if err == nil && p.Paused {
			o.Paused = append(o.Paused, p.Name)
		}
		return err
	}); err != nil {
		return err
	}
	paidOut := map[rail.AccountKey]int64{}
	if err := read(selectPaidOut, []any{now.Add(-24 * time.Hour)}, func(rows pgx.Rows) error {
		var key rail.AccountKey
		var amount int64
		err := rows.Scan(&key.Connection, &key.Currency, &amount)
		paidOut[key] = amount
		return err
	}); err != nil {
		return err
	}
	return read(readAllRailAccounts, nil, func(rows pgx.Rows) error {
		var a rail.Account
		err := scanRailAccount(rows, &a)
		if available, known := a.Available(); known {
			o.Accounts = append(o.Accounts, RailAccountMetric{a.AccountKey, available.Minor, paidOut[a.AccountKey]})
		}
		return err
	})
}

// countRails reads what operators watch of connections.
func countRails(read rowReader, now time.Time, age func(*time.Time) time.Duration) (RailOperations, error) {
	o := RailOperations{Waiting: map[rail.Wait]Backlog{}, RefusedStatements: map[string]Backlog{}}
	err := read(countWaitingPayments, []any{MaxCounted}, func(rows pgx.Rows) error {
		var wait rail.Wait
		var b Backlog
		var oldest *time.Time
		err := rows.Scan(&wait, &b.Count, &oldest)
		b.Age = age(oldest)
		o.Waiting[wait] = b
		return err
	})
	if err != nil {
		return o, err
	}
	err = read(selectOldestInFlight, nil, func(rows pgx.Rows) error {
		var u RailUnsettledMetric
		var sent *time.Time
		err := rows.Scan(&u.Connection, &u.Currency, &sent)
		u.Age = age(sent)
		o.Unsettled = append(o.Unsettled, u)
		return err
	})
	if err != nil {
		return o, err
	}
	err = read(selectLastProofs, nil, func(rows pgx.Rows) error {
		var p RailProofMetric
		var connections []string
		var difference string
		var state rail.ProofState
		var proved *time.Time
		if err := rows.Scan(&p.Currency, &connections, &difference, &state, &proved); err != nil {
			return err
		}
		p.Connections, p.NoBalance = strings.Join(connections, ","), state == rail.NoBalance
		if amount, ok := new(big.Float).SetString(difference); ok {
			p.Difference, _ = amount.Float64() // of a metric, which is a float
		}
		o.Proofs, o.ProofAge = append(o.Proofs, p), max(o.ProofAge, age(proved))
		return nil
	})
	if err != nil {
		return o, err
	}
	err = read(countRefusedStatements, []any{MaxCounted}, func(rows pgx.Rows) error {
		var connection string
		var b Backlog
		var oldest *time.Time
		err := rows.Scan(&connection, &b.Count, &oldest)
		b.Age = age(oldest)
		o.RefusedStatements[connection] = b
		return err
	})
	if err != nil {
		return o, err
	}
	if err := countRailAccounts(read, now, &o); err != nil {
		return o, err
	}
	return o, read(selectFeeds, []any{MaxCounted}, func(rows pgx.Rows) error {
		var f RailFeedMetric
		var succeeded *time.Time
		err := rows.Scan(&f.Connection, &f.Failures, &succeeded, &f.KeptAside)
		f.Age = age(succeeded)
		o.Feeds = append(o.Feeds, f)
		return err
	})
}
