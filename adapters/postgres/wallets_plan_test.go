package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ports"
)

// fillWallets writes many wallets of two platforms.
const fillWallets = `
SET session_replication_role = replica;
CREATE TEMPORARY TABLE made AS SELECT p.id AS platform, gen_random_uuid() AS id, n FROM (VALUES (gen_random_uuid()), (gen_random_uuid())) p(id), generate_series(1, 3000) n;
INSERT INTO wallet_credentials (platform_id, id, account_id, credential_type, nickname, email, email_fingerprint, identity, passkey_id, public_key, sign_count, transports, backup_eligible, backed_up, created_at, updated_at, revoked_at)
SELECT platform, id, id, 'EMAIL_OTP', '', '', id::text, 'null', '', '', 0, '{}', false, false, now(), now(), CASE WHEN n % 10 = 0 THEN now() - n * interval '1 h' END FROM made;
INSERT INTO wallet_sessions (platform_id, id, account_id, credential_id, credential_type, public_key, statement, wallet_key, signature, created_at, updated_at, expires_at)
SELECT platform, id, id, id, 'EMAIL_OTP', '', '', '', '', now(), now(), now() - n * interval '1 h' FROM made;
INSERT INTO wallet_codes SELECT platform, id, '', 0, now() - n * interval '1 h', now(), now() FROM made;
INSERT INTO wallet_passkey_challenges SELECT platform, id, id, '', '', now(), now() FROM made;
INSERT INTO wallet_used_challenges SELECT platform, id::text::bytea, now() - n * interval '1 h' FROM made;
INSERT INTO wallet_signed_requests SELECT platform, id, id, '', '', '', '', '', now(), now() FROM made;
INSERT INTO wallet_exports SELECT platform, id, id, NULL, NULL, id, id, now() FROM made;
ANALYZE;`

func TestWalletPlans_ReadsUseIndexes(t *testing.T) {
	t.Parallel()
	// Each read of a wallet finds its rows by an index whose condition has the platform and one more column;
	// so does each deletion of old rows.
	plans := newPlanEnv(t)
	pgtest.ExecAsSuperuser(t, plans.conn.Config().ConnString(), `
		DO $$ DECLARE c record; BEGIN
			FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint WHERE contype = 'c' AND conrelid::regclass::text LIKE 'wallet%' LOOP
				EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname);
			END LOOP;
		END $$;`+fillWallets)
	db, trace := newTracedEnv(t, plans.conn.Config().ConnString())
	var filled uuid.UUID
	if err := plans.conn.QueryRow(t.Context(), "SELECT platform_id FROM wallet_sessions LIMIT 1").Scan((*[16]byte)(&filled)); err != nil {
		t.Fatal(err)
	}
	plans.becomeService()
	p, w := ident.Platform{}, ports.WalletID{}
	p.SetUUID(filled)
	w.Platform = p
	w.Account.SetUUID(uuid.New())
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	ctx := ports.ForPlatform(t.Context(), p)
	for name, c := range map[string]struct {
		column string
		read   func() error
	}{
		"credentials and sessions": {"account_id", func() error { _, err := db.Wallet(ctx, w, now); return err }},
		"credential":               {"id", func() error { _, err := db.WalletCredential(ctx, p, ident.AuthMethod{}); return err }},
		"session":                  {"id", func() error { _, err := db.WalletSession(ctx, p, ident.Session{}); return err }},
		"sessions":                 {"expires_at", func() error { _, err := db.ActiveWalletSessions(ctx, w, now); return err }},
		"address": {"email_fingerprint",
			func() error { _, err := db.OtherWalletWithEmail(ctx, w, "ana@example.com"); return err }},
		"request":   {"id", func() error { _, err := db.SignedRequest(ctx, p, ident.SignedRequest{}); return err }},
		"challenge": {"id", func() error { _, err := db.PasskeyChallenge(ctx, p, ident.SignedRequest{}); return err }},
		"used":      {"hash", func() error { _, err := db.WasUsed(ctx, p, [32]byte{}); return err }},
		"exports":   {"account_id", func() error { _, err := db.WalletExports(ctx, w); return err }},
		"locked": {"id", func() error {
			return db.Do(ctx, func(ctx context.Context, tx *Unit) error {
				_, err := tx.LockWalletSessions(ctx, p, []ident.Session{{}})
				return err
			})
		}},
		"code": {"credential_id", func() error {
			return db.Do(ctx, func(ctx context.Context, tx *Unit) error {
				_, err := tx.LockWalletCode(ctx, p, ident.AuthMethod{})
				return err
			})
		}},
	} {
		trace.statements = nil
		if err := c.read(); err != nil && !strings.Contains(err.Error(), "There is no") {
			t.Errorf("%s: %v", name, err)
		}
		if len(trace.statements) == 0 {
			t.Errorf("%s: no statement", name)
		}
		for i, statement := range trace.statements {
			checkWalletPlan(t, plans, fmt.Sprint(name, i), c.column, statement.SQL)
		}
	}

	for _, table := range (RetentionCutoffs{}).tables() {
		if !strings.HasPrefix(table.name, "wallet_") {
			continue
		}
		column := map[string]string{"wallet_codes": "expires_at", "wallet_used_challenges": "expires_at",
			"wallet_credentials": "revoked_at"}[table.name]
		if column == "" {
			column = "id"
		}
		found := regexp.MustCompile(`Index Cond: \(\(platform_id = \$1\) AND \(` + column + ` [<>]`)
		if plan := strings.Join(plans.explain(table.name, table.sql, 4), "\n"); !found.MatchString(plan) {
			t.Errorf("old rows of %s:\n%s", table.name, plan)
		}
	}
}

// checkWalletPlan checks that a statement finds its rows by the platform and a column.
func checkWalletPlan(t *testing.T, plans planEnv, name, column, statement string) {
	t.Helper()
	plan := strings.Join(plans.explain(`"`+name+`"`, statement, countArguments(statement)), "\n")
	if strings.Contains(plan, "Seq Scan") || !regexp.MustCompile(`Index Cond: \(\(platform_id = .*`+column+` `).MatchString(plan) {
		t.Errorf("%s: %s\n%s", name, statement, plan)
	}
}

// newTracedEnv opens a database and records the statements that its units of work and reads send.
func newTracedEnv(t *testing.T, url string) (*DB, *tracedStatements) {
	t.Helper()
	db, err := Open(t.Context(), Options{URL: url, AllPlatforms: true, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	trace := &tracedStatements{}
	config := db.pool.Config()
	config.ConnConfig.Tracer = trace
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	traced := *db
	traced.pool.Pool = pool
	traced.storage = storage.New(traced.pool, db.clock)
	return &traced, trace
}
