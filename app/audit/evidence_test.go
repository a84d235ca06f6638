package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/app/audit"
	"causeway/core/fault"
	"causeway/ledger"
	"causeway/ports"
)

// evidenceEnv has facts of every kind, sealed, and their published checkpoints.
type evidenceEnv struct {
	*paidEnv
	log       *audit.Log
	published bytes.Buffer
}

// evidenceFixture adds decisions of people to the payments: they are rows as the service writes them.
const evidenceFixture = `
	INSERT INTO ledger_period_changes (platform_id, month, action, changed_at, note) SELECT platform_id, '2026-10-01', 'soft-close', recorded_at, 'books of October' FROM ledger_clocks;
	INSERT INTO ledger_closings (platform_id, month, closed_at, note, seq, digest, next_month_seq)
		SELECT platform_id, '2026-10-01', now(), 'closed', 1, (SELECT digest FROM ledger_postings WHERE seq = 1), 1 FROM ledger_clocks;
	INSERT INTO ledger_closing_lines (platform_id, month, account_id, opening, debits, credits, closing) SELECT platform_id, '2026-10-01', id, 0, 0, 0, 0 FROM ledger_accounts LIMIT 2;
	INSERT INTO unmatched_assignments (platform_id, posting_id, receipt_id, note, token_id, assigned_at)
		SELECT u.platform_id, u.posting_id, u.receipt_id, 'sent back', gen_random_uuid(), now() FROM unmatched_funds u;
	INSERT INTO reconciliation_lines (platform_id, id, reconciliation_id, account, currency, fingerprint, ordinal, booking_date, value_date, amount, servicer_reference, reference_list, description, returned)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000a1', '01930000-0000-7000-8000-0000000000a0', 'rails/RTP', 'USD', sha256('line'), 0, '2026-11-20', '2026-11-20', 5, '', '', '', false FROM ledger_clocks;
	INSERT INTO reconciliation_breaks (platform_id, id, reconciliation_id, account, currency, reason, line_id, reference, difference, explanation, created_at)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000b1', '01930000-0000-7000-8000-0000000000a0', 'rails/RTP', 'USD', 'MISSING_IN_LEDGER', '01930000-0000-7000-8000-0000000000a1', '', 5, '', now() FROM ledger_clocks;
	INSERT INTO reconciliation_matches (platform_id, id, reconciliation_id, rule, reference, day_difference, explanation)
		SELECT platform_id, ('01930000-0000-7000-8000-0000000000d' || n)::uuid, '01930000-0000-7000-8000-0000000000a0', 'REFERENCE', 'r', 0, '' FROM ledger_clocks, generate_series(1, 2) n;
	INSERT INTO reconciliation_matched_lines (platform_id, line_id, match_id)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000a2', '01930000-0000-7000-8000-0000000000d1' FROM ledger_clocks;
	INSERT INTO reconciliation_matched_entries (platform_id, account, seq, entry_no, match_id)
		SELECT platform_id, 'rails/RTP', 1, 1, '01930000-0000-7000-8000-0000000000d1' FROM ledger_clocks;
	INSERT INTO reconciliations (platform_id, id, account, currency, format, digest, statement_ids, partner_account, first_day, last_day, line_count, known_line_count, ignored_line_count,
		matches, breaks, matched_line_count, matched_entry_count, earlier_breaks_resolved, created_by, created_at)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000a0', 'rails/RTP', 'USD', 'camt053', sha256('file'), '', '', '2026-11-20', '2026-11-20', 1, 0, 0, '{}', '{}', 0, 0, 0, 'ops', now() FROM ledger_clocks;
	INSERT INTO reconciliation_resolutions (platform_id, break_id, method, note, resolved_by, resolved_at)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000b1', 'NOTE', 'a fee', 'ops', now() FROM ledger_clocks;
	INSERT INTO ledger_authorisations (platform_id, posting_id, token_id, note, authorised_at) SELECT platform_id, id, gen_random_uuid(), 'agreed', now() FROM ledger_postings WHERE seq = 1`

func newEvidenceEnv(t *testing.T) *evidenceEnv {
	t.Helper()
	e := &evidenceEnv{paidEnv: newPaidEnv(t)}
	// Funds that belong to no transaction.
	receipt := e.NewReceipt("RTP", "nobody knows this", usd(300))
	if _, err := e.service.Receive(t.Context(), receipt, nil); !fault.Is(err, fault.ReferenceNotFound) {
		t.Fatal(err)
	}
	if _, err := e.Store.Pool().Exec(t.Context(), evidenceFixture); err != nil {
		t.Fatal(err)
	}
	e.execAsSuperuser("UPDATE quotes SET description = 'rent' WHERE transaction_id = '" + e.delivered.UUID().String() + "'")
	e.openLog()
	e.seal()
	return e
}

