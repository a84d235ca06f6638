package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/outbox"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
)

// eraseTransactions uses transactions_by_customer and the primary keys. A UMA address keeps its host,
// so that the kind of the payment remains.
const eraseTransactions = `
	WITH batch AS MATERIALIZED (
		SELECT id FROM transactions WHERE platform_id = $1 AND customer_id = $2 AND id > $3 ORDER BY id LIMIT $4),
	erased AS (
		UPDATE transactions t SET details = '', source_uma = regexp_replace(source_uma, '^[^@]+', '$erased'), destination_uma = regexp_replace(destination_uma, '^[^@]+', '$erased')
		FROM batch b WHERE t.platform_id = $1 AND t.id = b.id RETURNING t.platform_id, t.id, t.quote_id, t.receipt_id, t.refund_status, t.refund_again),
	paid AS (
		DELETE FROM receipt_payers p USING erased t WHERE p.platform_id = $1 AND p.id = t.receipt_id AND NOT (` + owesFailedRefund + `)),
	quoted AS (
		UPDATE quotes q SET description = '' FROM erased e WHERE q.platform_id = $1 AND q.id = e.quote_id)
	SELECT id FROM batch ORDER BY id`

// EraseTransactionsOf implements customers.Tx.
func (u *Unit) EraseTransactionsOf(ctx context.Context, p ident.Platform, id ident.Customer, after ident.Transaction,
	limit int) (n, webhooks int, last ident.Transaction, err error) {
	var erased []ident.Transaction
	if err := u.query(ctx, eraseTransactions, []any{p, id, after.UUID(), limit}, func(rows pgx.Rows) error {
		err := rows.Scan(&last)
		erased = append(erased, last)
		return err
	}); err != nil || len(erased) == 0 {
		return 0, 0, after, err
	}
	webhooks, _, err = u.eraseEvents(ctx, eventsOfTransactions, p, erased)
	return len(erased), webhooks, last, err
}

const (
	// eventsOfSubject uses webhook_events_by_subject, also if the plan is made for a table with few events.
	eventsOfSubject = `
	CROSS JOIN LATERAL (SELECT e.platform_id, e.id, e.type, e.name, e.created_at FROM webhook_events e
		WHERE e.platform_id = s.platform_id AND e.subject_id = s.id AND e.subject_id <> e.id OFFSET 0) e`

	// eventsOfTransactions are few for each transaction.
	eventsOfTransactions = `
	SELECT e.* FROM (SELECT $1::uuid AS platform_id, unnest($2::uuid[]) AS id) s` + eventsOfSubject

	// eventsOfCustomer are also those of an invitation that the customer has claimed, which are of the
	// platform of the inviter. Actions of agents that needed no approval have no events.
	eventsOfCustomer = `
	WITH subjects AS MATERIALIZED (
		SELECT $1::uuid AS platform_id, $2::uuid AS id
		UNION ALL SELECT platform_id, id FROM internal_accounts WHERE platform_id = $1 AND ` + internalOwner + ` = $2
		UNION ALL SELECT platform_id, id FROM verifications WHERE platform_id = $1 AND customer_id = $2
		UNION ALL SELECT platform_id, id FROM agent_actions WHERE platform_id = $1 AND customer_id = $2 AND (status <> 'APPROVED' OR decided_by IS NOT NULL)
		UNION ALL SELECT platform_id, id FROM uma_invoices WHERE platform_id = $1 AND receiver_id = $2
		UNION ALL SELECT platform_id, id FROM uma_invoices WHERE platform_id = $1 AND sender_id = $2
		UNION ALL SELECT platform_id, id FROM invitations WHERE platform_id = $1 AND inviter_id = $2
		UNION ALL SELECT platform_id, id FROM invitations WHERE invitee_platform_id = $1 AND invitee_id = $2)
	SELECT e.* FROM subjects s` + eventsOfSubject + `
	WHERE e.id > $3 ORDER BY e.id LIMIT $4`

	// eraseEventBodies and eraseResponses use the primary keys.
	eraseEventBodies = `
	UPDATE webhook_events e SET body = k.body FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) AS k(platform_id, id, body)
	WHERE e.platform_id = k.platform_id AND e.id = k.id`
	eraseResponses = `
	UPDATE webhook_attempts a SET response = '' FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	WHERE a.platform_id = k.platform_id AND a.event_id = k.id AND a.response <> ''`
)

// EraseWebhooksOf implements customers.Tx.
func (u *Unit) EraseWebhooksOf(ctx context.Context, p ident.Platform, id ident.Customer, after ident.Webhook,
	limit int) (n int, last ident.Webhook, err error) {
	return u.eraseEvents(ctx, eventsOfCustomer, p, id, after.UUID(), limit)
}

