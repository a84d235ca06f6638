package audit_test

import (
	"fmt"
	"testing"

	"causeway/app/audit"
	"causeway/ports"
)

// BenchmarkEvidence reports how many payments, of two postings and a receipt each, are sealed in the log of evidence per
// second, and the disk space of their evidence.
func BenchmarkEvidence(b *testing.B) {
	const payments = 50_000
	e := newPaymentsEnv(b, payments)
	for b.Loop() {
		if err := e.log.SealEvidenceDue(ports.ForAllPlatforms(b.Context())); err != nil {
			b.Fatal(err)
		}
		e.execAsSuperuser("UPDATE ledger_evidence_state SET posting_seq = 999")
	}
	b.ReportMetric(payments*float64(b.N)/b.Elapsed().Seconds(), "payments/s")
	var size int64
	if err := e.Store.Pool().QueryRow(b.Context(), "SELECT pg_total_relation_size('ledger_evidence')").Scan(&size); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(size)/payments/float64(b.N), "bytes/payment")
}

// BenchmarkCheckEvidence reports how many sealed facts of payments are compared with their rows per second.
func BenchmarkCheckEvidence(b *testing.B) {
	const payments = 21_000
	e := newPaymentsEnv(b, payments)
	ctx := ports.ForAllPlatforms(b.Context())
	if err := e.log.SealEvidenceDue(ctx); err != nil {
		b.Fatal(err)
	}
	var facts int64
	for b.Loop() {
		report, err := e.newService(nil, e.withEvidence).OnlyEvidence().Check(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if facts = e.countChecked(report, audit.RuleEvidence); facts < 3*payments || len(report.Findings) > 0 {
			b.Fatalf("%d facts, %v", facts, report.Findings)
		}
	}
	b.ReportMetric(float64(facts)*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}

// newPaymentsEnv has copies of a delivered payment, of two postings and a receipt each, which are not sealed.
func newPaymentsEnv(b *testing.B, payments int) *evidenceEnv {
	b.Helper()
	e := &evidenceEnv{paidEnv: newPaidEnv(b)}
	e.openLog()
	e.seal()
	e.execAsSuperuser(
		fmt.Sprintf(
			`CREATE TEMPORARY TABLE copies AS SELECT gen_random_uuid() AS t, gen_random_uuid() AS q, gen_random_uuid() AS r, n FROM generate_series(1, %[2]d) n;
		INSERT INTO receipts SELECT (jsonb_populate_record(s, jsonb_build_object('id', c.r, 'partner_id', c.r))).* FROM receipts s, copies c WHERE s.id = (SELECT receipt_id FROM transactions WHERE id = '%[1]s');
		INSERT INTO quotes SELECT (jsonb_populate_record(s, jsonb_build_object('id', c.q, 'transaction_id', c.t, 'reference', ''))).* FROM quotes s, copies c WHERE s.transaction_id = '%[1]s';
		INSERT INTO transactions SELECT (jsonb_populate_record(s, jsonb_build_object('id', c.t, 'quote_id', c.q, 'receipt_id', c.r))).* FROM transactions s, copies c WHERE s.id = '%[1]s';
		INSERT INTO ledger_postings SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'transaction_id', c.t, 'recorded_at', s.recorded_at + interval '1 hour', 'seq', 2 * c.n + 998 + k))).* FROM ledger_postings s, copies c, generate_series(0, 1) k
			WHERE s.seq = (SELECT min(seq) FROM ledger_postings WHERE transaction_id = '%[1]s');
		UPDATE ledger_evidence_state SET posting_seq = 999; UPDATE ledger_log_state SET size = 999 + 2 * %[2]d; ANALYZE`,
			e.delivered.UUID(), payments))
	return e
}