// openLog creates the log that seals and publishes.
func (e *evidenceEnv) openLog() {
	e.t.Helper()
	key := sha256.Sum256([]byte("master"))
	box, err := encryption.New(key[:])
	if err != nil {
		e.t.Fatal(err)
	}
	e.log = audit.NewLog(audit.LogConfig{Log: e.Store.LedgerLog(), Evidence: e.Store.EvidenceLog(),
		Signer: checkpoints.NewKeyring(e.Store.LedgerLog(), box, e.Clock, e.IDs), Publisher: e,
		Clock: e.Clock, Logger: e.Log, Interval: time.Minute})
}

// Publish keeps checkpoints outside of the database.
func (*evidenceEnv) Newest(context.Context) ([]string, error) { return nil, nil }

func (e *evidenceEnv) Publish(_ context.Context, checkpoints []ports.SignedCheckpoint) error {
	for _, c := range checkpoints {
		e.published.WriteString(c.Note + "\n")
	}
	return nil
}

func (e *evidenceEnv) seal() {
	e.t.Helper()
	ctx := ports.ForAllPlatforms(e.t.Context())
	for _, step := range []func(context.Context) error{e.log.SealDue, e.log.SealEvidenceDue, e.log.PublishDue} {
		if err := step(ctx); err != nil {
			e.t.Fatal(err)
		}
	}
}

// verifyEvidence returns the report of verify, with only the findings about evidence.
func (e *evidenceEnv) verifyEvidence() (report audit.Report, findings []string) {
	e.t.Helper()
	published, err := audit.ReadCheckpoints("published", strings.NewReader(e.published.String()))
	if err != nil {
		e.t.Fatal(err)
	}
	report, err = e.newService(e.Store.CheckTransactions, e.withEvidence).OnlyEvidence().Verify(ports.ForAllPlatforms(e.t.Context()),
		audit.VerifyOptions{Published: published, SealedBefore: e.Clock.Now().Add(time.Hour)})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range report.Findings {
		switch f.Rule {
		case audit.RuleEvidence, audit.RuleErasedTexts, audit.RuleEvidenceCheckpoints, audit.RulePublishedEvidence, audit.RuleEvidenceInTime:
			findings = append(findings, f.Message)
		}
	}
	return report, findings
}

func (e *evidenceEnv) countChecked(report audit.Report, rule audit.Rule) int64 {
	for _, r := range report.Rules {
		if r.Rule == rule {
			return r.Checked
		}
	}
	return -1
}

func TestEvidence_UnchangedFactsHaveNoFindings(t *testing.T) {
	t.Parallel()
	// Facts of every kind are sealed once, and nothing is found while they are as they were, also when more are
	// recorded and sealed later.
	e := newEvidenceEnv(t)
	report, findings := e.verifyEvidence()
	for _, f := range findings {
		t.Error(f)
	}
	// Four payments with texts and receipts of their own, a receipt of nobody, eight decisions and a checkpoint.
	if n := e.countChecked(report, audit.RuleEvidence); n < 4+4+1+8+1 {
		t.Errorf("%d facts are sealed", n)
	}
	for _, kind := range []ledger.FactKind{ledger.FactTransaction, ledger.FactTexts, ledger.FactReceipt, ledger.FactClosing,
		ledger.FactPeriodChange, ledger.FactAuthorisation,
		ledger.FactAssignment, ledger.FactReconciliation, ledger.FactMatches, ledger.FactResolution, ledger.FactCheckpoint} {
		var sealed bool
		if err := e.Store.Pool().QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM ledger_evidence WHERE $1 = ANY (kinds))",
			string(kind)).Scan(&sealed); err != nil || !sealed {
			t.Errorf("no fact of the kind %s is sealed, %v", kind, err)
		}
	}
	if n := e.countChecked(report, audit.RulePublishedEvidence); n != 1 {
		t.Errorf("%d published checkpoints of evidence were compared", n)
	}

	e.deposit(e.NewInternalAccount(e.NewCustomer("third").ID, "USD", 0))
	e.seal()

	if _, findings := e.verifyEvidence(); len(findings) > 0 {
		t.Errorf("after another payment: %v", findings)
	}
	var leaves int64
	if err := e.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM ledger_evidence").Scan(&leaves); err != nil {
		t.Fatal(err)
	}
	e.seal()
	var after int64
	if err := e.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM ledger_evidence").Scan(&after); err != nil || after != leaves {
		t.Errorf("sealing again added %d leaves, %v", after-leaves, err)
	}
}

