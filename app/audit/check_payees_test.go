package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"causeway/app/audit"
)

func TestCheckPayees_NamesPaymentsThatAreNotWhatWasAccepted(t *testing.T) {
	t.Parallel()
	// A payment that waits for its money has no posting yet, so nothing of it is sealed in the log. Whatever is changed of
	// its payee or its amount is named all the same, and a payment that was not changed is not. An account that was deleted
	// is named itself: nothing can be paid to it.
	e := newEvidenceEnv(t)
	wallet, thief := e.NewWallet("spark1payee"), e.NewWallet("spark1thief")
	q := e.quote(e.QuoteRequest("USD", 10050, wallet))
	e.quote(e.QuoteRequest("USD", 10050, wallet))
	e.seal()
	if report, findings := e.verifyEvidence(); len(findings) > 0 ||
		report.Rules[slices.IndexFunc(report.Rules, func(r audit.RuleReport) bool { return r.Rule == audit.RulePayees })].Checked != 2 {
		t.Fatalf("before: %q, %+v", findings, report.Rules)
	}
	changed := fmt.Sprintf("the payment %s of %s is not what was accepted: its payee or its amount was changed", q.Transaction, e.platform)
	for _, test := range []struct {
		damage string
		rule   audit.Rule
		want   string
	}{
		{fmt.Sprintf("UPDATE transactions SET destination_external = '%s' WHERE id = '%s'", thief.ID.UUID(), q.Transaction.UUID()),
			audit.RulePayees, changed},
		{fmt.Sprintf("UPDATE transactions SET destination_external = '%s', payee_seal = '' WHERE id = '%s'", thief.ID.UUID(),
			q.Transaction.UUID()), audit.RulePayees, changed},
		{fmt.Sprintf("UPDATE transactions SET received_minor = 1 WHERE id = '%s'", q.Transaction.UUID()), audit.RulePayees, changed},
		{fmt.Sprintf("UPDATE external_accounts SET fields = '{\"address\": \"spark1thief\"}' WHERE id = '%s'", wallet.ID.UUID()),
			audit.RulePayees, changed},
		{fmt.Sprintf("DELETE FROM external_accounts WHERE id = '%s'", wallet.ID.UUID()), audit.RuleEvidence,
			fmt.Sprintf("the external-account %s of", wallet.ID.UUID())},
	} {
		e.execAsSuperuser("DROP TABLE IF EXISTS kept_t, kept_a; CREATE TABLE kept_t AS TABLE transactions; CREATE TABLE kept_a AS TABLE " +
			"external_accounts; " + test.damage)

		report, _ := e.verifyEvidence()

		if !slices.ContainsFunc(report.Findings, func(f audit.Finding) bool {
			return f.Rule == test.rule &&
				strings.Contains(f.Message, test.want)
		}) {
			t.Errorf("%s\nwant %q, found %+v", test.damage, test.want, report.Findings)
		}
		e.execAsSuperuser("DELETE FROM transactions; INSERT INTO transactions SELECT * FROM kept_t; DELETE FROM external_accounts; INSERT INTO " +
			"external_accounts SELECT * FROM kept_a")
	}
}
