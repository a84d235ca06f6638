package audit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rates/market"
	"causeway/app/audit"
	"causeway/app/internal/audittest"
	"causeway/app/internal/batch"
	"causeway/app/internal/prices"
	"causeway/app/payments"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// payFromWallet makes and completes a payment from a wallet of the customer that holds 100 USDB, signed by
// a session of the wallet or, if signed is false, with the test value without a session.
func (e *env) payFromWallet(service *payments.Service, signed bool) ident.Transaction {
	e.t.Helper()
	owner := e.NewCustomer(e.IDs.New(noon).String()).ID
	from, to := e.NewInternalAccount(owner, "USDB", 100_000_000), e.NewInternalAccount(owner, "USD", 0)
	created, err := service.CreateQuote(e.t.Context(), quote.Request{Platform: e.platform, Source: quote.Source{Internal: from.ID},
		Destination: quote.Destination{Internal: to.ID}, Side: quote.Sending, Amount: 25_000_000}, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	payload, _ := created.Quote.Instructions[0].Info["payloadToSign"].(string)
	signature := "sandbox-valid-signature"
	if signed {
		session := e.NewWalletSession(from)
		signature = session.Sign(e.t, payload)
		if err := e.Exec(fmt.Sprintf(`INSERT INTO wallet_keys VALUES ('%s', '%s', '\x01' || repeat('x', 32)::bytea, '\x%x', now())`,
			from.Platform.UUID(), from.ID.UUID(), session.Certificate.Key)); err != nil {
			e.t.Fatal(err)
		}
	}
	if _, err := service.ExecuteSignedQuote(e.t.Context(), e.platform, created.Quote.ID,
		payments.Signature{Text: signature, Environment: platform.Sandbox}, "", nil); err != nil {
		e.t.Fatal(err)
	}
	e.Clock.Advance(time.Minute)
	if err := service.RunDue(ports.ForAllPlatforms(e.t.Context())); err != nil {
		e.t.Fatal(err)
	}
	if state := e.Transaction(created.Quote.Transaction).State; state.Status != transaction.Completed {
		e.t.Fatalf("the payment is %s", state)
	}
	return created.Quote.Transaction
}

func TestCheck_WalletPaymentsAreSigned(t *testing.T) {
	t.Parallel()
	// Every executed payment of a wallet has evidence for exactly this payment, signed by a session that the
	// wallet certified. Whatever is changed in the database is found.
	env := newEnv(t)
	service := payments.New(payments.Config{Timetable: env.Timetable(), Store: env.Store, Jobs: env.Store,
		Rails: env.Rail, Chains: env.Chain,
		Custody: env.Custody, WalletProofs: audittest.Signatures,
		Prices: prices.New(env.Store, market.New("test"), env.Clock), Clock: env.Clock, IDs: env.IDs, Log: env.Log,
		Batches: batch.Options{Timeout: time.Minute}})
	checker := env.newService(env.Store.CheckTransactions)
	findings := func() []string {
		t.Helper()
		report, err := checker.Check(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range report.Findings {
			switch f.Rule {
			case audit.RuleTransactions:
				continue // TestCheck_FindsChangedTransactions
			case audit.RuleWalletPayments:
			default:
				t.Errorf("%s", f)
			}
			found = append(found, f.Message)
		}
		for _, r := range report.Rules {
			if r.Rule == audit.RuleWalletPayments && r.Checked != 2 {
				t.Errorf("checked %d payments of wallets, want 2", r.Checked)
			}
		}
		return found
	}
	signed, tested := env.payFromWallet(service, true), env.payFromWallet(service, false)
	if found := findings(); len(found) > 0 {
		t.Fatalf("findings in unchanged data: %v", found)
	}

	if err := env.Exec("ALTER TABLE wallet_authorizations DISABLE TRIGGER USER", "ALTER TABLE wallet_keys DISABLE TRIGGER USER"); err != nil {
		t.Fatal(err)
	}
	for statement, want := range map[string]string{
		`DELETE FROM wallet_authorizations WHERE id = $1`:                                                   "nobody has signed it",
		`UPDATE wallet_authorizations SET account_id = platform_id WHERE id = $1`:                           "signed it",
		`UPDATE wallet_authorizations SET payload = replace(payload, '25000000', '24000000') WHERE id = $1`: "not that of its quote",
		`UPDATE transactions SET details = replace(details, '25000000', '24000000') WHERE id = $1`:          "not that of its quote",
		`UPDATE transactions SET received_minor = received_minor + 1 WHERE id = $1`:                         "not say what the payment did",
		`DELETE FROM wallet_keys`: "no key",
		`UPDATE wallet_keys SET public_key = set_byte(public_key, 9, 255 - get_byte(public_key, 9))`:                            "key of another wallet",
		`UPDATE transactions SET destination_account = 'customers/' || platform_id WHERE id = $1`:                               "not say what the payment did",
		`UPDATE transactions SET destination_internal = source_internal WHERE id = $1`:                                          "not say what the payment did",
		`UPDATE quotes SET fees = fees + 1 WHERE transaction_id = $1`:                                                           "not say what the payment did",
		`UPDATE quotes SET rate = '7' WHERE transaction_id = $1`:                                                                "not say what the payment did",
		`UPDATE quotes SET expires_at = expires_at + interval '1 second' WHERE transaction_id = $1`:                             "not say what the payment did",
		`UPDATE wallet_authorizations SET payload = E'\x01 without the key' WHERE id = $1`:                                      "cannot be read",
		`UPDATE wallet_authorizations SET signature = 'sandbox-valid-signatur' WHERE id = $1`:                                   "the signature is not",
		`UPDATE wallet_authorizations SET session_key = set_byte(session_key, 9, 255 - get_byte(session_key, 9)) WHERE id = $1`: "another session",
		`UPDATE wallet_authorizations SET session_id = platform_id WHERE id = $1`:                                               "another session",
		`UPDATE wallet_authorizations SET certificate_statement = certificate_statement || ' ' WHERE id = $1`:                   "did not sign the statement",
		`UPDATE wallet_authorizations SET signed_at = signed_at + interval '15 minutes' WHERE id = $1`:                          "not active",
	} {
		changed := strings.ReplaceAll(statement, "$1", "'"+signed.UUID().String()+"'")
		if err := env.Exec("CREATE TABLE kept_a AS TABLE wallet_authorizations", "CREATE TABLE kept_t AS TABLE transactions",
			"CREATE TABLE kept_q AS TABLE quotes", "CREATE TABLE kept_k AS TABLE wallet_keys", changed); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if found := findings(); len(found) != 1 || !strings.Contains(found[0], want) || !strings.Contains(found[0], signed.String()) {
			t.Errorf("%s: findings %v, want one with %q", statement, found, want)
		}
		if err := env.Exec("DELETE FROM wallet_authorizations", "INSERT INTO wallet_authorizations SELECT * FROM kept_a",
			"DELETE FROM wallet_keys", "INSERT INTO wallet_keys SELECT * FROM kept_k", "UPDATE transactions t SET details = k.details, "+
				"destination_account = k.destination_account, received_minor = k.received_minor, destination_internal = k.destination_internal FROM "+
				"kept_t k WHERE k.id = t.id",
			"UPDATE quotes q SET fees = k.fees, rate = k.rate, expires_at = k.expires_at FROM kept_q k WHERE k.id = q.id",
			"DROP TABLE kept_a, kept_t, kept_q, kept_k"); err != nil {
			t.Fatal(err)
		}
	}
	if err := env.Exec(`UPDATE wallet_authorizations SET signature = 'x' WHERE id = '` + tested.UUID().String() + `'`); err != nil {
		t.Fatal(err)
	}
	if found := findings(); len(found) != 1 || !strings.Contains(found[0], tested.String()) {
		t.Errorf("a test value was changed: %v", found)
	}
}