func TestEvidence_FindsDamage(t *testing.T) {
	t.Parallel()
	// Whatever is changed, deleted or inserted without the service, of each kind of fact and of the evidence itself,
	// is found and named.
	e := newEvidenceEnv(t)
	e.deposit(e.NewInternalAccount(e.NewCustomer("third").ID, "USD", 0))
	e.seal() // a second checkpoint
	tables := []string{"transactions", "quotes", "receipts", "unmatched_funds", "unmatched_assignments", "ledger_closings",
		"ledger_closing_lines", "ledger_period_changes", "ledger_authorisations",
		"reconciliations", "reconciliation_lines", "reconciliation_matches", "reconciliation_matched_lines", "reconciliation_matched_entries",
		"reconciliation_breaks",
		"reconciliation_resolutions", "ledger_log_checkpoints",
		"ledger_evidence", "ledger_evidence_checkpoints", "ledger_evidence_state", "ledger_evidence_queue"}
	for _, table := range tables {
		e.execAsSuperuser("CREATE TABLE kept_" + table + " AS TABLE " + table)
	}
	delivered := e.delivered.UUID().String()
	matches := "the reconciliation-matches 01930000-0000-7000-8000-0000000000a0 of " + e.platform.String() +
		" is not what was sealed at 2026-11-20T12:03:00Z"
	for damage, want := range map[string]string{
		"UPDATE transactions SET customer_id = NULL WHERE id = '" + delivered + "'": "the transaction " + delivered +
			" of " + e.platform.String() + " is not what was sealed",
		"UPDATE transactions SET destination_external = gen_random_uuid() WHERE id = '" + delivered + "'": "destination_external was changed",
		"UPDATE quotes SET purpose = 'GIFT' WHERE transaction_id = '" + delivered + "'":                   "quote.purpose was changed",
		"UPDATE quotes SET description = 'nothing to see' WHERE transaction_id = '" + delivered + "'":     "description was changed",
		"UPDATE transactions SET source_uma = '$mallory@example.com' WHERE id = '" + delivered + "'":      "source_uma was changed",
		"DELETE FROM transactions WHERE id = '" + delivered + "'": "the transaction " + delivered +
			" of " + e.platform.String() + ", sealed at",
		"UPDATE receipts SET reference = 'known'":     "reference was changed",
		"DELETE FROM receipts":                        "the receipt ",
		"UPDATE ledger_closings SET note = 'nothing'": "the closing 2026-10-01 of " + e.platform.String() + " is not what was sealed",
		"UPDATE ledger_closing_lines SET debits = 1, closing = 1 WHERE account_id = (SELECT min(account_id) FROM " +
			"ledger_closing_lines)": "trial_balance was changed",
		"DELETE FROM ledger_closing_lines":                  "trial_balance was changed",
		"DELETE FROM ledger_closings":                       "the closing 2026-10-01 of " + e.platform.String() + ", sealed at",
		"UPDATE ledger_closings SET month = '2026-09-01'":   "the closing 2026-09-01 of " + e.platform.String() + " has no evidence",
		"UPDATE ledger_period_changes SET note = 'nothing'": "the period-change 1 of " + e.platform.String() + " is not what was sealed",
		"DELETE FROM ledger_period_changes":                 "the period-change 1 of " + e.platform.String() + ", sealed at",
		"INSERT INTO ledger_period_changes (platform_id, month, action, changed_at, note) SELECT platform_id, month, 'reopen', changed_at, '' " +
			"FROM ledger_period_changes": "has no evidence: it was not recorded by the service",
		"UPDATE ledger_authorisations SET token_id = gen_random_uuid()": "token_id was changed",
		"DELETE FROM ledger_authorisations":                             "the authorisation ",
		"INSERT INTO ledger_authorisations (platform_id, posting_id, token_id, note, authorised_at) SELECT platform_id, id, gen_random_uuid(), " +
			"'agreed', now() FROM ledger_postings WHERE seq = 2": "has no evidence: it was not recorded by the service",
		"UPDATE unmatched_assignments SET note = 'kept'":            "the assignment ",
		"DELETE FROM unmatched_funds":                               "is of unmatched funds, and has no receipt",
		"UPDATE unmatched_funds SET posting_id = gen_random_uuid()": "is of unmatched funds, and has no receipt",
		"DELETE FROM unmatched_assignments":                         "the assignment ",
		"INSERT INTO unmatched_assignments SELECT platform_id, gen_random_uuid(), receipt_id, NULL, NULL, 'x', token_id, assigned_at FROM " +
			"unmatched_assignments": "has no evidence: it was not recorded by the service",
		"UPDATE reconciliations SET matched_line_count = 1":       "matched_line_count was changed",
		"UPDATE reconciliation_lines SET amount = 6":              "statement_lines was changed",
		"UPDATE reconciliation_lines SET account = 'rails/WIRE'":  "statement_lines was changed",
		"UPDATE reconciliation_breaks SET account = 'rails/WIRE'": "breaks_found was changed",
		"UPDATE reconciliation_breaks SET currency = 'EUR'":       "breaks_found was changed",
		"DELETE FROM reconciliation_lines":                        "statement_lines was changed",
		"UPDATE reconciliation_breaks SET difference = 6":         "breaks_found was changed",
		"DELETE FROM reconciliations":                             "the reconciliation ",
		"UPDATE reconciliations SET id = gen_random_uuid()": "has no evidence: it was not recorded by the " +
			"service",
		"UPDATE reconciliation_matches SET rule = 'AMOUNT'": matches + ": matches was changed",
		"UPDATE reconciliation_matches SET reconciliation_id = gen_random_uuid()": matches +
			": matched_entries, matched_lines, matches was changed",
		"DELETE FROM reconciliation_matches WHERE id = '01930000-0000-7000-8000-0000000000d2'": matches + ": matches was changed",
		"INSERT INTO reconciliation_matches SELECT platform_id, gen_random_uuid(), reconciliation_id, rule, reference, day_difference, " +
			"explanation FROM reconciliation_matches LIMIT 1": matches + ": matches was changed",
		"UPDATE reconciliation_matched_lines SET line_id = '01930000-0000-7000-8000-0000000000a1'":  matches + ": matched_lines was changed",
		"UPDATE reconciliation_matched_lines SET match_id = '01930000-0000-7000-8000-0000000000d2'": matches + ": matched_lines was changed",
		"DELETE FROM reconciliation_matched_lines":                                                  matches + ": matched_lines was changed",
		"INSERT INTO reconciliation_matched_lines SELECT platform_id, gen_random_uuid(), match_id FROM reconciliation_matched_lines": matches +
			": matched_lines was changed",
		"UPDATE reconciliation_matched_entries SET seq = 2": matches +
			": matched_entries was changed",
		"DELETE FROM reconciliation_matched_entries": matches +
			": matched_entries was changed",
		"INSERT INTO reconciliation_matched_entries SELECT platform_id, account, 2, 1, match_id FROM reconciliation_matched_entries": matches +
			": matched_entries was changed",
		// What belongs to no match, or to no reconciliation, would keep a line from being matched.
		"INSERT INTO reconciliation_matches SELECT platform_id, '01930000-0000-7000-8000-0000000000d9', gen_random_uuid(), rule, reference, " +
			"day_difference, explanation FROM reconciliation_matches LIMIT 1": "the match 01930000-0000-7000-8000-0000000000d9 of " +
			e.platform.String() + " belongs to no reconciliation",
		"INSERT INTO reconciliation_matched_lines SELECT platform_id, '01930000-0000-7000-8000-0000000000a9', gen_random_uuid() FROM " +
			"ledger_clocks": "the matched line 01930000-0000-7000-8000-0000000000a9 of " +
			e.platform.String() + " belongs to no match",
		"INSERT INTO reconciliation_matched_entries SELECT platform_id, 'rails/RTP', 3, 1, gen_random_uuid() FROM ledger_clocks": "the " +
			"matched entry rails/RTP/3/1 of " + e.platform.String() + " belongs to no match",
		"UPDATE reconciliation_resolutions SET note = 'lost'": "the " +
			"resolution ",
		"DELETE FROM reconciliation_resolutions": "the " +
			"resolution ",
		"UPDATE reconciliation_resolutions SET break_id = gen_random_uuid()": "has no " +
			"evidence: it was not recorded by the service",
		"UPDATE ledger_log_checkpoints SET previous_size = 1 WHERE size = (SELECT min(size) FROM " +
			"ledger_log_checkpoints)": "previous_size was changed",
		"DELETE FROM ledger_log_checkpoints WHERE size = (SELECT min(size) FROM ledger_log_checkpoints)": "the " +
			"checkpoint ",

		"UPDATE ledger_evidence SET hashes[1] = sha256('other') WHERE seq = 1": "the checkpoint of evidence of size",
		"UPDATE ledger_evidence SET subjects[1] = gen_random_uuid()::text WHERE seq = 1": "does not match the leaves of evidence: no earlier " +
			"one matches",
		"DELETE FROM ledger_evidence WHERE seq = 1":                                      "leaf of evidence number 1 is missing",
		"DELETE FROM ledger_evidence WHERE seq = (SELECT max(seq) FROM ledger_evidence)": "the newest 1 leaves of evidence are missing",
		"INSERT INTO ledger_evidence SELECT platform_id, seq + 1, sealed_at, kinds, subjects, hashes, hints FROM ledger_evidence ORDER BY seq " +
			"DESC LIMIT 1": "but not as many leaves",
		"DELETE FROM ledger_evidence_checkpoints WHERE size = (SELECT min(size) FROM ledger_evidence_checkpoints)": "was sealed after it",
		"DELETE FROM ledger_evidence_checkpoints WHERE size = (SELECT max(size) FROM ledger_evidence_checkpoints)": "is missing among " +
			"the stored checkpoints",
		"UPDATE ledger_evidence_checkpoints SET root_hash = sha256('other')": "its signed note " +
			"has another content",
		"UPDATE ledger_evidence_state SET partial_tiles = set_byte(partial_tiles, 0, 1 # get_byte(partial_tiles, 0))": "has wrong hashes " +
			"in its partial tiles",
		"DELETE FROM ledger_evidence; DELETE FROM ledger_evidence_checkpoints; DELETE FROM ledger_evidence_state": "are missing on " +
			e.platform.String(),
		"UPDATE ledger_evidence_state SET posting_seq = 0": "are not sealed " +
			"in the log of evidence",
		"INSERT INTO ledger_evidence_queue SELECT platform_id, 'closing', '2026-10-01', '2026-01-01' FROM ledger_clocks": "1 facts or " +
			"postings of",
	} {
		e.execAsSuperuser(damage)

		_, findings := e.verifyEvidence()

		if !strings.Contains(strings.Join(findings, "\n"), want) {
			t.Errorf("%s\nwant %q, found %q", damage, want, findings)
		}
		for _, table := range tables {
			e.execAsSuperuser("DELETE FROM " + table + "; INSERT INTO " + table + " OVERRIDING SYSTEM VALUE SELECT * FROM kept_" + table)
		}
	}
	if _, findings := e.verifyEvidence(); len(findings) > 0 {
		t.Errorf("after everything was put back: %v", findings)
	}
}

