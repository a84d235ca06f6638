package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
)

// RetentionCutoffs are the times before which rows are deleted unless something still needs them.
type RetentionCutoffs struct {
	Lookups       time.Time // by creation
	RequestLog    time.Time // by the time at which it was written
	Responses     time.Time // to requests with an idempotency key, by creation
	WebhookEvents time.Time // with their attempts, by creation and by the last attempt
	UnpaidQuotes  time.Time // that expired, with their transactions, by creation
	RailReplies   time.Time // by the reply
	Imports       time.Time // of customers, with their errors, by the last change
	Uploads       time.Time // of files of customers that did not end, by their beginning
	KYCLinks      time.Time // by creation
	// IdentityMessages are those in which the identity provider reported decisions, by their receipt.
	IdentityMessages time.Time
	ScreeningRuns    time.Time // by their beginning
	// WalletSessions are those of embedded wallets, with their signed requests and the challenges of passkeys,
	// by creation. They have ended some minutes later.
	WalletSessions time.Time
	// WalletCodes are the one-time codes, by expiry; UsedChallenges are challenges and ID tokens that are not
	// accepted again, by the time until which they are not.
	WalletCodes, UsedChallenges time.Time
	RevokedCredentials          time.Time // of embedded wallets, by the revocation
	UMAPeers                    time.Time // keys of other UMA providers, and UMA invoices, by their expiry
	Mails                       time.Time // by creation; a mail expires long before
	DeviceCodes                 time.Time // of agents, by expiry
	AgentAttempts               time.Time // by the time of the attempt
	Usage                       time.Time // of agents and limits, before the month of the time
	Invitations                 time.Time // by their claim, cancellation or expiry
	// EndlessInvitations are those that do not expire and were not claimed, by creation.
	EndlessInvitations time.Time
	MarketRates        time.Time // by the time at which they were kept
	// RailData are balances of connections and what they paid out by hour, their settled payments, reconciled statements
	// and discarded items, by day or by their end.
	RailData time.Time
	// StrongAuthentication are challenges, sessions and resets of factors of customers, by creation.
	StrongAuthentication time.Time
	PartnerEvents        time.Time // that partners have reported, by their receipt
	ReceiptPayers        time.Time // of money that is no customer's, by its receipt
	Samples              time.Time // of queues and calls to rails, by their time
	// WithoutPlatform are rows that belong to no platform, such as those of connectors of rails.
	WithoutPlatform []storage.OldRows
}

// retainedTable is a table with old rows to delete among others that stay.
type retainedTable struct {
	name   string
	before time.Time
	// start is the position before the first row.
	start string
	// sql deletes one batch: of a platform ($1), rows before a time ($2) and after a position ($3),
	// at most $4. It returns how many rows it checked and deleted, and the position of the last.
	sql string
}

const firstTime = "-infinity"

