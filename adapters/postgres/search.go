package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/search"
	"causeway/ports"
)

// findByID uses the primary keys and unmatched_funds_by_receipt. A quote has one transaction; agents and owners have no page but that of
// their customer. The receipt of a payment has its id.
const findByID = `
	SELECT 'Transaction', id FROM transactions WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Transaction', transaction_id FROM quotes WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Customer', id FROM customers WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Customer', customer_id FROM beneficial_owners WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Customer', customer_id FROM agents WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'AgentAction', id FROM agent_actions WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Verification', id FROM verifications WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'ExternalAccount', id FROM external_accounts WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'InternalAccount', id FROM internal_accounts WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Webhook', id FROM webhook_events WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Posting', id FROM ledger_posting_ids WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Proposal', id FROM ledger_proposals WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Receivable', id FROM receivables WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Break', id FROM reconciliation_breaks WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Reconciliation', id FROM reconciliations WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'Token', id FROM tokens WHERE platform_id = $1 AND id = $2
	UNION ALL SELECT 'RequestLog', id FROM request_log WHERE platform_id = $1 AND id = $2
	UNION ALL (SELECT 'Receipt', receipt_id FROM unmatched_funds WHERE platform_id = $1 AND receipt_id = $2
		AND NOT EXISTS (SELECT FROM transactions WHERE platform_id = $1 AND id = $2) LIMIT 1)`

// FindByID implements search.Store.
func (db *DB) FindByID(ctx context.Context, p ident.Platform, id uuid.UUID) (found []string, err error) {
	err = db.queryRows(ctx, findByID, []any{p, id}, func(rows pgx.Rows) error {
		var kind string
		var of uuid.UUID
		err := rows.Scan(&kind, &of)
		found = append(found, kind+":"+of.String())
		return err
	})
	return found, storage.ReadError(err)
}

// findByPartnerID uses rail_replies_by_partner_id, receipts_by_partner_id and the primary key; the transactions of a receipt are its
// deposit, which has its id, and that of its reference.
const findByPartnerID = `
	SELECT t.id FROM transactions t WHERE t.platform_id = $1 AND t.id IN (
		(SELECT DISTINCT subject_id FROM rail_replies WHERE platform_id = $1 AND partner_id = ANY($2) AND partner_id <> '' LIMIT $4)
		UNION ALL
		(SELECT id FROM receipts WHERE platform_id = $1 AND rail = ANY($3) AND partner_id = ANY($2) LIMIT $4)
		UNION ALL
		(SELECT q.transaction_id FROM receipts r JOIN quotes q ON q.platform_id = r.platform_id AND q.reference = r.reference AND q.reference <> ''
		WHERE r.platform_id = $1 AND r.rail = ANY($3) AND r.partner_id = ANY($2) LIMIT $4))
	ORDER BY t.id DESC LIMIT $4`

// FindByPartnerID implements search.Store.
func (db *DB) FindByPartnerID(ctx context.Context, p ident.Platform, names []string, limit int) ([]ident.Transaction, error) {
	found, err := queryValues[ident.Transaction](ctx, db.queryRows, findByPartnerID, p, names, corridor.Rails(), limit)
	return found, storage.ReadError(err)
}

// hasKey is the condition of a row of a table that has a key, in both forms that it may have, by search_keys_by_object: the other ones
// were found by the first key with search_keys_by_hash.
const hasKey = ` AND EXISTS (SELECT FROM search_keys k WHERE k.platform_id = $1 AND k.kind = $2 AND k.object_id = t.id AND k.hash = ANY($%d))`

// byKeys returns the end of a query of rows t of a table that have all keys. It reads those with the first key and compares the others.
func byKeys(n int) string {
	var others strings.Builder
	for i := 1; i < n; i++ {
		fmt.Fprintf(&others, hasKey, i+4)
	}
	return `FROM (SELECT DISTINCT object_id AS id FROM search_keys WHERE platform_id = $1 AND kind = $2 AND hash = ANY($4)) t WHERE true` +
		others.String() + ` ORDER BY t.id DESC LIMIT $3`
}

// findByKeys returns the ids of what has all keys, newest first. Keys are stored plain as long as there is no data key.
func (db *DB) findByKeys(ctx context.Context, p ident.Platform, kind ports.SearchKind, keys []search.Key, limit int) ([]uuid.UUID, error) {
	args := []any{p, kind, limit}
	for _, key := range keys {
		keyed, err := db.sealed.Fingerprint(ctx, string(key))
		if err != nil {
			return nil, err
		}
		args = append(args, []string{string(key), keyed})
	}
	found, err := queryValues[uuid.UUID](ctx, db.queryRows, `SELECT t.id `+byKeys(len(keys)), args...)
	return found, storage.ReadError(err)
}