func TestEvidence_FindsSkippedPayments(t *testing.T) {
	t.Parallel()
	// Somebody marks postings as sealed in the log of evidence, so that the payments, and the receipts that belong to
	// none, never are: each is named.
	e := newEvidenceEnv(t)
	e.Clock.Advance(time.Minute)
	e.execAsSuperuser("UPDATE ledger_evidence_state SET posting_seq = 1000000")
	skipped := e.deposit(e.NewInternalAccount(e.NewCustomer("third").ID, "USD", 0))
	unmatched := e.NewReceipt("RTP", "nobody knows this either", usd(400))
	if _, err := e.service.Receive(t.Context(), unmatched, nil); !fault.Is(err, fault.ReferenceNotFound) {
		t.Fatal(err)
	}
	e.seal()

	_, findings := e.verifyEvidence()

	suffix := " of " + e.platform.String() + " has no evidence: its postings were marked as sealed, and it was not"
	if want := []string{"the receipt " + unmatched.ID.UUID().String() + suffix, "the transaction " + skipped.UUID().String() +
		suffix}; !slices.Equal(findings, want) {
		t.Errorf("found %q, want %q", findings, want)
	}
}

func TestEvidence_LeavesFactsOfLaterVersions(t *testing.T) {
	t.Parallel()
	// A later version records a fact of a kind that this one does not know, while both serve: it stays queued for
	// the later version, and the facts after it are sealed.
	e := newEvidenceEnv(t)
	e.execAsSuperuser(`INSERT INTO ledger_evidence_queue SELECT platform_id, 'a-later-kind', '1', now() FROM ledger_clocks;
		INSERT INTO ledger_evidence_queue SELECT platform_id, 'period-change', '1', now() FROM ledger_clocks`)

	e.seal()

	var queued []string
	if err := e.Store.Pool().QueryRow(t.Context(), "SELECT array_agg(kind) FROM ledger_evidence_queue").Scan(&queued); err != nil ||
		!slices.Equal(queued, []string{"a-later-kind"}) {
		t.Errorf("queued are %v, %v", queued, err)
	}
}