func (c RetentionCutoffs) tables() []retainedTable {
	return []retainedTable{
		{"idempotency_keys", c.Responses, firstTime, deleteResponses},
		{"quotes", c.UnpaidQuotes, "", `SELECT checked, deleted, $3::text FROM delete_unpaid_quotes($1, $2, $4)`}, // stores its position
		{"kyc_links", c.KYCLinks, uuid.Nil.String(), fmt.Sprintf(deleteByID, "kyc_links", "created_at")},
		{"screening_runs", c.ScreeningRuns, uuid.Nil.String(), fmt.Sprintf(deleteByID, "screening_runs", "started_at")},
		{"wallet_sessions", c.WalletSessions, uuid.Nil.String(), fmt.Sprintf(deleteByID, "wallet_sessions", "created_at")},
		{"wallet_signed_requests", c.WalletSessions, uuid.Nil.String(), fmt.Sprintf(deleteByID, "wallet_signed_requests", "created_at")},
		{"wallet_passkey_challenges", c.WalletSessions, uuid.Nil.String(), fmt.Sprintf(deleteByID, "wallet_passkey_challenges", "created_at")},
		{"sca_challenges", c.StrongAuthentication, uuid.Nil.String(), fmt.Sprintf(deleteByID, "sca_challenges", "created_at")},
		{"sca_sessions", c.StrongAuthentication, uuid.Nil.String(), fmt.Sprintf(deleteByID, "sca_sessions", "created_at")},
		{"sca_resets", c.StrongAuthentication, uuid.Nil.String(), fmt.Sprintf(deleteByID, "sca_resets", "created_at")},
		{"wallet_codes", c.WalletCodes, "", fmt.Sprintf(deleteByEnd, "wallet_codes", "expires_at", "credential_id")},
		{"wallet_used_challenges", c.UsedChallenges, "", fmt.Sprintf(deleteByEnd, "wallet_used_challenges", "expires_at", "hash")},
		{"uma_nonces", c.UsedChallenges, "", fmt.Sprintf(deleteByEnd, "uma_nonces", "expires_at", "hash")},
		{"uma_invoices", c.UMAPeers, "", fmt.Sprintf(deleteByEnd, "uma_invoices", "expires_at", "id")},
		{"uma_peers", c.UMAPeers, "", fmt.Sprintf(deleteByEnd, "uma_peers", "expires_at", "domain")},
		{"wallet_credentials", c.RevokedCredentials, "", fmt.Sprintf(deleteByEnd, "wallet_credentials", "revoked_at", "id")},
		{"agent_device_codes", c.DeviceCodes, "", fmt.Sprintf(deleteByEnd, "agent_device_codes", "expires_at", "hash")},
		{"agent_attempts", c.AgentAttempts, uuid.Nil.String(),
			`SELECT checked, deleted, last::text FROM delete_agent_attempts($1, $2, $3::text::uuid, $4)`},
		{"agent_usage", c.Usage, "", deleteAgentUsage},
		{"limit_usage", c.Usage, "", deleteLimitUsage},
		{"mails", c.Mails, uuid.Nil.String(), deleteMails},
		{"rail_replies", c.RailReplies, firstTime,
			`SELECT checked, deleted, last::text FROM delete_rail_replies($1, $2, $3::text::timestamptz, $4)`},
		{"customer_imports", c.Imports, "", fmt.Sprintf(deleteImports, "updated_at < $2")},
		{"customer_imports", c.Uploads, "", fmt.Sprintf(deleteImports, "completed_at IS NULL AND status = 'UPLOADING' AND created_at < $2")},
		{"invitations", c.Invitations, "", fmt.Sprintf(deleteInvitations, "ends_at < $2", "ends_at")},
		{"invitations", c.EndlessInvitations, "", fmt.Sprintf(deleteInvitations, "ends_at IS NULL AND created_at < $2", "created_at")},
		{"receipt_payers", c.ReceiptPayers, uuid.Nil.String(), deleteReceiptPayers},
		{"samples", c.Samples, "", deleteSamples},
		{"identity_messages", c.IdentityMessages, "", deleteIdentityMessages},
	}
}

// deleteInvitations uses invitations_by_end or invitations_without_end.
const deleteInvitations = `
	WITH old AS MATERIALIZED (SELECT id FROM invitations WHERE platform_id = $1 AND %s ORDER BY %s LIMIT $4 FOR UPDATE SKIP LOCKED),
	gone AS (DELETE FROM invitations i USING old WHERE i.platform_id = $1 AND i.id = old.id)
	SELECT count(*), count(*), $3::text FROM old`

// deleteIdentityMessages uses identity_messages_by_received_at.
const deleteIdentityMessages = `
	WITH old AS MATERIALIZED (SELECT id FROM identity_messages WHERE platform_id = $1 AND received_at < $2 ORDER BY received_at LIMIT $4),
	gone AS (DELETE FROM identity_messages m USING old WHERE m.platform_id = $1 AND m.id = old.id RETURNING 1)
	SELECT count(*), (SELECT count(*) FROM gone), $3::text FROM old`

// deleteImports uses customer_imports_by_updated_at or customer_imports_unfinished. The rows and errors
// of an import are deleted with it, so these batches are small.
const deleteImports = `
	WITH old AS MATERIALIZED (SELECT id FROM customer_imports WHERE platform_id = $1 AND %s LIMIT least($4, 100) FOR UPDATE SKIP LOCKED),
	gone AS (DELETE FROM customer_imports i USING old WHERE i.platform_id = $1 AND i.id = old.id)
	SELECT count(*), count(*), $3::text FROM old`

// deleteMails uses the primary key: ids begin with the time of creation.
const deleteMails = `
	WITH old AS MATERIALIZED (
		SELECT id FROM mails WHERE platform_id = $1 AND id > $3::text::uuid AND id < first_uuid_v7($2) ORDER BY id LIMIT $4 FOR UPDATE SKIP LOCKED),
	gone AS (DELETE FROM mails m USING old WHERE m.platform_id = $1 AND m.id = old.id)
	SELECT count(*), count(*), coalesce(max(id::text), $3::text) FROM old`

// deleteResponses uses idempotency_keys_by_created_at. Rows that another process is deleting are skipped.
const deleteResponses = `
	WITH old AS MATERIALIZED (
		SELECT ctid, created_at FROM idempotency_keys WHERE platform_id = $1 AND created_at >= $3::text::timestamptz AND created_at < $2
		ORDER BY created_at LIMIT $4 FOR UPDATE SKIP LOCKED),
	gone AS (DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)))
	SELECT count(*), count(*), coalesce(max(created_at)::text, $3::text) FROM old`

