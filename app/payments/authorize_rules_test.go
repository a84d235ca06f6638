package payments_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/core/fault"
	"causeway/core/limit"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
)

func TestAuthorize_LedgerCheckFindsMissingProofs(t *testing.T) {
	t.Parallel()
	// A payment that has left without a proof of its payer is found, whatever was changed in the database so that nobody sees it.
	e := newPayerEnv(t, sca.Exemptions{})
	e.Platform.SCAPaymentsSince = e.Clock.Now().Add(-time.Hour)
	asked := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 10_000)
	e.execute(t, asked.Quote)
	if _, err := e.authorize(asked.Quote, right); err != nil {
		t.Fatal(err)
	}
	id := e.waitForStatus(asked.Quote.Transaction, transaction.Completed).ID
	e.checkLedger(t)

	of := " WHERE id = '" + id.UUID().String() + "'"
	const without = "there is neither a proof for PAYOUT nor an exemption"
	for _, test := range []struct{ damage, repair, want string }{
		{"DELETE FROM payment_authorizations", "", without},
		{"UPDATE payment_authorizations SET purpose = 'TRANSFER'", "", without},
		{"UPDATE payment_authorizations SET digest = sha256('another')", "", "its payer has authorised something else"},
		{"DELETE FROM payment_authorizations; UPDATE transactions SET payer_authorization = NULL" + of,
			"UPDATE transactions SET payer_authorization = 'AUTHORIZED'" + of, without},
		{"DELETE FROM payment_authorizations; UPDATE transactions SET payer_authorization = 'EXEMPT'" + of,
			"UPDATE transactions SET payer_authorization = 'AUTHORIZED'" + of, without},
		{"UPDATE transactions SET payer_authorization = 'REQUIRED'" + of, "UPDATE transactions SET payer_authorization = 'AUTHORIZED'" + of,
			"its payer has authorised it, and it does not say so"},
	} {
		pgtest.ExecAsSuperuser(t, e.URL, "CREATE TABLE kept AS TABLE payment_authorizations; "+test.damage)
		found := slices.DeleteFunc(audittest.Check(t, e.Env).Findings, func(f audit.Finding) bool { return f.Rule == audit.RuleEvidence })
		if len(found) != 1 || found[0].Rule != audit.RuleTransactions || !strings.Contains(found[0].Message, test.want) ||
			!strings.Contains(found[0].Message, id.String()) {
			t.Errorf("%s\nfound %+v\nwant  %q", test.damage, found, test.want)
		}
		pgtest.ExecAsSuperuser(t, e.URL, "DELETE FROM payment_authorizations; INSERT INTO payment_authorizations SELECT * FROM kept; "+
			"DROP TABLE kept; "+test.repair)
	}
	e.checkLedger(t)
}

func TestAuthorize_DatabaseRefusesPaymentsWithoutProof(t *testing.T) {
	t.Parallel()
	// The database does not let a payment begin that its payer has to authorise and has not, whatever the service does.
	e := newPayerEnv(t, sca.Exemptions{})
	asked := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 10_000)
	for _, claimed := range []string{"REQUIRED", "AUTHORIZED", "EXEMPT"} {
		err := e.Exec("UPDATE transactions SET status = 'PROCESSING', payer_authorization = '" + claimed + "' WHERE id = '" +
			asked.Quote.Transaction.UUID().String() + "'")
		if err == nil || !strings.Contains(err.Error(), "has a payer who has to authorise it") {
			t.Errorf("%s: %v", claimed, err)
		}
	}
}

func TestAuthorize_WithinLimits(t *testing.T) {
	t.Parallel()
	// A payment takes from the limits when its payer has authorised it, and not when the payer is asked. A proof of a payment that
	// the limits do not allow any more is not used up.
	e := newPayerEnv(t, sca.Exemptions{})
	limited := newLimits(t, e.env)
	limited.Customer = e.payer
	pay := func(minor int64) quote.Quote {
		return e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, minor).Quote
	}
	first, second := pay(50_00), pay(60_00)
	for _, q := range []quote.Quote{first, second} {
		if asked := e.execute(t, q); asked.Status != quote.PendingAuthorization {
			t.Fatalf("executed %+v", asked)
		}
	}
	limited.wantSent(0, 0)
	if done, err := e.authorize(first, right); err != nil || done.Status != quote.Processing {
		t.Fatalf("authorised %+v, %v", done, err)
	}
	limited.wantSent(1, 50_00)
	_, err := e.authorize(second, right)
	apptest.WantFault(t, "beyond the limit", err, fault.DailyVolumeLimitExceeded)
	limited.set(limit.EachCustomer, 0, 200_00)
	if done, err := e.authorize(second, right); err != nil || done.Status != quote.Processing {
		t.Errorf("within the limit: %+v, %v", done, err)
	}
	limited.wantSent(2, 110_00)
	e.checkLedger(t)
}