func TestEvidence_ErasedTextsNeedDeletedCustomer(t *testing.T) {
	t.Parallel()
	// Texts that were removed are counted as erased if the customer is deleted, and are a finding if it is not.
	e := newEvidenceEnv(t)
	delivered := e.delivered.UUID().String()
	e.execAsSuperuser("UPDATE quotes SET description = '' WHERE transaction_id = '" + delivered + "'; UPDATE transactions SET details = '' " +
		"WHERE id = '" + delivered + "'")
	if _, findings := e.verifyEvidence(); len(findings) != 1 || !strings.Contains(findings[0], "the texts of the transaction "+delivered) {
		t.Errorf("removed: %v", findings)
	}
	if _, err := e.Store.Pool().Exec(t.Context(), "UPDATE customers SET deleted_at = now() WHERE id = (SELECT customer_id FROM transactions "+
		"WHERE id = '"+delivered+"')"); err != nil {
		t.Fatal(err)
	}

	report, findings := e.verifyEvidence()

	if n := e.countChecked(report, audit.RuleErasedTexts); len(findings) > 0 || n != 1 {
		t.Errorf("erased: %v, %d counted", findings, n)
	}
	e.execAsSuperuser("UPDATE quotes SET description = 'loan' WHERE transaction_id = '" + delivered + "'")
	if _, findings := e.verifyEvidence(); len(findings) != 1 || !strings.Contains(findings[0], "description was changed") {
		t.Errorf("changed: %v", findings)
	}
}

