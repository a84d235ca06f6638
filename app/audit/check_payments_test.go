package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/ports"
)

// withPayments adds what is stored beside payments.
func (e *paidEnv) withPayments(repliesSince time.Time) func(*sources) {
	return func(s *sources) { s.PaymentAudit, s.since.Replies = e.Store, repliesSince }
}

// checkPayments returns the report of the check with the rules of what is stored beside payments, and the findings of one rule.
func (e *paidEnv) checkPayments(rule audit.Rule) (report audit.Report, findings []string) {
	e.t.Helper()
	report, err := e.newService(nil, e.withPayments(e.Clock.Now().AddDate(0, 0, -29))).Check(ports.ForAllPlatforms(e.t.Context()))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Rule != rule {
			e.t.Errorf("%s", f)
		}
		findings = append(findings, f.Message)
	}
	slices.Sort(findings)
	return report, findings
}

// wantDamage checks one rule while a table is damaged, and puts it back.
func (e *paidEnv) wantDamage(rule audit.Rule, table, damage string, want ...string) {
	e.t.Helper()
	e.execAsSuperuser("CREATE TABLE kept AS TABLE " + table + "; " + damage)
	_, findings := e.checkPayments(rule)
	if slices.Sort(want); !slices.Equal(findings, want) {
		e.t.Errorf("%s\nfound %q\nwant  %q", damage, findings, want)
	}
	e.execAsSuperuser("DELETE FROM " + table + "; INSERT INTO " + table + " SELECT * FROM kept; DROP TABLE kept")
}

func checkedBy(report audit.Report, rule audit.Rule) audit.RuleReport {
	return report.Rules[slices.IndexFunc(report.Rules, func(r audit.RuleReport) bool { return r.Rule == rule })]
}

func TestCheckPayments_ListsByStatus(t *testing.T) {
	t.Parallel()
	// The lists by status follow from the transactions. A row of them that is changed, deleted or inserted is named, also of a
	// transaction without a posting, or that does not exist; and so is one of another platform.
	e := newPaidEnv(t)
	waiting := e.quote(e.QuoteRequest("USD", 10050, e.NewWallet("spark1waits"))).Transaction
	report, findings := e.checkPayments(audit.RuleStatuses)
	if n := checkedBy(report, audit.RuleStatuses).Checked; len(findings) > 0 || n != 5 {
		t.Fatalf("%d transactions were compared, found %q", n, findings)
	}
	lacks := func(status, direction string, id ident.Transaction) string {
		return fmt.Sprintf("the list of %s %s transactions of %s lacks %s", status, direction, e.platform, id)
	}
	wrong := func(status, direction string, id ident.Transaction) string {
		return fmt.Sprintf("the list of %s %s transactions of %s has %s, which is none of them", status, direction, e.platform, id)
	}
	of := func(id ident.Transaction) string { return " WHERE id = '" + id.UUID().String() + "'" }
	var nobody ident.Transaction
	nobody.SetUUID(e.platform.UUID())
	for _, d := range []struct {
		damage string
		want   []string
	}{
		{"UPDATE transaction_statuses SET status = 'FAILED'" + of(e.delivered), []string{lacks("COMPLETED", "OUTGOING", e.delivered),
			wrong("FAILED", "OUTGOING", e.delivered)}},
		{"UPDATE transaction_statuses SET direction = 'INCOMING'" + of(e.refunded), []string{lacks("FAILED", "OUTGOING", e.refunded),
			wrong("FAILED", "INCOMING", e.refunded)}},
		{"DELETE FROM transaction_statuses" + of(e.deposited), []string{lacks("COMPLETED", "INCOMING", e.deposited)}},
		{"DELETE FROM transaction_statuses" + of(waiting), []string{lacks("PENDING", "OUTGOING", waiting)}},
		{"INSERT INTO transaction_statuses SELECT platform_id, 'PROCESSING', direction, id FROM transaction_statuses" + of(e.delivered),
			[]string{wrong("PROCESSING", "OUTGOING", e.delivered)}},
		{"INSERT INTO transaction_statuses SELECT platform_id, status, direction, platform_id FROM transaction_statuses" + of(e.delivered),
			[]string{wrong("COMPLETED", "OUTGOING", nobody)}},
	} {
		e.wantDamage(audit.RuleStatuses, "transaction_statuses", d.damage, d.want...)
	}

	e.execAsSuperuser("DELETE FROM transaction_statuses")
	other := e.NewPlatform()
	alone, err := e.newService(nil, e.withPayments(e.Clock.Now())).Of(other.ID).Check(ports.ForAllPlatforms(t.Context()))
	if err != nil || !alone.Clean() {
		t.Errorf("of another platform: %+v, %v", alone.Findings, err)
	}
}

