package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/core/transaction"
	"causeway/ledger"
)

// MaxCounted is where the counts of Operations stop, so that a long queue does not make them slow.
const MaxCounted = 10_000

// Operations is what operators watch. Ages of empty queues are zero.
type Operations struct {
	Jobs map[transaction.Step]Backlog // due, by step
	// Stuck counts the transactions whose next job is dead or long overdue, by status, or
	// REFUND_PENDING for those that are being refunded.
	Stuck map[string]int
	// Webhooks were not attempted yet; RetriedWebhooks failed before.
	Webhooks, RetriedWebhooks Backlog
	Reviews                   Backlog // verifications of production platforms that wait for an operator
	ScreeningHits             Backlog // entries of sanctions lists that wait for an operator
	Unsealed                  Backlog // postings; its age is that of postings that are not sealed for minutes
	// Safeguarding counts the production platforms whose last report has a shortfall that nobody has acknowledged; its
	// age is the time since the end of the last reported day, of the platform where it is longest.
	Safeguarding    Backlog
	OverdrawnAssets int // of production platforms
	// LostCommits are findings that nobody has reviewed; no money moves until then.
	LostCommits Backlog
	Backups     Backups
	Receivables []OpenReceivables
	Rails       RailOperations
	// Unmatched is the balance of unmatched funds in minor units, by currency.
	Unmatched map[money.Currency]int64
}

// OpenReceivables is what is owed to the platforms of an environment in a currency for returned collections.
type OpenReceivables struct {
	Environment platform.Environment
	Currency    money.Currency
	Owed        float64 // minor units
	Backlog             // its age is that of the oldest return
}

// Backlog is the length of a queue, at most MaxCounted, and the age of its oldest element.
type Backlog struct {
	Count int
	Age   time.Duration
}

// stuckAfter is how long a job is overdue before its transactions count as stuck.
const stuckAfter = 15 * time.Minute

// countDueJobs uses jobs_due.
const countDueJobs = `
	SELECT s.step, due.n, due.oldest FROM unnest($1::text[]) AS s(step) CROSS JOIN LATERAL (
		SELECT count(*) AS n, min(due_at) AS oldest FROM (
			SELECT due_at FROM jobs WHERE step = s.step AND due_at <= $2 ORDER BY due_at LIMIT $3) AS d) AS due`

// countStuck uses jobs_due and primary keys. A refund that is sent again has the receipt as the subject of its job.
const countStuck = `
	WITH late AS (
		SELECT j.* FROM unnest($1::text[]) AS s(step) CROSS JOIN LATERAL (
			(SELECT platform_id, subjects FROM jobs WHERE step = s.step AND due_at <= $2 ORDER BY due_at LIMIT $3)
			UNION ALL
			(SELECT platform_id, subjects FROM jobs WHERE step = s.step AND due_at = 'infinity' LIMIT $3)) AS j),
	subjects AS (
		SELECT DISTINCT l.platform_id, coalesce(a.transaction_id, l.id) AS id
		FROM (SELECT platform_id, unnest(subjects) AS id FROM late) l
		LEFT JOIN refunds_sent_again a ON a.platform_id = l.platform_id AND a.receipt_id = l.id LIMIT $3)
	SELECT CASE WHEN 'PENDING' IN (t.refund_status, t.refund_again) THEN 'REFUND_PENDING' ELSE t.status END, count(*)
	FROM subjects s JOIN transactions t ON t.platform_id = s.platform_id AND t.id = s.id
	WHERE t.status IN ('PENDING', 'PENDING_AUTHORIZATION', 'PROCESSING') OR 'PENDING' IN (t.refund_status, t.refund_again) GROUP BY 1`

// countWebhooks reads the first rows of each platform's queue by its primary key.
const countWebhooks = `
	SELECT (SELECT count(*) FROM (SELECT FROM webhook_queue LIMIT $1) AS q),
		(SELECT min(e.created_at) FROM platforms p CROSS JOIN LATERAL (
			SELECT event_id FROM webhook_queue q WHERE q.platform_id = p.id ORDER BY q.seq LIMIT 1) AS q
			JOIN webhook_events e ON e.platform_id = p.id AND e.id = q.event_id),
		(SELECT count(*) FROM (SELECT FROM webhook_backlog LIMIT $1) AS b),
		(SELECT min(due_since) FROM (SELECT due_since FROM webhook_backlog LIMIT $1) AS b)`

// countReviews uses verifications_by_status and the primary key of customers. Those in progress that are
// approved wait for the review of an owner.
const countReviews = `
	SELECT count(*), min(r.updated_at) FROM platforms p CROSS JOIN LATERAL (
		SELECT v.updated_at FROM verifications v JOIN customers c ON c.platform_id = v.platform_id AND c.id = v.customer_id
		WHERE v.platform_id = p.id AND v.status IN ('PENDING_MANUAL_REVIEW', 'IN_PROGRESS')
			AND (v.status = 'PENDING_MANUAL_REVIEW' OR v.customer_approved) AND c.deleted_at IS NULL LIMIT $1) AS r
	WHERE p.environment = 'PRODUCTION'`