func TestVerifyExport_Evidence(t *testing.T) {
	t.Parallel()
	// An export of the evidence is verified with its checkpoints alone, and every change of the file is found.
	e := newEvidenceEnv(t)
	e.deposit(e.NewInternalAccount(e.NewCustomer("third").ID, "USD", 0))
	e.seal()
	var file bytes.Buffer
	if _, err := e.newService(nil, e.withEvidence).ExportEvidence(ports.ForAllPlatforms(t.Context()), e.platform, 0, &file); err != nil {
		t.Fatal(err)
	}
	published, err := audit.ReadCheckpoints("published", strings.NewReader(e.published.String()))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := e.log.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	complete := file.String()
	lines := strings.SplitAfter(complete, "\n")
	for name, c := range map[string]struct{ export, finding, err string }{
		"complete": {export: complete},
		"a subject": {export: strings.Replace(complete, `"subject":"2026-10-01"`, `"subject":"2026-11-01"`, 1),
			finding: "does not match the leaves of evidence"},
		"a kind": {export: strings.Replace(complete, `"kind":"closing"`, `"kind":"opening"`, 1), finding: "does not match the leaves " +
			"of evidence"},
		"the root":       {export: changeRoot(complete), finding: "changed after it was written"},
		"a deleted line": {export: lines[0] + strings.Join(lines[2:], ""), finding: "leaf of evidence number 1 is missing"},
		"truncated":      {export: strings.Join(lines[:2], ""), err: "truncated after line 2, number 1"},
		"a short hash":   {export: strings.Replace(complete, `"hash":"`, `"hash":"AAAA","x":"`, 1), err: "unknown field"},
		"no newest leaf": {export: strings.Join(append(lines[:len(lines)-3:len(lines)-3], lines[len(lines)-2:]...), ""),
			finding: "the newest 1 leaves of evidence are missing"},
	} {
		report, err := audit.VerifyExport(t.Context(), strings.NewReader(c.export), audit.VerifyOptions{Published: published,
			Keys: [][32]byte{keys[0].Public}})
		found := ""
		for _, f := range report.Findings {
			found += f.String() + "\n"
		}
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)), c.err == "" && err != nil:
			t.Errorf("%s: %v, want %q", name, err, c.err)
		case c.finding == "" && found != "", !strings.Contains(found, c.finding):
			t.Errorf("%s: found %q, want %q", name, found, c.finding)
		}
	}
}
