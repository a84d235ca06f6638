package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// The transactions of the seeded ledger.
const (
	deliveredRamp = "Transaction:0199f0a2-0000-7000-8000-000000000011"
	refundedRamp  = "Transaction:0199f0a2-0000-7000-8000-000000000012"
	unpaidRamp    = "Transaction:0199f0a2-0000-7000-8000-000000000013"
)

func TestLedgerCommands_Output(t *testing.T) {
	t.Parallel()
	// On a consistent ledger the commands print tables and exit 0.
	url := seededDatabase(t)
	for file, args := range map[string]string{
		"check.txt":               "check",
		"balances.txt":            "balances",
		"trial_balance.txt":       "trial-balance --to 2026-06-01T00:00:00Z",
		"trial_balance.csv":       "trial-balance --to 2026-06-01T00:00:00Z --by effective --output csv",
		"trial_balance_group.txt": "trial-balance --to 2026-06-01T00:00:00Z --detail group --platform " + fakePlatform,
		"income.txt":              "income --from 2026-01-01T00:00:00Z --to 2026-06-01T00:00:00Z",
		"income.csv":              "income --from 2026-01-01T00:00:00Z --to 2026-06-01T00:00:00Z --period month --output csv",
		"balances.csv":            "balances --output csv",
		"fx_position.txt":         "fx-position --at 2026-05-01T00:00:00Z",
		"fx_position.csv":         "fx-position --at 2026-05-01T00:00:00Z --reporting-currency EUR --output csv",
		"unmatched.txt":           "unmatched",
		"unmatched.csv":           "unmatched --assigned=false --output csv",
		"unmatched_assigned.txt":  "unmatched --assigned=true",
		"entries_account.txt":     "entries rails/RTP --currency USD --by effective --to 2026-06-01T00:00:00Z",
		"entries_account.csv":     "entries funding/jit --currency USD --output csv",
		"entries.txt":             "entries --transaction " + deliveredRamp,
		"postings.txt":            "postings --kind delivered",
		"postings.csv":            "postings --transaction " + deliveredRamp + " --output csv",
		"timeline.txt":            "timeline " + deliveredRamp,
		"timeline.csv":            "timeline " + refundedRamp + " --output csv",
		"entries_refunded.txt":    "entries --transaction " + refundedRamp,
		"entries_unpaid.txt":      "entries --transaction " + unpaidRamp,
	} {
		out, errOut, status := runLedger(t, url, args)
		if status != 0 || errOut != "" {
			t.Errorf("ledger %s: status %d, %s", args, status, errOut)
		}
		checkGolden(t, file, out)
	}

	// Naming the only platform changes nothing.
	all, _, _ := runLedger(t, url, "balances")
	if one, _, _ := runLedger(t, url, "balances --platform "+fakePlatform); one != all {
		t.Errorf("balances --platform differs:\n%s", one)
	}
}

func TestLedgerCommands_ReportInvalidFlags(t *testing.T) {
	t.Parallel()
	// Invalid flags are reported by name.
	url := seededDatabase(t)
	for args, want := range map[string]string{
		"entries":                                                                 "--transaction",
		"entries rails/RTP":                                                       "--currency must be",
		"entries rails/ACH --currency USD":                                        "no postings in USD",
		"entries rails/RTP --currency USD --to 2026":                              "--to must be an RFC 3339 timestamp",
		"entries rails/RTP --transaction " + deliveredRamp:                        "either",
		"entries --currency USD --transaction " + deliveredRamp:                   "--currency",
		"fx-position --at 2999-01-01T00:00:00Z":                                   "--at must not be in the future",
		"fx-position --reporting-currency XXX":                                    "not a supported currency",
		"unmatched --assigned=maybe":                                              "--assigned",
		"periods 2026-03 --platform " + fakePlatform:                              "not closed",
		"periods march --platform " + fakePlatform:                                "march",
		"postings --kind payment --customer 17":                                   "--customer: must be an id of the form Customer:<uuid>",
		"postings --kind payment":                                                 `--kind: "payment" is no kind of posting`,
		"timeline 17":                                                             `"17" is not the id of a transaction`,
		"entries --transaction 17":                                                "--transaction: must be an id of the form Transaction:<uuid>",
		"entries --transaction " + fakeTransaction:                                "Check the id",
		"balances --platform " + deliveredRamp:                                    "--platform: must be an id of the form PlatformConfig:<uuid>",
		"balances --platform " + strings.Replace(fakePlatform, "0001", "0009", 1): "does not exist",
		"trial-balance --from yesterday --to 2026":                                "--to must be an RFC 3339 timestamp",
		"trial-balance --from 2026-03-02T00:00:00Z --to 2026-03-01T00:00:00Z":     "--to must be after from",
		"income": "--from",
		"income --from 2020-01-01T00:00:00Z --to 2021-01-01T00:00:00Z --period day": "at most 100 periods",
		"check --database-url postgres://nobody:1/no":                               "cannot use the database",
	} {
		if _, errOut, status := runLedger(t, url, args); status == 0 || !strings.Contains(errOut, want) {
			t.Errorf("ledger %s: status %d, %s", args, status, errOut)
		}
	}
}

