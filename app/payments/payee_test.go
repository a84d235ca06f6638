package payments_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/account"
	"causeway/core/quote"
	"causeway/ports"
)

func TestPayee_ChangedInTheDatabaseIsNotPaid(t *testing.T) {
	t.Parallel()
	// Who has access to the database changes the payee of a payment that was accepted: its account, the details of the
	// account, its amount, or its seal. Nothing is handed over to the rail, the job says why, and the payment goes on when
	// the payee is put back.
	for name, c := range map[string]struct{ edit, undo string }{
		"account": {"UPDATE transactions SET destination_external = 'THIEF' WHERE id = 'THIS'",
			"UPDATE transactions SET destination_external = 'PAYEE' WHERE id = 'THIS'"},
		"amount": {"UPDATE transactions SET received_minor = received_minor + 1 WHERE id = 'THIS'",
			"UPDATE transactions SET received_minor = received_minor - 1 WHERE id = 'THIS'"},
		"details": {"UPDATE external_accounts SET fields = (SELECT fields FROM external_accounts WHERE id = 'THIEF') WHERE id = 'PAYEE'",
			`UPDATE external_accounts SET fields = '{"address": "spark1good"}' WHERE id = 'PAYEE'`},
		"beneficiary": {`UPDATE external_accounts SET beneficiary = '{"type": "INDIVIDUAL", "fullName": "Eve"}' WHERE id = 'PAYEE'`,
			"UPDATE external_accounts SET beneficiary = NULL WHERE id = 'PAYEE'"},
		"address": {"UPDATE transactions SET destination_external = NULL, destination_uma = '$eve@uma.test' WHERE id = 'THIS'",
			"UPDATE transactions SET destination_external = 'PAYEE', destination_uma = '' WHERE id = 'THIS'"},
		"without seal": {"UPDATE transactions SET destination_external = 'THIEF', payee_seal = '' WHERE id = 'THIS'", ""},
		"seal of another": {"UPDATE transactions SET destination_external = 'THIEF', payee_seal = (SELECT payee_seal FROM transactions WHERE " +
			"destination_external = 'THIEF' AND id <> 'THIS') WHERE id = 'THIS'",
			""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newIdleEnv(t)
			var sent []string
			env.Rail.OnSend = func(_ context.Context, payouts []ports.Payout) []ports.Outcome {
				outcomes := make([]ports.Outcome, len(payouts))
				for i, p := range payouts {
					sent, outcomes[i] = append(sent, p.Account.Identifier()), ports.Outcome{Verdict: ports.Done}
				}
				return outcomes
			}
			wallet, thief := env.NewWallet("spark1good"), env.NewWallet("spark1thief")
			q := env.quote(t, "USD", 10050, wallet)
			env.quote(t, "USD", 10050, thief)
			edit := func(statement string) {
				t.Helper()
				if statement != "" {
					pgtest.ExecAsSuperuser(t, env.URL, strings.NewReplacer("THIS", q.Transaction.UUID().String(), "THIEF", thief.ID.UUID().String(),
						"PAYEE", wallet.ID.UUID().String()).Replace(statement))
				}
			}
			if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil); err != nil {
				t.Fatal(err)
			}
			edit(c.edit)

			env.runDue(t)

			if len(sent) > 0 {
				t.Fatalf("paid to %q", sent)
			}
			if errors := env.QueryStrings("SELECT last_error FROM jobs WHERE step = 'deliver'"); len(errors) != 1 ||
				!strings.Contains(errors[0], "its payee or its amount was changed in the database") {
				t.Errorf("the job says %q", errors)
			}
			if c.undo == "" {
				return
			}
			edit(c.undo)
			env.Clock.Advance(time.Hour)
			env.runDue(t)
			if got := env.Transaction(q.Transaction); got.State.String() != "COMPLETED" || len(sent) != 1 || sent[0] != "spark1good" {
				t.Errorf("after it was put back it is %s, paid to %q", got.State, sent)
			}
		})
	}
}

func TestPayee_ChangedInternalAccountIsNotCredited(t *testing.T) {
	t.Parallel()
	// The internal account that a quote credits is replaced by that of a thief. What the payer pays is refunded, and what
	// is in an account stays there: the thief gets nothing.
	for _, justInTime := range []bool{true, false} {
		t.Run(fmt.Sprint(justInTime), func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			thief := env.NewInternalAccount(env.NewCustomer("eve").ID, "USDC", 0)
			from := quote.Source{Customer: env.Customer.ID, Currency: "USD"}
			var dollars account.Internal
			if !justInTime {
				dollars = env.account(env.Customer.ID, "USD", 100_00)
				from = quote.Source{Internal: dollars.ID}
			}
			q := env.quoteFrom(t, from, 100_00, quote.Destination{Internal: env.NewInternalAccount(env.Customer.ID, "USDC", 0).ID})
			pgtest.ExecAsSuperuser(t, env.URL, fmt.Sprintf("UPDATE transactions SET destination_internal = '%s', destination_account = '%s' WHERE "+
				"id = '%s'",
				thief.ID.UUID(), thief.LedgerPath(), q.Transaction.UUID()))

			if justInTime {
				if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 100_00), nil); err != nil {
					t.Fatal(err)
				}
				env.WaitForState(q.Transaction, "FAILED (refund COMPLETED)")
				env.WantBalances(map[string]int64{})
				return
			}
			_, err := env.ExecuteQuote(t.Context(), env.Platform.ID, q.ID, nil)
			if err == nil || !strings.Contains(err.Error(), "Payee changed") {
				t.Errorf("executed: %v", err)
			}
			env.WantBalances(map[string]int64{dollars.LedgerPath() + " USD": -100_00, "rails/WIRE USD": 100_00})
		})
	}
}
