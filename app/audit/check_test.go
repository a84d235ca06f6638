package audit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// newFilledEnv has a ledger with something of everything: accounts that may not be overdrawn, a
// reversal (postings 1 to 4), a ramp (5 to 7), and enough postings for balance snapshots.
func newFilledEnv(t *testing.T) *env {
	env := newEnv(t)
	alice := newInternalAccountID()
	deposit := env.deposit(alice, 100)
	env.mustPost(deposit, ledger.Reverse(deposit, newID(), noon, "wrong"), env.deposit(alice, 70), env.transferOut(alice, 30))
	env.mustPost(env.ramp(newTransactionID())...)
	for range 3 {
		var batch []ledger.Posting
		for range 400 {
			batch = append(batch, env.deposit(alice, 1))
		}
		env.mustPost(batch...)
	}
	env.updateSnapshots()
	env.mustPost(env.deposit(alice, 1))
	return env
}

func TestCheck_ValidLedger(t *testing.T) {
	t.Parallel()
	// An undamaged ledger has no findings, and the report counts everything that was checked.
	env := newFilledEnv(t)

	report := env.check(checkDelivered)

	for _, f := range report.Findings {
		t.Error(f)
	}
	if !report.Clean() {
		t.Error("not clean")
	}
	for rule, want := range map[audit.Rule]int64{
		audit.RuleSequence: 1208, audit.RuleRecordedTime: 1208, audit.RuleWellFormed: 1208, audit.RuleUnchanged: 1208,
		audit.RuleCurrency: 1210, audit.RuleBalanced: 2, audit.RuleChart: 10, audit.RuleNoOverdraft: 1,
		audit.RuleBalanceSnapshots: 2, audit.RuleIndexes: 1208, audit.RuleReversals: 1, audit.RuleTransactions: 1,
	} {
		for _, r := range report.Rules {
			if r.Rule == rule && r.Checked != want {
				t.Errorf("%s: %d %s, want %d", rule, r.Checked, r.Unit, want)
			}
		}
	}
	if n := len(report.Rules); n != 37 {
		t.Errorf("%d rules, want 37", n)
	}
}

