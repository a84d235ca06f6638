package migrations_test

import (
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

func TestUp_PartitionsExistingPostings(t *testing.T) {
	t.Parallel()
	// Postings of books without months go to the months in which they were recorded, in
	// UTC, whatever the time zone of who migrates; they are found by their ids, nothing of
	// them changes, and what is posted next goes on from there.
	url := pgtest.NewEmpty(t)
	db := openDB(t, url)
	if err := migrations.UpFrom(t.Context(), db, filesBefore(t, "00018")); err != nil {
		t.Fatal(err)
	}
	const (
		one = "019542f5-b3e7-7d02-8000-000000000001"
		two = "019542f5-b3e7-7d02-8000-000000000002"
	)
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.Exec(statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, platform := range []string{one, two} {
		exec(`INSERT INTO ledger_accounts (platform_id, path, currency, class, guarded)
			VALUES ($1, 'rails/RTP', 'USD', 'asset', false), ($1, 'funding/jit', 'USD', 'liability', false)`, platform)
		exec(`INSERT INTO ledger_clock (platform_id, seq, recorded_at) VALUES ($1, 4, '2026-03-01Z')`, platform)
		exec(`INSERT INTO ledger_checkpointed (platform_id, seq) VALUES ($1, 4)`, platform)
		for i, at := range []string{"2025-12-31 23:59:59Z", "2026-01-01Z", "2026-02-28 23:59:59.999999Z", "2026-03-01Z"} {
			seq := i + 1
			exec(`INSERT INTO ledger_postings (platform_id, id, seq, reverses, effective_at, recorded_at, kind, memo, digest)
				SELECT $1::uuid, ('019542f5-b3e7-7d02-9000-00000000000' || $2::int)::uuid, $2, CASE WHEN $2 = 4 THEN '019542f5-b3e7-7d02-9000-000000000001'::uuid END,
					'2026-01-15Z', $3, CASE WHEN $2 = 4 THEN 'reversal' ELSE 'jit_received' END, 'm', sha256('')`, platform, seq, at)
			exec(`INSERT INTO ledger_entries (platform_id, seq, debit_account, credit_account, amount, n, currency)
				SELECT $1::uuid, $2, min(id), max(id), 100, 1, 'USD' FROM ledger_accounts WHERE platform_id = $1::uuid`, platform, seq)
		}
	}
	exec(`INSERT INTO ledger_checkpoints (platform_id, account_id, seq, balance, earliest, latest)
		SELECT platform_id, id, 4, 0, now(), now() FROM ledger_accounts`)
	exec(`INSERT INTO ledger_authorisations (platform_id, posting_id, token_id, note, authorised_at)
		VALUES ($1, '019542f5-b3e7-7d02-9000-000000000002', $1, 'why', now())`, one)
	const said = `SELECT md5(string_agg(p.*::text, ',' ORDER BY p.platform_id, p.seq)) FROM (
		SELECT platform_id, id, seq, reverses, effective_at, recorded_at, xid, kind, memo, digest FROM ledger_postings) p`
	text := func(query string) (answer string) {
		t.Helper()
		if err := db.QueryRow(query).Scan(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	before := text(said)
	if err := migrations.Up(t.Context(), openDB(t, url+"&timezone=America/New_York")); err != nil {
		t.Fatal(err)
	}

	if after := text(said); after != before {
		t.Error("postings say something else")
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM ledger_postings_202512": "2",
		"SELECT count(*) FROM ledger_entries_202601":  "2",
		"SELECT count(*) FROM ledger_postings_202602": "2",
		"SELECT count(*) FROM ledger_entries_202603 e JOIN ledger_postings_202603 p USING (platform_id, seq, recorded_at)":       "2",
		"SELECT string_agg(month || ' ' || first_seq, ', ' ORDER BY month) FROM ledger_months WHERE platform_id = '" + one + "'": "2025-12-01 1, 2026-01-01 2, 2026-02-01 3, 2026-03-01 4",
		"SELECT string_agg(DISTINCT (month_ends AT TIME ZONE 'UTC')::text, ',') FROM ledger_clock":                               "2026-04-01 00:00:00",
		"SELECT count(*) FROM ledger_posting_ids x JOIN ledger_postings p USING (platform_id, id, seq, recorded_at)":             "8",
		"SELECT count(*) FROM ledger_posting_ids WHERE reverses IS NOT NULL":                                                     "2",
		"SELECT count(*) FROM ledger_checkpoints":                                                                                "0",
		"SELECT sum(seq) FROM ledger_checkpointed":                                                                               "0",
		"SELECT ledger_seq_at('" + one + "', '2026-02-28 23:59:59.999998Z')":                                                     "2",
		"SELECT ledger_seq_at('" + one + "', '2026-02-28 23:59:59.999999Z')":                                                     "3",
	} {
		if got := text(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if _, err := db.Exec(`INSERT INTO ledger_authorisations (platform_id, posting_id, token_id, note, authorised_at) VALUES ($1, $2, $1, 'why', now())`, one, one); err == nil {
		t.Error("what was never posted is authorised")
	}
}