// countUnsealed reads one row a platform, and postings only of platforms whose last checkpoint is
// older than $1.
const countUnsealed = `
	SELECT coalesce(sum(c.seq - greatest(s.size, 0)), 0)::bigint,
		min((SELECT p.recorded_at FROM ledger_postings p WHERE p.platform_id = c.platform_id AND p.seq = greatest(s.size, 0) + 1 LIMIT 1))
			FILTER (WHERE NOT EXISTS (SELECT FROM ledger_log_checkpoints k WHERE k.platform_id = c.platform_id AND k.size = s.size AND k.sealed_at > $1))
	FROM ledger_clocks c LEFT JOIN ledger_log_state s ON s.platform_id = c.platform_id WHERE c.seq > greatest(s.size, 0)`

// recentlySealed is the age of a checkpoint after which later postings should be sealed too.
const recentlySealed = 2 * time.Minute

// lastSafeguardingReports are the last report of each production platform, by the primary key.
const lastSafeguardingReports = `platforms p CROSS JOIN LATERAL (
		SELECT r.day, r.version, r.shortfalls FROM safeguarding_reports r WHERE r.platform_id = p.id ORDER BY r.day DESC, r.version DESC LIMIT 1) AS r
	LEFT JOIN LATERAL (
		SELECT max(a.version) AS version FROM safeguarding_acknowledgements a WHERE a.platform_id = p.id AND a.day = r.day AND a.version <= r.version) AS seen ON true
	WHERE p.environment = 'PRODUCTION'`

// countSafeguarding counts shortfalls of which no version was acknowledged.
const countSafeguarding = `
	SELECT count(*) FILTER (WHERE cardinality(r.shortfalls) > 0 AND seen.version IS NULL),
		min((r.day + 1)::timestamp AT TIME ZONE 'UTC'),
		(SELECT count(*) FROM platforms p JOIN ledger_overdrafts d ON d.platform_id = p.id WHERE p.environment = 'PRODUCTION' AND d.overdrawn)
	FROM ` + lastSafeguardingReports

// selectSeenBefore has the reports with a shortfall of which only an earlier version was acknowledged.
const selectSeenBefore = `SELECT p.id, r.day::text FROM ` + lastSafeguardingReports + ` AND cardinality(r.shortfalls) > 0 AND seen.version < r.version`

// countLostCommits reads what are few rows, if there are any.
const countLostCommits = `
	SELECT count(*), min(f.noticed_at) FROM lost_commit_findings f
	WHERE NOT EXISTS (SELECT FROM lost_commit_reviews r WHERE r.finding_id = f.id)`

// countReceivables uses receivables_open.
const countReceivables = `
	SELECT p.environment, r.currency, count(*), sum(r.owed)::float8, min(r.returned_at)
	FROM (SELECT platform_id, currency, amount - collected - written_off AS owed, returned_at FROM receivables
		WHERE state = 'OPEN' ORDER BY returned_at, id LIMIT $1) AS r
	JOIN platforms p ON p.id = r.platform_id GROUP BY 1, 2 ORDER BY 1, 2`

// selectUnmatchedAccounts uses ledger_accounts_by_path.
const selectUnmatchedAccounts = `
	SELECT p.id, a.currency FROM platforms p CROSS JOIN LATERAL (
		SELECT currency FROM ledger_accounts a WHERE a.platform_id = p.id AND a.path COLLATE "C" = '` + ledger.FundingUnmatched + `') AS a`