func TestLedgerCheck_DetectsTampering(t *testing.T) {
	t.Parallel()
	// The check finds an amount or a state that was changed with the triggers disabled, prints
	// where, and exits 1.
	url := seededDatabase(t)
	conn := pgtest.Connect(t, url)
	for _, statement := range []string{
		"ALTER TABLE ledger_entries DISABLE TRIGGER append_only",
		"UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1",
		"UPDATE transactions SET status = 'COMPLETED', stage = 'DELIVERED' WHERE status = 'PENDING'",
		"DELETE FROM transactions WHERE status = 'FAILED'",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}

	out, errOut, status := runLedger(t, url, "check")

	if status != 1 || errOut != "causeway: the ledger check failed: 2 of 37 rules failed\n" {
		t.Errorf("status %d, %s", status, errOut)
	}
	checkGolden(t, "check_damaged.txt", out)
}

func TestLedgerCheck_OfOnePlatform(t *testing.T) {
	t.Parallel()
	// With a platform, the check counts and reports nothing of others. A platform that does not exist is named.
	url := seededDatabase(t)
	other := must(ident.ParsePlatform("PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12"))
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(noon)})
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreatePlatform(ctx, must(platform.New(other, "Other", platform.Sandbox, true, noon)))
	})
	pgtest.ExecAsSuperuser(t, url, "UPDATE transactions SET status = 'COMPLETED', stage = 'DELIVERED' WHERE status = 'PENDING'")

	if out, errOut, status := runLedger(t, url, "check --platform "+fakePlatform); status != 1 || !strings.Contains(out, fakePlatform) {
		t.Errorf("status %d, %s%s", status, out, errOut)
	}
	if out, errOut, status := runLedger(t, url, "check --platform "+other.String()); status != 0 || !strings.Contains(out, "rules passed") {
		t.Errorf("status %d, %s%s", status, out, errOut)
	}
	const missing = "PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e13"
	if _, errOut, status := runLedger(t, url, "check --platform "+missing); status != 1 ||
		!strings.Contains(errOut, missing+" does not exist") {
		t.Errorf("status %d, %s", status, errOut)
	}
}