// deleteByID uses the primary key of a table: ids begin with the time of creation.
const deleteByID = `
	WITH old AS MATERIALIZED (
		SELECT id FROM %[1]s WHERE platform_id = $1 AND id > $3::text::uuid AND id < first_uuid_v7($2) AND %[2]s < $2
		ORDER BY id LIMIT $4),
	gone AS (DELETE FROM %[1]s t USING old WHERE t.platform_id = $1 AND t.id = old.id RETURNING 1)
	SELECT count(*), (SELECT count(*) FROM gone), coalesce(max(id::text), $3::text) FROM old`

// deleteByEnd uses the index of a table on the platform and the time of the end. A row that gets a later end
// meanwhile stays.
const deleteByEnd = `
	WITH old AS MATERIALIZED (SELECT %[3]s AS key FROM %[1]s WHERE platform_id = $1 AND %[2]s < $2 ORDER BY %[2]s LIMIT $4),
	gone AS (DELETE FROM %[1]s t USING old WHERE t.platform_id = $1 AND t.%[3]s = old.key AND t.%[2]s < $2 RETURNING 1)
	SELECT count(*), (SELECT count(*) FROM gone), $3::text FROM old`

const (
	// retentionBatchSize bounds the rows that a statement deletes, and so how long it holds locks.
	retentionBatchSize    = 1000
	retentionBatchTimeout = 15 * time.Second
	// maxRetentionErrors ends a pass: the database is probably not available.
	maxRetentionErrors = 5
)

// DeleteOld drops the partitions and deletes the rows that their cutoff allows. Rows are deleted
// platform by platform, in small transactions; between two it waits as long as the first one took, so
// that it uses half of one connection at most. deleted is called after each partition, with about how
// many rows it had, and after each batch. Any number of processes may call it at the same time.
func (db *DB) DeleteOld(ctx context.Context, cutoffs RetentionCutoffs, deleted func(table string, rows int)) error {
	platforms, err := queryValues[uuid.UUID](ctx, db.read, `SELECT id FROM platforms ORDER BY id`)
	if err != nil {
		return err
	}
	var failures []error
	for _, table := range cutoffs.partitionedTables() {
		if err := db.dropOld(ctx, table, func(n int) { deleted(table.name, n) }); err != nil {
			failures = append(failures, err)
		}
	}
	if err := db.deleteOldMarketRates(ctx, cutoffs.MarketRates, func(n int) { deleted("market_rates", n) }); err != nil {
		failures = append(failures, err)
	}
	for _, old := range cutoffs.WithoutPlatform {
		if err := db.deleteInBatches(ctx, old.Table, old.Delete, old.Before, deleted); err != nil {
			failures = append(failures, err)
		}
	}
	if err := db.deleteOldPartnerEvents(ctx, cutoffs.PartnerEvents, deleted); err != nil {
		failures = append(failures, err)
	}
	if err := db.deleteOldRailData(ctx, cutoffs.RailData, deleted); err != nil {
		failures = append(failures, err)
	}
	for _, table := range cutoffs.tables() {
		for _, p := range platforms {
			err := db.deleteOldOf(ctx, table, p, func(n int) { deleted(table.name, n) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failures = append(failures, fmt.Errorf("delete old rows of %s of platform %s: %w", table.name, p, err))
			}
			if len(failures) == maxRetentionErrors {
				return errors.Join(failures...)
			}
		}
	}
	return errors.Join(failures...)
}

// deleteOldOf deletes the old rows of one platform.
func (db *DB) deleteOldOf(ctx context.Context, table retainedTable, platform uuid.UUID, deleted func(int)) error {
	position := table.start
	for {
		started := time.Now()
		n, removed, err := db.deleteBatch(ctx, table, platform, &position)
		if err != nil {
			return err
		}
		deleted(removed)
		if n < retentionBatchSize {
			return nil
		}
		if err := waitAsLong(ctx, started); err != nil {
			return err
		}
	}
}

// waitAsLong waits as long as it is since a time, so that what runs in batches uses half of one connection at most.
func waitAsLong(ctx context.Context, since time.Time) error {
	return pause(ctx, time.Since(since))
}

func (db *DB) deleteBatch(ctx context.Context, table retainedTable, platform uuid.UUID,
	position *string) (checked, deleted int, err error) {
	ctx, cancel := context.WithTimeout(ctx, retentionBatchTimeout)
	defer cancel()
	err = db.pool.QueryRow(ctx, table.sql, pgx.QueryExecModeCacheStatement, platform, table.before, *position, retentionBatchSize).
		Scan(&checked, &deleted, position)
	return checked, deleted, err
}