func TestCheckPayments_TransactionsWithoutPostings(t *testing.T) {
	t.Parallel()
	// A transaction without postings is in a state that needs none: one that was never paid is, and no longer when it is said to be
	// completed. Those of other platforms are not counted.
	e := newPaidEnv(t)
	waiting := e.quote(e.QuoteRequest("USD", 10050, e.NewWallet("spark1waits"))).Transaction
	report, findings := e.checkPayments(audit.RuleTransactions)
	if n := checkedBy(report, audit.RuleTransactions).Checked; len(findings) > 0 || n != 5 {
		t.Fatalf("%d transactions were compared, found %q", n, findings)
	}

	e.execAsSuperuser("UPDATE transactions SET status = 'COMPLETED' WHERE id = '" + waiting.UUID().String() + "'")
	damaged, err := e.newService(nil, e.withPayments(e.Clock.Now())).Check(ports.ForAllPlatforms(t.Context()))
	if err != nil || checkedBy(damaged, audit.RuleTransactions).Violations != 1 || !slices.ContainsFunc(damaged.Findings,
		func(f audit.Finding) bool {
			return f.Rule == audit.RuleTransactions && strings.HasPrefix(f.Message, waiting.String()+" on "+e.platform.String()+": ")
		}) {
		t.Errorf("found %+v, %v", damaged.Findings, err)
	}
	other := e.NewPlatform()
	alone, err := e.newService(nil, e.withPayments(e.Clock.Now())).Of(other.ID).Check(ports.ForAllPlatforms(t.Context()))
	if err != nil || !alone.Clean() || checkedBy(alone, audit.RuleTransactions).Checked != 0 {
		t.Errorf("of another platform: %+v, %v", alone, err)
	}
}