// FindCustomersByKeys implements search.Store.
func (db *DB) FindCustomersByKeys(ctx context.Context, p ident.Platform, keys []search.Key, limit int) ([]customer.Customer, error) {
	ids, err := db.findByKeys(ctx, p, ports.FoundCustomer, keys, limit)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return selectRows(ctx, db, db.read, customers, `WHERE platform_id = $1 AND id = ANY($2) ORDER BY id DESC`, p, ids)
}

// FindAccountsByKey implements search.Store.
func (db *DB) FindAccountsByKey(ctx context.Context, p ident.Platform, key search.Key, limit int) ([]account.External, error) {
	ids, err := db.findByKeys(ctx, p, ports.FoundExternalAccount, []search.Key{key}, limit)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return selectRows(ctx, db, db.read, externalAccounts, `WHERE platform_id = $1 AND id = ANY($2) ORDER BY id DESC`, p, ids)
}

// searchQueueAll is the kind of a row of the queue that is all of a kind.
const searchQueueAll = "S"

// TakeSearchQueue implements search.Tx. It uses the primary key.
func (u *Unit) TakeSearchQueue(ctx context.Context, limit int) (taken []ports.SearchItem, err error) {
	err = u.query(ctx, `DELETE FROM search_queue q USING (
			SELECT platform_id, kind, object_id FROM search_queue ORDER BY platform_id, kind, object_id LIMIT $1 FOR UPDATE SKIP LOCKED) t
		WHERE q.platform_id = t.platform_id AND q.kind = t.kind AND q.object_id = t.object_id RETURNING q.platform_id, q.kind, q.object_id`,
		[]any{limit}, func(rows pgx.Rows) error {
			var item ports.SearchItem
			var kind string
			err := rows.Scan(&item.Platform, &kind, &item.ID)
			kind, item.IsAll = strings.CutSuffix(kind, searchQueueAll)
			item.Kind = ports.SearchKind(kind)
			taken = append(taken, item)
			return err
		})
	return taken, err
}

// searchTables are the tables of what has keys.
var searchTables = map[ports.SearchKind]string{ports.FoundCustomer: "customers", ports.FoundExternalAccount: "external_accounts"}

// QueueAllForSearch implements search.Tx. It uses the primary keys.
func (u *Unit) QueueAllForSearch(_ context.Context, all ports.SearchItem, limit int) error {
	u.queueExec(fmt.Sprintf(`
		WITH next AS (SELECT id FROM %s WHERE platform_id = $1 AND id > $2 ORDER BY id LIMIT $3),
		queue AS (
			SELECT $4 AS kind, id FROM next
			UNION ALL (SELECT $5, id FROM next WHERE (SELECT count(*) FROM next) = $3 ORDER BY id DESC LIMIT 1))
		INSERT INTO search_queue AS q (platform_id, kind, object_id, queued_at) SELECT $1, kind, id, clock_timestamp() FROM queue ORDER BY kind, id
		ON CONFLICT (platform_id, kind, object_id) DO NOTHING`, searchTables[all.Kind]), all.Platform, all.ID, limit, string(all.Kind),
		string(all.Kind)+searchQueueAll)
	return nil
}

// CustomersToIndex implements search.Tx. It uses the primary key.
func (u *Unit) CustomersToIndex(ctx context.Context, p ident.Platform, ids []uuid.UUID) ([]customer.Customer, error) {
	return selectRows(ctx, u.db, u.query, customers, `WHERE platform_id = $1 AND id = ANY($2)`, p, ids)
}

// AccountsToIndex implements search.Tx. It uses the primary key.
func (u *Unit) AccountsToIndex(ctx context.Context, p ident.Platform, ids []uuid.UUID) ([]account.External, error) {
	return selectRows(ctx, u.db, u.query, externalAccounts, `WHERE platform_id = $1 AND id = ANY($2)`, p, ids)
}

// SaveSearchKeys implements search.Tx. It uses search_keys_by_object.
func (u *Unit) SaveSearchKeys(ctx context.Context, all []ports.SearchKeys, newID func() uuid.UUID) error {
	for _, of := range all {
		ids, hashes := make([]uuid.UUID, len(of.Keys)), make([]string, len(of.Keys))
		for i, key := range of.Keys {
			keyed, err := u.db.sealed.Fingerprint(ctx, string(key))
			if err != nil {
				return err
			}
			ids[i], hashes[i] = newID(), keyed
		}
		u.queueExec(`DELETE FROM search_keys WHERE platform_id = $1 AND kind = $2 AND object_id = $3`, of.Platform, of.Kind, of.ID)
		u.queueExec(`INSERT INTO search_keys (platform_id, id, kind, object_id, hash)
			SELECT $1, k.id, $2, $3, k.hash FROM unnest($4::uuid[], $5::text[]) AS k (id, hash)`, of.Platform, of.Kind, of.ID, ids, hashes)
	}
	return nil
}