func TestCheck_AccountWithoutPostings(t *testing.T) {
	t.Parallel()
	// An account that was created for a refused payment exists without postings, which is not a
	// violation.
	env := newEnv(t)
	account := ledger.Account{Platform: env.platform, Path: ledger.CustomerAccount(newInternalAccountID()), Currency: money.USD}
	err := pgx.BeginFunc(t.Context(), env.Store.Pool(), func(tx pgx.Tx) error {
		_, err := env.ledgerDB.Balances(t.Context(), tx, []ledger.Account{account}, ledgerdb.Lock)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	if report := env.check(checkDelivered); !report.Clean() {
		t.Error(report.Findings)
	}
}

func TestCheck_EmptyLedger(t *testing.T) {
	t.Parallel()
	// A ledger without postings has no findings.
	if report := newEnv(t).check(nil); !report.Clean() {
		t.Error(report.Findings)
	}
}

func TestCheck_FindsDamage(t *testing.T) {
	t.Parallel()
	// Every change made to the tables without the service is found and named.
	customer := "(SELECT id FROM ledger_accounts WHERE no_overdraft)"
	for name, c := range map[string]struct {
		damage string
		rule   audit.Rule
		want   string
	}{
		"an amount": {"UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 5",
			audit.RuleUnchanged, "number 5"},
		"an amount of an account without overdraft": {"UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 3",
			audit.RuleNoOverdraft, "its entries add up to 1242"},
		"an amount before a balance snapshot": {"UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 900",
			audit.RuleBalanceSnapshots, "is 1240; its entries add up to 1241"},
		"an amount found by the digest alone": {"UPDATE ledger_entries SET amount = amount - 1 WHERE seq = 6 AND entry_no = 3",
			audit.RuleUnchanged, "converted, number 6"},
		"a credit": {"UPDATE ledger_entries SET credit_account_id = (SELECT id FROM ledger_accounts WHERE path = 'income/fees') WHERE seq = 5",
			audit.RuleUnchanged, "number 5"},
		"swapped accounts": {"UPDATE ledger_entries SET debit_account_id = credit_account_id, credit_account_id = debit_account_id WHERE seq = 7",
			audit.RuleUnchanged, "number 7"},
		"a memo": {"UPDATE ledger_postings SET memo = 'nothing to see' WHERE seq = 2",
			audit.RuleUnchanged, "number 2"},
		"an effective time": {"UPDATE ledger_postings SET effective_at = effective_at - interval '1 day' WHERE seq = 8",
			audit.RuleUnchanged, "number 8"},
		"a transaction": {"UPDATE ledger_postings SET transaction_id = NULL WHERE seq = 7",
			audit.RuleTransactions, "a delivered ramp is"},
		"a kind": {"UPDATE ledger_postings SET kind = 'returned' WHERE seq = 7",
			audit.RuleTransactions, "a delivered ramp is"},
		"an unknown kind": {"UPDATE ledger_postings SET kind = 'gift' WHERE seq = 8",
			audit.RuleWellFormed, `"gift" is unknown`},
		"an entry": {"DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 3",
			audit.RuleUnchanged, "number 6"},
		"an entry in the middle": {"DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 2",
			audit.RuleWellFormed, "entry number 3 at position 2"},
		"all entries of a posting": {"DELETE FROM ledger_entries WHERE seq = 6",
			audit.RuleWellFormed, "no entries"},
		"an added entry": {"INSERT INTO ledger_entries SELECT platform_id, seq, recorded_at, debit_account_id, credit_account_id, amount, 2, " +
			"currency FROM ledger_entries WHERE seq = 5",
			audit.RuleUnchanged, "number 5"},
		"a posting": {"DELETE FROM ledger_postings WHERE seq = 500",
			audit.RuleWellFormed, "1 entries on PLATFORM"},
		"a posting with its entries": {"DELETE FROM ledger_postings WHERE seq = 500; DELETE FROM ledger_entries WHERE seq = 500",
			audit.RuleSequence, "1 postings are missing on PLATFORM"},
		"the first posting": {"DELETE FROM ledger_postings WHERE seq = 1; DELETE FROM ledger_entries WHERE seq = 1",
			audit.RuleSequence, "between number 0 and number 2"},
		"the last posting": {"DELETE FROM ledger_postings WHERE seq = 1208; DELETE FROM ledger_entries WHERE seq = 1208",
			audit.RuleSequence, "after number 1207"},
		"the last posting, and the clock set back": {
			"DELETE FROM ledger_postings WHERE seq = 1208; DELETE FROM ledger_entries WHERE seq = 1208; UPDATE ledger_clocks SET seq = 1207",
			audit.RuleNoOverdraft, "has a stored balance of 1241; its entries add up to 1240"},
		"a posting after the clock": {"UPDATE ledger_clocks SET seq = 1207",
			audit.RuleSequence, "the clock of"},
		"the clock": {"DELETE FROM ledger_clocks",
			audit.RuleSequence, "no clock"},
		"a recorded time": {"UPDATE ledger_postings SET recorded_at = recorded_at + interval '1 hour' WHERE seq = 3",
			audit.RuleRecordedTime, "number 4 on"},
		"the clock's time": {"UPDATE ledger_clocks SET recorded_at = recorded_at - interval '1 hour'",
			audit.RuleRecordedTime, "before the last posting"},
		"a balance": {"UPDATE ledger_balances SET balance = balance + 1000000",
			audit.RuleNoOverdraft, "has a stored balance of 1001241; its entries add up to 1241"},
		"no balance": {"DELETE FROM ledger_balances",
			audit.RuleNoOverdraft, "has no stored balance"},
		"a balance of an account with overdraft": {"INSERT INTO ledger_balances SELECT platform_id, id, 5 FROM ledger_accounts WHERE path = " +
			"'funding/jit'",
			audit.RuleNoOverdraft, "may be overdrawn and has a stored balance"},
		"a negative balance": {"UPDATE ledger_entries SET seq = seq + 10000 WHERE seq < 4; UPDATE ledger_postings SET seq = seq + 10000 WHERE " +
			"seq < 4",
			audit.RuleNoOverdraft, "had a balance of -30 after posting number 4"},
		"a balance snapshot": {"UPDATE ledger_balance_snapshots SET balance = balance + 1 WHERE account_id = " + customer,
			audit.RuleBalanceSnapshots, "is 1241; its entries add up to 1240"},
		"times of a balance snapshot": {"UPDATE ledger_balance_snapshots SET latest_effective_at = latest_effective_at - interval '1 day'",
			audit.RuleBalanceSnapshots, "its entries have 2026-11-20T12:00:00Z to"},
		"a balance snapshot after the progress": {"UPDATE ledger_balance_snapshots SET seq = 1208, balance = balance + 1 WHERE account_id = " +
			customer,
			audit.RuleBalanceSnapshots, "is later than the progress of snapshots"},
		"a balance snapshot without an account": {"INSERT INTO ledger_balance_snapshots SELECT platform_id, 999999, 5, 0, now(), now(), 0 FROM " +
			"ledger_clocks",
			audit.RuleBalanceSnapshots, "account 999999, which does not exist"},
		"a class": {"UPDATE ledger_accounts SET class = 'asset' WHERE no_overdraft",
			audit.RuleChart, "is of class asset and not liability"},
		"the overdraft flag": {"UPDATE ledger_accounts SET no_overdraft = false WHERE no_overdraft",
			audit.RuleChart, "may not be overdrawn: false and not true"},
		"a path": {"UPDATE ledger_accounts SET path = 'funding/other' WHERE path = 'funding/jit'",
			audit.RuleChart, "not in the chart"},
		"a path inside the chart": {"UPDATE ledger_accounts SET path = 'income/rounding' WHERE path = 'income/fees'",
			audit.RuleUnchanged, "number 6"},
		"one side of a payment between customers": {"UPDATE ledger_accounts SET path = 'transit/internal' WHERE path = 'income/fees'",
			audit.RuleInternalPayments, "has a balance of 50 and not zero"},
		"an account": {"DELETE FROM ledger_accounts WHERE path = 'funding/jit'",
			audit.RuleCurrency, "which does not exist"},
		"an account, found by the totals": {"DELETE FROM ledger_accounts WHERE path = 'funding/jit'",
			audit.RuleBalanced, "USD on PLATFORM"},
		"a currency": {"UPDATE ledger_accounts SET currency = 'EUR' WHERE path = 'fx/position' AND currency = 'USD'",
			audit.RuleCurrency, "is in EUR"},
		"a currency, found by the totals": {"UPDATE ledger_accounts SET currency = 'EUR' WHERE path = 'fx/position' AND currency = 'USD'",
			audit.RuleBalanced, "EUR on PLATFORM"},
		"an unknown currency": {"UPDATE ledger_accounts SET currency = 'XXQ' WHERE path = 'fx/position' AND currency = 'USD'",
			audit.RuleChart, "unknown currency"},
		"an id": {"DELETE FROM ledger_posting_ids WHERE seq = 3",
			audit.RuleIndexes, "1 postings on PLATFORM are missing from the index of ids or have wrong values there; the first is number 3"},
		"an id with another number": {"UPDATE ledger_posting_ids SET seq = 4 WHERE seq = 5",
			audit.RuleIndexes, "1 ids on PLATFORM belong to no posting; the first has number 4"},
		"an id's reversal": {"UPDATE ledger_posting_ids SET reverses = NULL WHERE seq = 2",
			audit.RuleIndexes, "the index of ids or have wrong values there; the first is number 2"},
		"an id that was never posted": {"INSERT INTO ledger_posting_ids SELECT platform_id, gen_random_uuid(), NULL, seq, recorded_at FROM " +
			"ledger_postings WHERE seq = 7",
			audit.RuleIndexes, "1 ids on PLATFORM belong to no posting"},
		"the time of an entry": {"UPDATE ledger_entries SET recorded_at = recorded_at + interval '1 day' WHERE seq = 9",
			audit.RuleIndexes, "1 entries on PLATFORM have another recorded time than their posting; the first is of number 9"},
		"a wrong backdated entry": {"INSERT INTO ledger_backdated_entries SELECT platform_id, 3, recorded_at - interval '1 day', recorded_at, " +
			"1, 2, 3, 1 FROM ledger_postings WHERE seq = 3",
			audit.RuleIndexes, "1 postings on PLATFORM are missing from the list of backdated entries or have wrong values there; the first is " +
				"number 3"},
		"a missing backdated entry": {"UPDATE ledger_postings SET effective_at = effective_at - interval '1 day' WHERE seq = 4; DELETE FROM " +
			"ledger_backdated_entries WHERE seq = 4",
			audit.RuleIndexes, "backdated entries or have wrong values there; the first is number 4"},
		"the first number of a month": {"UPDATE ledger_months SET first_seq = 5",
			audit.RuleIndexes, "2026-11 on PLATFORM has the first number 5; its postings have numbers 1 to 1208"},
		"a month": {"DELETE FROM ledger_months",
			audit.RuleIndexes, "2026-11 on PLATFORM, with postings number 1 to 1208, has no stored first number"},
		"an added month": {"INSERT INTO ledger_months SELECT platform_id, '2026-12-01', 1209 FROM ledger_clocks",
			audit.RuleIndexes, "ends at 2026-12-01T00:00:00Z, but the last month with a first number is 2026-12"},
		"when the month ends": {"UPDATE ledger_clocks SET month_end = '2027-06-01Z'",
			audit.RuleIndexes, "the clock of PLATFORM has a month that ends at 2027-06-01T00:00:00Z"},
		"a month that is not complete": {"INSERT INTO ledger_months SELECT platform_id, '2026-12-01', 1209 FROM ledger_clocks; UPDATE " +
			"ledger_snapshot_progress SET months_complete_before = '2026-12-01Z'",
			audit.RuleBalanceSnapshots, "has no balance snapshot at the end of the month that ended with posting number 1208"},
		"what was reversed": {"DELETE FROM ledger_postings WHERE seq = 1",
			audit.RuleReversals, "which does not exist"},
		"what a reversal names": {"UPDATE ledger_postings SET reverses = (SELECT id FROM ledger_postings WHERE seq = 3) WHERE seq = 2",
			audit.RuleReversals, "does not mirror"},
		"a second reversal": {`DROP INDEX ledger_posting_reversed_once; UPDATE ledger_postings SET kind = 'reversal',
			reverses = (SELECT id FROM ledger_postings WHERE seq = 1) WHERE seq = 9`,
			audit.RuleReversals, "which another posting reverses too"},
		"a reversal before its original": {"UPDATE ledger_postings SET seq = 20000 + seq WHERE seq = 1; UPDATE ledger_entries SET seq = 20000 " +
			"+ seq WHERE seq = 1; UPDATE ledger_posting_ids SET seq = 20000 + seq WHERE seq = 1",
			audit.RuleReversals, "which is later"},
		"a digest": {`UPDATE ledger_postings SET digest = '\x' WHERE seq = 8`,
			audit.RuleUnchanged, "number 8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newFilledEnv(t)
			env.execAsSuperuser(dropConstraintsSQL + c.damage)

			report := env.check(checkDelivered)

			for _, f := range report.Findings {
				if f.Rule == c.rule && strings.Contains(strings.ReplaceAll(f.Message, env.platform.String(), "PLATFORM"), c.want) {
					return
				}
			}
			t.Errorf("want a finding of %q with %q, found", c.rule, c.want)
			for _, f := range report.Findings {
				t.Log(f)
			}
		})
	}
}

// dropConstraintsSQL drops constraints that hold even for a superuser.
const dropConstraintsSQL = `
ALTER TABLE ledger_postings DROP CONSTRAINT ledger_posting_digest_is_sha256, DROP CONSTRAINT ledger_posting_reverses_other;
`

func TestCheck_LimitsFindingsPerRule(t *testing.T) {
	t.Parallel()
	// Of many violations all are counted and the first ones reported.
	env := newFilledEnv(t)
	env.execAsSuperuser("UPDATE ledger_postings SET memo = 'x'")

	report := env.check(nil)

	reported := 0
	for _, f := range report.Findings {
		if f.Rule == audit.RuleUnchanged {
			reported++
		}
	}
	for _, r := range report.Rules {
		if r.Rule == audit.RuleUnchanged && (r.Violations != 1208 || reported != audit.MaxFindings) {
			t.Errorf("%d violations and %d findings, want 1208 and %d", r.Violations, reported, audit.MaxFindings)
		}
	}
}

func TestCheck_RechecksTransactionsInProgress(t *testing.T) {
	t.Parallel()
	// A transaction that changed between the read of its postings and of its state is not a
	// violation.
	env := newEnv(t)
	transaction := newTransactionID()
	steps := env.ramp(transaction)
	env.mustPost(steps[0])
	calls := 0
	changing := func(ctx context.Context, p ident.Platform, transactions []ports.PostedTransaction) ([]error, error) {
		calls++
		if calls == 1 { // between the read of the postings and of the state
			env.mustPost(steps[1:]...)
		}
		return checkDelivered(ctx, p, transactions)
	}

	if report := env.check(changing); !report.Clean() || calls != 2 {
		t.Errorf("%d calls: %v", calls, report.Findings)
	}

	broken := errors.New("no database")
	_, err := env.newService(func(context.Context, ident.Platform, []ports.PostedTransaction) ([]error, error) { return nil, broken }).Check(
		context.Background())
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the state checker", err)
	}
}

func TestService_BalancesAndTransactionEntries(t *testing.T) {
	t.Parallel()
	// The listed entries and balances are those that were posted.
	env, ctx := newEnv(t), context.Background()
	transaction := newTransactionID()
	env.mustPost(env.ramp(transaction)...)

	entries, err := env.newService(nil).TransactionEntries(ctx, env.platform, transaction)
	if err != nil || len(entries) != 5 || entries[4].Kind != ledger.KindDelivered || entries[4].Credit != ledger.Chain("LAYER2") {
		t.Errorf("got %+v, %v", entries, err)
	}
	lines, err := env.newService(nil).Balances(ctx, env.platform)
	if err != nil || len(lines) != 7 {
		t.Fatalf("got %+v, %v", lines, err)
	}
	for _, l := range lines {
		if l.Account.Path == ledger.FXPosition && l.Account.Currency == money.USD && l.Balance != 10000 {
			t.Errorf("got %+v, want 10000", l)
		}
	}
}