// Operations reads what operators watch: a few bounded queries, for all platforms. steps are the
// steps that have jobs.
func (db *DB) Operations(ctx context.Context, steps []transaction.Step) (Operations, error) {
	now := db.clock.Now()
	o := Operations{Jobs: map[transaction.Step]Backlog{}, Stuck: map[string]int{}, Unmatched: map[money.Currency]int64{}}
	names := make([]string, len(steps))
	for i, step := range steps {
		names[i] = string(step)
	}
	age := func(t *time.Time) time.Duration {
		if t == nil {
			return 0
		}
		return max(0, now.Sub(*t))
	}
	read := func(sql string, args []any, row func(pgx.Rows) error) error {
		rows, err := db.readPool.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
		if err != nil {
			return err
		}
		return storage.ForEachRow(rows, row)
	}
	if err := read(countDueJobs, []any{names, now, MaxCounted}, func(rows pgx.Rows) error {
		var step string
		var b Backlog
		var oldest *time.Time
		err := rows.Scan(&step, &b.Count, &oldest)
		b.Age = age(oldest)
		o.Jobs[transaction.Step(step)] = b
		return err
	}); err != nil {
		return o, err
	}
	if err := read(countStuck, []any{names, now.Add(-stuckAfter), MaxCounted}, func(rows pgx.Rows) error {
		var state string
		var n int
		err := rows.Scan(&state, &n)
		o.Stuck[state] = n
		return err
	}); err != nil {
		return o, err
	}
	if err := read(countWebhooks, []any{MaxCounted}, func(rows pgx.Rows) error {
		var oldest, oldestRetried *time.Time
		err := rows.Scan(&o.Webhooks.Count, &oldest, &o.RetriedWebhooks.Count, &oldestRetried)
		o.Webhooks.Age, o.RetriedWebhooks.Age = age(oldest), age(oldestRetried)
		return err
	}); err != nil {
		return o, err
	}
	if err := read(countOpenHits, []any{MaxCounted}, func(rows pgx.Rows) error {
		var oldest *time.Time
		err := rows.Scan(&o.ScreeningHits.Count, &oldest)
		o.ScreeningHits.Age = age(oldest)
		return err
	}); err != nil {
		return o, err
	}
	if err := read(countReviews, []any{MaxCounted}, func(rows pgx.Rows) error {
		var oldest *time.Time
		err := rows.Scan(&o.Reviews.Count, &oldest)
		o.Reviews.Age = age(oldest)
		return err
	}); err != nil {
		return o, err
	}
	if err := read(countUnsealed, []any{now.Add(-recentlySealed)}, func(rows pgx.Rows) error {
		var oldest *time.Time
		err := rows.Scan(&o.Unsealed.Count, &oldest)
		o.Unsealed.Age = age(oldest)
		return err
	}); err != nil {
		return o, err
	}
	if err := read(countSafeguarding, nil, func(rows pgx.Rows) error {
		var oldest *time.Time
		err := rows.Scan(&o.Safeguarding.Count, &oldest, &o.OverdrawnAssets)
		o.Safeguarding.Age = age(oldest)
		return err
	}); err != nil {
		return o, err
	}
	if err := db.addSeenBefore(ctx, read, &o.Safeguarding); err != nil {
		return o, err
	}
	if err := read(countLostCommits, nil, func(rows pgx.Rows) error {
		var oldest *time.Time
		err := rows.Scan(&o.LostCommits.Count, &oldest)
		o.LostCommits.Age = age(oldest)
		return err
	}); err != nil {
		return o, err
	}
	if err := read(countReceivables, []any{MaxCounted}, func(rows pgx.Rows) error {
		var r OpenReceivables
		var oldest *time.Time
		err := rows.Scan(&r.Environment, &r.Currency, &r.Count, &r.Owed, &oldest)
		r.Age = age(oldest)
		o.Receivables = append(o.Receivables, r)
		return err
	}); err != nil {
		return o, err
	}
	var err error
	if o.Backups, err = readBackups(read); err != nil {
		return o, err
	}
	if o.Rails, err = countRails(read, now, age); err != nil {
		return o, err
	}
	return o, db.addUnmatched(ctx, read, o.Unmatched)
}

// addSeenBefore counts the reports with a shortfall of which an earlier version was acknowledged, and for which that does not hold.
func (db *DB) addSeenBefore(ctx context.Context, read func(string, []any, func(pgx.Rows) error) error, to *Backlog) error {
	days := map[ident.Platform]safeguarding.Day{}
	if err := read(selectSeenBefore, nil, func(rows pgx.Rows) error {
		var id [16]byte
		var day safeguarding.Day
		err := rows.Scan(&id, &day)
		var p ident.Platform
		p.SetUUID(id)
		days[p] = day
		return err
	}); err != nil {
		return err
	}
	for p, day := range days {
		report, _, err := db.SafeguardingReport(ctx, p, day, 0)
		if err != nil {
			return err
		}
		if len(report.Acknowledgements) == 0 {
			to.Count++
		}
	}
	return nil
}

// addUnmatched adds up the balances of unmatched funds of all platforms.
func (db *DB) addUnmatched(ctx context.Context, read func(string, []any, func(pgx.Rows) error) error, sums map[money.Currency]int64) error {
	var accounts []ledger.Account
	if err := read(selectUnmatchedAccounts, nil, func(rows pgx.Rows) error {
		var id [16]byte
		a := ledger.Account{Path: ledger.FundingUnmatched}
		err := rows.Scan(&id, &a.Currency)
		a.Platform.SetUUID(id)
		accounts = append(accounts, a)
		return err
	}); err != nil {
		return err
	}
	balances, err := db.Readers().LedgerReader().Balances(ctx, accounts)
	for a, minor := range balances {
		sums[a.Currency] += minor
	}
	return err
}

// PoolStat is the use of a pool of connections.
type PoolStat struct {
	InUse, Open, Max int
	Waits            int64 // acquisitions that had to wait for a connection
	WaitTime         time.Duration
}

// PoolStats returns the use of the pools, by their purpose.
func (db *DB) PoolStats() map[string]PoolStat {
	stats := map[string]PoolStat{}
	for purpose, pool := range map[string]*pgxpool.Pool{"work": db.pool.Pool, "reads": db.readPool} {
		s := pool.Stat()
		stats[purpose] = PoolStat{int(s.AcquiredConns()), int(s.TotalConns()), int(s.MaxConns()), s.EmptyAcquireCount(), s.EmptyAcquireWaitTime()}
	}
	return stats
}
