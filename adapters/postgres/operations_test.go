package postgres_test

import (
	"slices"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/transaction"
	"causeway/ports/portstest"
)

func TestOperations_CountsQueues(t *testing.T) {
	t.Parallel()
	// Due jobs are counted by step with the age of the oldest, without those of later and dead ones,
	// and so are webhooks. Transactions are stuck if their job is dead or long overdue, unless they
	// are final. Verifications count that wait for an operator. Postings count as unsealed, and lag only if nothing was sealed for minutes.
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := openWith(t, postgres.Options{URL: pgtest.New(t), AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(now)})
	const platform, sandbox = "'11111111-1111-4111-8111-111111111111'", "'22222222-1111-4111-8111-111111111111'"
	for _, statement := range []string{
		`INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at)
			VALUES (` + platform + `, 'Acme', 'PRODUCTION', false, 'uma.test', '[]', now(), now()), (` + sandbox +
			`, 'Test', 'SANDBOX', false, 'sandbox.uma.test', '[]', now(), now())`,
		`INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES
			(` + platform + `, gen_random_uuid(), 'deliver', '2026-03-01 11:59', '{}'),
			(` + platform + `, gen_random_uuid(), 'deliver', '2026-03-01 11:00', '{22222222-2222-4222-8222-222222222222}'),
			(` + platform + `, gen_random_uuid(), 'deliver', '2026-03-01 13:00', '{}'),
			(` + platform + `, gen_random_uuid(), 'refund', 'infinity', '{33333333-3333-4333-8333-333333333333,44444444-4444-4444-8444-444444444444}'),
			(` + platform + `, gen_random_uuid(), 'send-back', 'infinity', '{dddddddd-dddd-4ddd-8ddd-dddddddddddd}')`,
		`INSERT INTO refunds_sent_again (platform_id, receipt_id, transaction_id)
			VALUES (` + platform + `, 'dddddddd-dddd-4ddd-8ddd-dddddddddddd', 'cccccccc-cccc-4ccc-8ccc-cccccccccccc')`,
		`INSERT INTO transactions (platform_id, id, direction, status, refund_status, stage, failure_reason, source_rail, source_account, destination_rail,
			destination_account, sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details, refund_again)
			SELECT ` + platform + `, id::uuid, 'OUTGOING', status, refund, '', '', '', '', '', '', 'USD', 1, 'USD', 1, now(), now(), '', '', '', '{}', again FROM (VALUES
			('22222222-2222-4222-8222-222222222222', 'PROCESSING', '', NULL), ('33333333-3333-4333-8333-333333333333', 'FAILED', 'PENDING', NULL),
			('44444444-4444-4444-8444-444444444444', 'COMPLETED', '', NULL),
			('cccccccc-cccc-4ccc-8ccc-cccccccccccc', 'FAILED', 'FAILED', 'PENDING')) AS t(id, status, refund, again)`,
		`INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, uma_address, status, details, created_at, updated_at, deleted_at)
			SELECT platform::uuid, id::uuid, id, 'INDIVIDUAL', '$' || left(id, 1) || '@uma.test', 'PENDING', '{}', now(), now(), deleted::timestamptz FROM (VALUES
			(` + platform + `, '66666666-6666-4666-8666-666666666666', NULL), (` + platform + `, '77777777-7777-4777-8777-777777777777', NULL),
			(` + platform + `, '88888888-8888-4888-8888-888888888888', NULL), (` + platform +
			`, '99999999-9999-4999-8999-999999999999', '2026-03-01 01:00Z'),
			(` + sandbox + `, 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', NULL)) AS c(platform, id, deleted)`,
		`INSERT INTO verifications (platform_id, id, customer_id, status, application_id, customer_approved, details, created_at, updated_at)
			SELECT c.platform_id, gen_random_uuid(), c.id, v.status, gen_random_uuid(), approved, '{}', '2026-03-01 01:00', at::timestamptz FROM (VALUES
			('6', 'PENDING_MANUAL_REVIEW', '2026-03-01 09:00Z', false), ('7', 'IN_PROGRESS', '2026-03-01 08:00Z', false), ('8', 'IN_PROGRESS', '2026-03-01 07:00Z', true),
			('9', 'PENDING_MANUAL_REVIEW', '2026-03-01 02:00Z', false), ('a', 'PENDING_MANUAL_REVIEW', '2026-03-01 03:00Z', false))
			AS v(customer, status, at, approved) JOIN customers c ON left(c.id::text, 1) = customer`,
		`INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body)
			VALUES (` + platform + `, '55555555-5555-4555-8555-555555555555', gen_random_uuid(), '2026-03-01 11:58', 'TEST', 'TEST', '')`,
		`INSERT INTO receivables (platform_id, id, transaction_id, account_id, account_path, partner, reference, currency, amount, collected, written_off, state, reason_code, partner_id, returned_at, note, created_at, updated_at)
			SELECT ` + platform + `, gen_random_uuid(), transaction::uuid, gen_random_uuid(), '', 'rails/ACH', '', 'USD', 1000, collected, 0, state, 'R01', '', at::timestamptz, '', now(), now() FROM (VALUES
			('22222222-2222-4222-8222-222222222222', 0, 'OPEN', '2026-02-27 12:00Z'), ('33333333-3333-4333-8333-333333333333', 300, 'OPEN', '2026-02-28 12:00Z'),
			('44444444-4444-4444-8444-444444444444', 1000, 'SETTLED', '2026-02-01 12:00Z')) AS r(transaction, collected, state, at)`,
		`INSERT INTO webhook_queue VALUES (` + platform + `, 1, gen_random_uuid(), '55555555-5555-4555-8555-555555555555')`,
		`INSERT INTO webhook_backlog VALUES (` + platform + `, gen_random_uuid(), 2, gen_random_uuid(), NULL, '2026-03-01 10:00', 3, 3)`,
	} {
		if _, err := db.Pool().Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}

	got, err := db.Operations(t.Context(), []transaction.Step{transaction.StepDeliver, transaction.StepRefund, transaction.StepSendBack})
	if err != nil {
		t.Fatal(err)
	}

	if got.Jobs[transaction.StepDeliver] != (postgres.Backlog{Count: 2, Age: time.Hour}) ||
		got.Jobs[transaction.StepRefund] != (postgres.Backlog{}) {
		t.Errorf("jobs %v", got.Jobs)
	}
	if len(got.Stuck) != 2 || got.Stuck["PROCESSING"] != 1 || got.Stuck["REFUND_PENDING"] != 2 {
		t.Errorf("stuck %v", got.Stuck)
	}
	if got.Webhooks != (postgres.Backlog{Count: 1, Age: 2 * time.Minute}) ||
		got.RetriedWebhooks != (postgres.Backlog{Count: 1, Age: 2 * time.Hour}) {
		t.Errorf("webhooks %v, %v", got.Webhooks, got.RetriedWebhooks)
	}
	// Neither the sandbox nor a deleted customer waits for an operator; one that waits for its owner does.
	if got.Reviews != (postgres.Backlog{Count: 2, Age: 5 * time.Hour}) {
		t.Errorf("reviews %v", got.Reviews)
	}
	if got.Unsealed != (postgres.Backlog{}) || len(got.Unmatched) != 0 {
		t.Errorf("unsealed %v, unmatched %v", got.Unsealed, got.Unmatched)
	}
	if want := []postgres.OpenReceivables{{Environment: "PRODUCTION", Currency: "USD", Owed: 1700,
		Backlog: postgres.Backlog{Count: 2, Age: 48 * time.Hour}}}; !slices.Equal(got.Receivables, want) {
		t.Errorf("receivables %+v", got.Receivables)
	}
	if stats := db.PoolStats(); stats["work"].Max != 2 || stats["reads"].Max != 2 {
		t.Errorf("pools %v", stats)
	}
}