// runLedger runs a ledger command on a database.
func runLedger(t testing.TB, url, args string) (out, errOut string, status int) {
	t.Helper()
	var stdout, stderr strings.Builder
	argv := append([]string{"ledger"}, strings.Fields(args)...)
	if !strings.Contains(args, "--database-url") {
		argv = append(argv, "--database-url", url)
	}
	status = run(t.Context(), argv, &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}

// seededDatabase returns a database with a delivered payment, a payment refunded because of a
// wrong amount, an unpaid one, and a receipt with an unknown reference.
func seededDatabase(t testing.TB) string {
	t.Helper()
	url := pgtest.SimulateClock(t, pgtest.New(t))
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(noon)})

	platformID := must(ident.ParsePlatform(fakePlatform))
	delivered, refunded, unpaid := newRamp(t, deliveredRamp), newRamp(t, refundedRamp), newRamp(t, unpaidRamp)
	funded := must(delivered.Receive(newReceipt(delivered, 10050), transaction.Parties{}, noon))
	completed := must(funded.Transaction.Deliver(noon.Add(time.Second)))
	mismatched := must(refunded.Receive(newReceipt(refunded, 9900), transaction.Parties{}, noon))
	refundPaid := must(mismatched.Transaction.RefundPaid(refunded.SourceAccount, noon.Add(time.Second)))
	unmatched := transaction.Receipt{ID: newReceiptID("stray"), PartnerID: "stray", Platform: platformID,
		Rail: "RTP", Reference: "NOSUCHREF", Amount: money.Amount{Minor: 5000, Currency: money.USD}, At: noon}

	created := must(platform.New(platformID, "Sandbox", platform.Sandbox, true, noon))
	err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePlatform(ctx, created); err != nil {
			return err
		}
		return tx.CreateQuotes(ctx, []quote.Quote{newQuote(delivered), newQuote(refunded), newQuote(unpaid)},
			[]transaction.Transaction{delivered, refunded, unpaid})
	})
	if err != nil {
		t.Fatal(err)
	}
	var postings []ledger.Posting
	for _, d := range []transaction.Decision{funded, completed, mismatched, refundPaid} {
		postings = append(postings, d.Postings...)
	}
	err = db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.SaveReceipts(ctx, []transaction.Receipt{newReceipt(delivered, 10050), newReceipt(refunded, 9900),
			unmatched}); err != nil {
			return err
		}
		if err := tx.UpdateTransactions(ctx, []transaction.Transaction{completed.Transaction, refundPaid.Transaction}); err != nil {
			return err
		}
		funds := unmatched.Unmatched()
		if err := tx.SaveUnmatched(ctx, []ports.UnmatchedFunds{{Platform: platformID, Posting: funds.ID, Receipt: unmatched.ID}}); err != nil {
			return err
		}
		return tx.Post(ctx, append(postings, funds))
	})
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// newRamp returns a quoted payment of 100.50 USD, with a fee of 0.50, to 0.00100000 BTC.
func newRamp(t testing.TB, id string) transaction.Transaction {
	t.Helper()
	created := transaction.Transaction{
		ID: must(ident.ParseTransaction(id)), Platform: must(ident.ParsePlatform(fakePlatform)), Type: transaction.Outgoing,
		State: transaction.Initial, SourceRail: "RTP", SourceAccount: "rails/RTP", DestinationRail: "LAYER2", DestinationAccount: "chains/LAYER2",
		Reference: "REF" + id[len(id)-2:],
		Pricing: transaction.Pricing{
			Sent: money.Amount{Minor: 10050, Currency: money.USD}, Received: money.Amount{Minor: 100_000, Currency: money.BTC},
			Fees: 50, FixedFee: 50, Rate: money.MustRate("10"), Market: money.MustRate("10"),
		},
		CreatedAt: noon, UpdatedAt: noon, ExpiresAt: noon.Add(5 * time.Minute),
	}
	created.Quote.SetUUID(created.ID.UUID())
	created.Payee = created.PayeeDigest(nil)
	return created
}

func newQuote(t transaction.Transaction) quote.Quote {
	return quote.Quote{ID: t.Quote, Platform: t.Platform, Transaction: t.ID, Side: quote.Sending, LockedAmount: t.Pricing.Sent.Minor,
		Pricing: t.Pricing, Reference: t.Reference, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt}
}

func newReceipt(t transaction.Transaction, minor int64) transaction.Receipt {
	return transaction.Receipt{ID: newReceiptID(t.Reference), PartnerID: t.Reference, Platform: t.Platform,
		Rail: t.SourceRail, Reference: t.Reference, Amount: money.Amount{Minor: minor, Currency: money.USD}, At: noon}
}

func newReceiptID(partnerID string) (id ident.Receipt) {
	id.SetUUID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(partnerID)))
	return id
}

// must returns value and panics on an error, for fixtures that cannot fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