func TestCheckPayments_Replies(t *testing.T) {
	t.Parallel()
	// What a partner has said is what was recorded. A reply that is changed in any of its columns, inserted or deleted is named
	// with its payment.
	e := newPaidEnv(t)
	failing := e.receive(e.quote(e.QuoteRequest("USD", 10050, e.NewWallet("spark1007")))) // its refund is refused
	returned := e.receive(e.quote(e.QuoteRequest("USD", 10050, e.NewWallet("spark1005"))))
	for range 5 {
		e.Clock.Advance(time.Hour)
		if err := e.service.RunDue(ports.ForAllPlatforms(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[ident.Transaction]string{failing: "FAILED (refund FAILED)", returned: "FAILED (refund COMPLETED)"} {
		if got := e.Transaction(id).State.String(); got != want {
			t.Fatalf("the payment is %s, not %s", got, want)
		}
	}
	report, findings := e.checkPayments(audit.RuleReplies)
	if n := checkedBy(report, audit.RuleReplies).Checked; len(findings) > 0 || n < 4 {
		t.Fatalf("%d replies were compared, found %q", n, findings)
	}
	var call, verdict string
	var at time.Time
	if err := e.Store.Pool().QueryRow(ports.ForAllPlatforms(t.Context()), "SELECT call, verdict, replied_at FROM rail_replies WHERE "+
		"subject_id = $1 AND verdict = 'REFUSED' AND call <> 'REFUND'",
		e.refunded.UUID()).Scan(&call, &verdict, &at); err != nil {
		t.Fatal(err)
	}
	of := " WHERE subject_id = '" + e.refunded.UUID().String() + "' AND verdict = 'REFUSED' AND call <> 'REFUND'"
	name := func(verdict string, at time.Time) string {
		return fmt.Sprintf("the reply %s to %s about %s of %s, of %s, ", verdict, call, e.refunded.UUID(), e.platform,
			at.UTC().Format(time.RFC3339))
	}
	const changed, inserted = "is not what was recorded: it was changed", "has no hash: it was not recorded by the service"
	missing := func(id ident.Transaction, end string) string {
		return fmt.Sprintf("%s of %s has a posting that its %s, and no reply of the rail says so: the reply was deleted or changed",
			id, e.platform, end)
	}
	for _, d := range []string{"reason = 'OTHER'", "accepted = NOT accepted", "retry_at = '2026-11-21'", "partner_id = 'other'",
		"partner_code = 'AC05'", "partner_text = 'other words'",
		"returned_at = '2026-11-21'", "expected_at = '2026-11-21'", "seal = 'other'"} {
		e.wantDamage(audit.RuleReplies, "rail_replies", "UPDATE rail_replies SET "+d+of, name(verdict, at)+changed)
	}
	e.wantDamage(audit.RuleReplies, "rail_replies", "UPDATE rail_replies SET replied_at = replied_at + interval '1 hour'"+of,
		name(verdict, at.Add(time.Hour))+changed)
	e.wantDamage(audit.RuleReplies, "rail_replies", "UPDATE rail_replies SET verdict = 'WAITING'"+of, name("WAITING", at)+changed,
		missing(e.refunded, "payout was refused"))
	e.wantDamage(audit.RuleReplies, "rail_replies", "UPDATE rail_replies SET seal = ''"+of, name(verdict, at)+inserted)
	e.wantDamage(audit.RuleReplies, "rail_replies",
		`INSERT INTO rail_replies (platform_id, subject_id, replied_at, call, verdict, reason, accepted)
		SELECT platform_id, subject_id, replied_at, call, 'WAITING', '', true FROM rail_replies`+of, name("WAITING", at)+inserted)
	e.wantDamage(audit.RuleReplies, "rail_replies", "INSERT INTO rail_replies SELECT (jsonb_populate_record(r, '{\"verdict\": "+
		"\"UNKNOWN\"}')).* FROM rail_replies r"+of, name("UNKNOWN", at)+changed)
	for id, end := range map[ident.Transaction]string{e.refunded: "payout was refused", returned: "payout was returned",
		failing: "refund was refused"} {
		call := " AND call <> 'REFUND'"
		if id == failing {
			call = " AND call = 'REFUND'"
		}
		e.wantDamage(audit.RuleReplies, "rail_replies", "DELETE FROM rail_replies WHERE subject_id = '"+id.UUID().String()+"'"+call,
			missing(id, end))
	}
}

func TestCheckPayments_RepliesWithoutHashAndAfterTheirRetention(t *testing.T) {
	t.Parallel()
	// Every reply has a hash. Those whose retention has ended are deleted, and are not missed.
	e := newPaidEnv(t)
	e.execAsSuperuser("UPDATE rail_replies SET seal = ''")
	if _, findings := e.checkPayments(audit.RuleReplies); len(findings) == 0 || !strings.Contains(findings[0], "has no hash") {
		t.Fatalf("without hashes: %q", findings)
	}

	e.Clock.Advance(33 * 24 * time.Hour)
	e.execAsSuperuser("DELETE FROM rail_replies")
	if _, findings := e.checkPayments(audit.RuleReplies); len(findings) > 0 {
		t.Errorf("after the retention: %q", findings)
	}
}
