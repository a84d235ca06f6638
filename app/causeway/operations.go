package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/bankfile"
	"causeway/core/rail"
	"causeway/core/transaction"
)

const (
	// operationsInterval is how often the queues are counted. A request for the metrics shows the
	// last result and reads nothing.
	operationsInterval = 15 * time.Second
	operationsTimeout  = 5 * time.Second
)

// operations are the metrics of what operators watch: queues, stuck payments, unmatched funds, the
// age of the rates and the pools of connections. Every process counts for the whole database.
type operations struct {
	db      *postgres.DB
	log     *logrus.Logger
	steps   func() []transaction.Step
	rateAge func() (time.Duration, bool) // false if rates have no age
	banks   *bankfile.Store
	last    atomic.Pointer[counted]
	readAt  atomic.Int64 // seconds since 1970
}

// counted is what storage and the connectors count.
type counted struct {
	postgres.Operations
	bankNotices []bankfile.NoticeCount // within a day
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// These are the metrics of operations. Counts end at 10,000.
var (
	dueJobsDesc    = describe("causeway_jobs_due", "Jobs that are due and that no process runs, by step.", "step")
	dueJobsAgeDesc = describe("causeway_jobs_oldest_due_seconds", "How long the oldest of these jobs is due, by step.", "step")
	stuckDesc      = describe("causeway_transactions_stuck", "Transactions whose next job is dead or more than 15 minutes overdue, by "+
		"state.", "state")
	webhooksDesc = describe("causeway_webhooks_waiting", "Webhooks waiting for an attempt, by queue: first for the first attempt, "+
		"retry for a later one.", "queue")
	webhooksAgeDesc = describe("causeway_webhooks_oldest_seconds", "Age of the oldest of these webhooks, by queue.", "queue")
	reviewsDesc     = describe("causeway_reviews_waiting", "Verifications of production platforms that wait for the decision of an "+
		"operator.")
	reviewsAgeDesc = describe("causeway_reviews_oldest_seconds", "How long the oldest of these verifications waits.")
	hitsDesc       = describe("causeway_screening_hits_open", "Entries of sanctions lists that customers or their owners resemble and "+
		"that wait for the decision of an operator.")
	hitsAgeDesc     = describe("causeway_screening_hits_oldest_seconds", "How long the oldest of these waits.")
	unsealedDesc    = describe("causeway_ledger_unsealed_postings", "Postings that are not sealed in the ledger log.")
	unsealedAgeDesc = describe("causeway_ledger_seal_lag_seconds", "Age of the oldest posting that should have been sealed.")
	shortfallsDesc  = describe("causeway_safeguarding_shortfalls", "Production platforms whose last safeguarding report has a shortfall "+
		"that nobody has acknowledged.")
	reportAgeDesc = describe("causeway_safeguarding_report_age_seconds", "Time since the end of the last reported day, of the "+
		"production platform where it is longest.")
	overdrawnDesc = describe("causeway_ledger_overdrawn_assets", "Assets of production platforms that are below zero.")
	lostDesc      = describe("causeway_lost_commit_findings_open", "Findings of lost commits that nobody has reviewed. No money moves.")
	backupOKDesc  = describe("causeway_backup_verification_ok", "1 if the last verification of a backup has passed, 0 if not.")
	backupAtDesc  = describe("causeway_backup_verified_timestamp_seconds", "When the last verification of a backup "+
		"that has passed was begun.")
	backupAgeDesc   = describe("causeway_backup_age_seconds", "How old the backup was that has passed last, at its verification.")
	backupPointDesc = describe("causeway_backup_recovery_point_seconds", "Time before that verification of the last commit that was "+
		"recovered: how much would have been lost.")
	backupRestoreDesc = describe("causeway_backup_restore_seconds", "How long its restore took.")
	receivablesDesc   = describe("causeway_receivables_open", "Collections that were returned and for which something is owed, by "+
		"environment of the platform and currency.", "environment", "currency")
	receivablesOwedDesc = describe("causeway_receivables_owed", "What is owed for these collections in the smallest unit, by environment "+
		"and currency.", "environment", "currency")
	receivablesAgeDesc = describe("causeway_receivables_oldest_seconds", "Time since the oldest of these returns, by environment and "+
		"currency.", "environment", "currency")
	railWaitingDesc = describe("causeway_rail_payments_waiting", "Payments of production platforms that were not handed over, by what "+
		"they wait for: REVIEW, FUNDS, RESUMPTION, OPENING or CONNECTION.", "wait")
	railWaitingAgeDesc = describe("causeway_rail_payments_oldest_seconds", "How long the oldest of these payments waits.", "wait")
	railUnsettledDesc  = describe("causeway_rail_payments_unsettled_oldest_seconds",
		"Time since the oldest payment was handed over that is not settled, by connection and currency.", "connection", "currency")
	railDifferenceDesc = describe("causeway_rail_proof_difference", "How much partners and chains hold more or less than the ledger, in "+
		"the smallest unit, in the last daily proof, by the connections that were compared together and currency.", "connections", "currency")
	railNoBalanceDesc = describe("causeway_rail_proof_without_balance", "1 if the last daily proof was not possible because a connection "+
		"has no balance, by the connections that are compared together and currency.", "connections", "currency")
	railProofAgeDesc = describe("causeway_rail_proof_age_seconds", "Time since the last daily proof.")
	railFeedAgeDesc  = describe("causeway_rail_feed_age_seconds", "Time since the reports of a partner were read, by connection; 0 "+
		"before the first time.", "connection")
	railFeedErrorsDesc = describe("causeway_rail_feed_failures", "How often reading the reports of a partner has failed since the last "+
		"success, by connection.", "connection")
	railKeptAsideDesc = describe("causeway_rail_feed_kept_aside", "Reports of partners that could not be taken and wait to be tried "+
		"again, by connection.", "connection")
	bankNoticesDesc = describe("causeway_bank_notices", "What operators have to look at in the files of banks of the last day, by "+
		"connection and kind of the notice.", "connection", "kind")
	railRefusedDesc = describe("causeway_rail_statements_refused", "Statements of partners that reconciliation refused and that wait to "+
		"be tried again, by connection.", "connection")
	railRefusedAgeDesc = describe("causeway_rail_statements_refused_oldest_seconds",
		"Time since the oldest of these statements was received, by connection.", "connection")
	railPausedDesc    = describe("causeway_rail_paused", "1 for each connection or rail that an operator has paused, by name.", "name")
	railAvailableDesc = describe("causeway_rail_available", "What can be paid out over a connection, in the smallest unit, by connection and "+
		"currency.", "connection", "currency")
	railPaidOutDesc = describe("causeway_rail_paid_out", "What was paid out over a connection in the last 24 hours, in the smallest unit, "+
		"by connection and currency.", "connection", "currency")
	unmatchedDesc       = describe("causeway_unmatched_funds", "Balance of unmatched funds in the smallest unit, by currency.", "currency")
	rateAgeDesc         = describe("causeway_rates_age_seconds", "Age of the reference rates that quotes use.")
	poolInUseDesc       = describe("causeway_database_connections_in_use", "Database connections in use, by pool.", "pool")
	poolMaxDesc         = describe("causeway_database_connections_max", "Maximum number of database connections, by pool.", "pool")
	poolWaitsDesc       = describe("causeway_database_connection_waits_total", "How often a connection had to be waited for, by pool.", "pool")
	poolWaitSecondsDesc = describe("causeway_database_connection_wait_seconds_total", "Time spent waiting for a connection, by pool.", "pool")
	readAtDesc          = describe("causeway_operations_read_timestamp_seconds", "When the queues were last counted. The database was "+
		"available then.")
	buildDesc = describe("causeway_build_info", "Version, Go version and commit of the program; always 1.", "version",
		"goversion", "commit")
)

// stuckStates are the states of causeway_transactions_stuck.
var stuckStates = []string{string(transaction.Pending), string(transaction.PendingAuthorization), string(transaction.Processing),
	"REFUND_PENDING"}

// registerOperations exports the metrics. Their values appear with the first run.
func (a *app) registerOperations() {
	a.operations = &operations{
		db: a.db, log: a.log,
		steps: a.jobSteps,
		banks: railAdapters{db: a.db}.bankFiles(),
		rateAge: func() (time.Duration, bool) {
			if a.ecbRates == nil {
				return 0, false
			}
			return a.ecbRates.Age(time.Now())
		},
	}
	a.metrics.MustRegister(a.operations)
}

// run counts until ctx ends.
func (o *operations) run(ctx context.Context) {
	tick := time.NewTicker(operationsInterval)
	defer tick.Stop()
	for {
		o.read(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (o *operations) read(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			o.log.WithField("stack", string(debug.Stack())).Errorf("panic while counting for the metrics: %v", p)
		}
	}()
	readCtx, cancel := context.WithTimeout(ctx, operationsTimeout)
	defer cancel()
	var last counted
	var err error
	if last.Operations, err = o.db.Operations(readCtx, o.steps()); err == nil {
		last.bankNotices, err = o.banks.CountNotices(readCtx, time.Now().AddDate(0, 0, -1), postgres.MaxCounted)
	}
	if err != nil {
		if ctx.Err() == nil {
			o.log.WithError(err).Warn("cannot count for the metrics; will retry")
		}
		return
	}
	o.last.Store(&last)
	o.readAt.Store(time.Now().Unix())
}

// Describe implements prometheus.Collector.
func (o *operations) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{dueJobsDesc, dueJobsAgeDesc, stuckDesc, webhooksDesc, webhooksAgeDesc, reviewsDesc, reviewsAgeDesc,
		hitsDesc, hitsAgeDesc, unsealedDesc, unsealedAgeDesc,
		shortfallsDesc, reportAgeDesc, overdrawnDesc, lostDesc, backupOKDesc, backupAtDesc, backupAgeDesc, backupPointDesc,
		backupRestoreDesc, receivablesDesc, receivablesOwedDesc, receivablesAgeDesc, railWaitingDesc,
		railWaitingAgeDesc, railUnsettledDesc, railDifferenceDesc, railNoBalanceDesc, railProofAgeDesc, railFeedAgeDesc, railFeedErrorsDesc,
		railKeptAsideDesc, bankNoticesDesc, railRefusedDesc, railRefusedAgeDesc, railPausedDesc, railAvailableDesc, railPaidOutDesc,
		unmatchedDesc, rateAgeDesc, poolInUseDesc, poolMaxDesc,
		poolWaitsDesc, poolWaitSecondsDesc, readAtDesc, buildDesc} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector. It reads nothing from the database.
func (o *operations) Collect(metrics chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(buildDesc, 1, strings.ToValidUTF8(version, ""), runtime.Version(), commit)
	for purpose, s := range o.db.PoolStats() {
		gauge(poolInUseDesc, float64(s.InUse), purpose)
		gauge(poolMaxDesc, float64(s.Max), purpose)
		metrics <- prometheus.MustNewConstMetric(poolWaitsDesc, prometheus.CounterValue, float64(s.Waits), purpose)
		metrics <- prometheus.MustNewConstMetric(poolWaitSecondsDesc, prometheus.CounterValue, s.WaitTime.Seconds(), purpose)
	}
	if age, ok := o.rateAge(); ok {
		gauge(rateAgeDesc, age.Seconds())
	}
	last := o.last.Load()
	if last == nil {
		return
	}
	gauge(readAtDesc, float64(o.readAt.Load()))
	for step, b := range last.Jobs {
		gauge(dueJobsDesc, float64(b.Count), string(step))
		gauge(dueJobsAgeDesc, b.Age.Seconds(), string(step))
	}
	for _, state := range stuckStates {
		gauge(stuckDesc, float64(last.Stuck[state]), state)
	}
	for queue, b := range map[string]postgres.Backlog{"first": last.Webhooks, "retry": last.RetriedWebhooks} {
		gauge(webhooksDesc, float64(b.Count), queue)
		gauge(webhooksAgeDesc, b.Age.Seconds(), queue)
	}
	gauge(reviewsDesc, float64(last.Reviews.Count))
	gauge(reviewsAgeDesc, last.Reviews.Age.Seconds())
	gauge(hitsDesc, float64(last.ScreeningHits.Count))
	gauge(hitsAgeDesc, last.ScreeningHits.Age.Seconds())
	gauge(unsealedDesc, float64(last.Unsealed.Count))
	gauge(unsealedAgeDesc, last.Unsealed.Age.Seconds())
	gauge(shortfallsDesc, float64(last.Safeguarding.Count))
	gauge(reportAgeDesc, last.Safeguarding.Age.Seconds())
	gauge(overdrawnDesc, float64(last.OverdrawnAssets))
	gauge(lostDesc, float64(last.LostCommits.Count))
	collectBackups(gauge, last.Backups)
	for _, r := range last.Receivables {
		environment, currency := string(r.Environment), string(r.Currency)
		gauge(receivablesDesc, float64(r.Count), environment, currency)
		gauge(receivablesOwedDesc, r.Owed, environment, currency)
		gauge(receivablesAgeDesc, r.Age.Seconds(), environment, currency)
	}
	for _, wait := range rail.Waits {
		gauge(railWaitingDesc, float64(last.Rails.Waiting[wait].Count), string(wait))
		gauge(railWaitingAgeDesc, last.Rails.Waiting[wait].Age.Seconds(), string(wait))
	}
	for _, u := range last.Rails.Unsettled {
		gauge(railUnsettledDesc, u.Age.Seconds(), u.Connection, string(u.Currency))
	}
	for _, p := range last.Rails.Proofs {
		missing := 0.0
		if p.NoBalance {
			missing = 1
		}
		gauge(railDifferenceDesc, p.Difference, p.Connections, string(p.Currency))
		gauge(railNoBalanceDesc, missing, p.Connections, string(p.Currency))
	}
	if len(last.Rails.Proofs) > 0 {
		gauge(railProofAgeDesc, last.Rails.ProofAge.Seconds())
	}
	for _, f := range last.Rails.Feeds {
		gauge(railFeedAgeDesc, f.Age.Seconds(), f.Connection)
		gauge(railFeedErrorsDesc, float64(f.Failures), f.Connection)
		gauge(railKeptAsideDesc, float64(f.KeptAside), f.Connection)
	}
	for _, n := range last.bankNotices {
		gauge(bankNoticesDesc, float64(n.Count), n.Connection, string(n.Kind))
	}
	for connection, b := range last.Rails.RefusedStatements {
		gauge(railRefusedDesc, float64(b.Count), connection)
		gauge(railRefusedAgeDesc, b.Age.Seconds(), connection)
	}
	for _, name := range last.Rails.Paused {
		gauge(railPausedDesc, 1, name)
	}
	for _, a := range last.Rails.Accounts {
		gauge(railAvailableDesc, float64(a.Available), a.Connection, string(a.Currency))
		gauge(railPaidOutDesc, float64(a.PaidOut), a.Connection, string(a.Currency))
	}
	for currency, minor := range last.Unmatched {
		gauge(unmatchedDesc, float64(minor), string(currency))
	}
}

// collectBackups shows nothing before the first verification: those who back up otherwise have no use for the alerts.
func collectBackups(gauge func(d *prometheus.Desc, value float64, labels ...string), b postgres.Backups) {
	if b.Last == nil {
		return
	}
	ok := 0.0
	if b.Last.Problem == "" {
		ok = 1
	}
	gauge(backupOKDesc, ok)
	if passed := b.LastPassed; passed != nil {
		gauge(backupAtDesc, float64(passed.Began.Unix()))
		gauge(backupAgeDesc, passed.Age().Seconds())
		gauge(backupPointDesc, passed.Exposure().Seconds())
		gauge(backupRestoreDesc, passed.Restored.Seconds())
	}
}