// eraseEvents erases the events that a query returns, and what was responded to them. An erased event
// has what every event has: its id, type, name and time. It returns the last one.
func (u *Unit) eraseEvents(ctx context.Context, query string, args ...any) (n int, last ident.Webhook, err error) {
	var events []event.Event
	if err := u.query(ctx, query, args, func(rows pgx.Rows) error {
		var e event.Event
		err := rows.Scan(&e.Platform, &e.ID, &e.Type, &e.Name, &e.OccurredAt)
		events = append(events, e)
		return err
	}); err != nil || len(events) == 0 {
		return 0, last, err
	}
	platforms, ids, bodies := make([]ident.Platform, len(events)), make([]ident.Webhook, len(events)), make([][]byte, len(events))
	for i, e := range events {
		platforms[i], ids[i] = e.Platform, e.ID
		body, err := outbox.SealBody(ctx, u.db.cipher, e.Platform.UUID(), e.ID.UUID(), e.Envelope())
		if err != nil {
			return 0, last, err
		}
		bodies[i] = body
	}
	u.queueExec(eraseEventBodies, platforms, ids, bodies)
	u.queueExec(eraseResponses, platforms, ids)
	return len(events), events[len(events)-1].ID, nil
}

// eraseRecords delete the rows of a customer by its id. They use the indexes by customer.
var eraseRecords = []struct {
	sql   string
	count func(*customer.Erased) *int
}{
	{`DELETE FROM external_accounts WHERE platform_id = $1 AND customer_id = $2`,
		func(e *customer.Erased) *int { return &e.ExternalAccounts }},
	{`DELETE FROM verifications WHERE platform_id = $1 AND customer_id = $2`, func(e *customer.Erased) *int { return &e.Verifications }},
	{`DELETE FROM beneficial_owners WHERE platform_id = $1 AND customer_id = $2`,
		func(e *customer.Erased) *int { return &e.BeneficialOwners }},
	{`DELETE FROM customer_notes WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM kyc_links WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`UPDATE verification_reviews SET details = 'null' WHERE platform_id = $1 AND customer_id = $2`,
		func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM screening_hits WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM invitations WHERE platform_id = $1 AND inviter_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{
		`UPDATE invitations SET invitee_uma = regexp_replace(invitee_uma, '^[^@]+', '$erased'), first_name = '' WHERE invitee_platform_id = $1 AND invitee_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM uma_invoices WHERE platform_id = $1 AND (receiver_id = $2 OR sender_id = $2 AND transaction_id IS NULL)`,
		func(*customer.Erased) *int { return new(int) }},
	// That they were paid is kept, so that nobody pays them again.
	{`UPDATE uma_invoices SET sender_id = NULL, content = CASE WHEN receiver_id IS NULL THEN '' ELSE content END
		WHERE platform_id = $1 AND sender_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{erasePayers, func(*customer.Erased) *int { return new(int) }},
	{releasePayers, func(*customer.Erased) *int { return new(int) }},
	{eraseActions, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM wallet_credentials WHERE platform_id = $1 AND account_id IN (` + accountsOfCustomer + `)`,
		func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM wallet_sessions WHERE platform_id = $1 AND account_id IN (` + accountsOfCustomer + `)`,
		func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM sca_accounts WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM sca_credentials WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM sca_challenges WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM sca_sessions WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM sca_resets WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`UPDATE internal_accounts SET instructions = '' WHERE platform_id = $1 AND ` + internalOwner + ` = $2`,
		func(*customer.Erased) *int { return new(int) }},
}

// eraseActions uses agent_actions_asked.
const eraseActions = `UPDATE agent_actions SET reason = '', remittance = '' WHERE platform_id = $1 AND customer_id = $2 AND (status <> 'APPROVED' OR decided_by IS NOT NULL)`

// accountsOfCustomer uses internal_accounts_by_owner.
const accountsOfCustomer = `SELECT id FROM internal_accounts WHERE platform_id = $1 AND ` + internalOwner + ` = $2`

// EraseRecordsOf implements customers.Tx.
func (u *Unit) EraseRecordsOf(ctx context.Context, p ident.Platform, id ident.Customer) (erased customer.Erased, err error) {
	if err := u.DeleteAgentsOf(ctx, p, id); err != nil { // that an earlier version left, which deleted the customer
		return erased, err
	}
	for _, record := range eraseRecords {
		err := u.query(ctx, fmt.Sprintf(`WITH gone AS (%s RETURNING 1) SELECT count(*) FROM gone`, record.sql), []any{p, id},
			func(rows pgx.Rows) error { return rows.Scan(record.count(&erased)) })
		if err != nil {
			return erased, err
		}
	}
	return erased, nil
}
