package audit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	storage "causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// newFilledEnv is a house whose books have something of everything: guarded accounts, a
// reversal (postings 1 to 4), a ramp (5 to 7), and enough to be checkpointed.
func newFilledEnv(t *testing.T) *env {
	h := newEnv(t)
	alice := newInternalAccountID()
	deposit := h.deposit(alice, 100)
	h.mustPost(deposit, ledger.Reverse(deposit, newID(), noon, "wrong"), h.deposit(alice, 70), h.transferOut(alice, 30))
	h.mustPost(h.ramp(newTransactionID())...)
	for range 3 {
		var batch []ledger.Posting
		for range 400 {
			batch = append(batch, h.deposit(alice, 1))
		}
		h.mustPost(batch...)
	}
	h.updateSnapshots()
	h.mustPost(h.deposit(alice, 1))
	return h
}

func TestCheck_ValidLedger(t *testing.T) {
	t.Parallel()
	// Sound books are found sound, and the report says how much of everything was seen.
	h := newFilledEnv(t)

	report := h.check(checkDelivered)

	for _, f := range report.Findings {
		t.Error(f)
	}
	if !report.Clean() {
		t.Error("not clean")
	}
	for rule, want := range map[audit.Rule]int64{
		audit.RuleSequence: 1208, audit.RuleRecordedTime: 1208, audit.RuleWellFormed: 1208, audit.RuleUnchanged: 1208,
		audit.RuleCurrency: 1210, audit.RuleBalanced: 2, audit.RuleChart: 10, audit.RuleNoOverdraft: 1,
		audit.RuleBalanceSnapshots: 2, audit.RuleIndexes: 1208, audit.RuleReversals: 1, audit.RuleTransactionStates: 1,
	} {
		for _, r := range report.Rules {
			if r.Rule == rule && r.Checked != want {
				t.Errorf("%s: %d %s, want %d", rule, r.Checked, r.Unit, want)
			}
		}
	}
	if n := len(report.Rules); n != 14 {
		t.Errorf("%d rules, want 14", n)
	}
}

func TestCheck_AccountWithoutPostings(t *testing.T) {
	t.Parallel()
	// An account that was held for a payment which was refused is there before anything is
	// posted, and no damage.
	h := newEnv(t)
	account := ledger.Account{Platform: h.platform, Path: ledger.CustomerAccount(newInternalAccountID()), Currency: money.USD}
	err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
		_, err := h.ledgerDB.Balances(t.Context(), tx, []ledger.Account{account}, storage.Lock)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	if report := h.check(checkDelivered); !report.Clean() {
		t.Error(report.Findings)
	}
}

func TestCheck_EmptyLedger(t *testing.T) {
	t.Parallel()
	// Books without a posting are sound.
	if report := newEnv(t).check(nil); !report.Clean() {
		t.Error(report.Findings)
	}
}

func TestCheck_FindsDamage(t *testing.T) {
	t.Parallel()
	// Whatever is done to the tables behind the service's back is found, and named.
	customer := "(SELECT id FROM ledger_accounts WHERE no_overdraft)"
	for name, c := range map[string]struct {
		damage string
		rule   audit.Rule
		says   string
	}{
		"an amount": {"UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 5",
			audit.RuleUnchanged, "number 5"},
		"an amount of a guarded account": {"UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 3",
			audit.RuleNoOverdraft, "its entries say 1242"},
		"an amount before a checkpoint": {"UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 900",
			audit.RuleBalanceSnapshots, "says 1240; its entries say 1241"},
		"an amount that shows nowhere else": {"UPDATE ledger_entries SET amount = amount - 1 WHERE seq = 6 AND entry_no = 3",
			audit.RuleUnchanged, "converted, number 6"},
		"a credit": {"UPDATE ledger_entries SET credit_account_id = (SELECT id FROM ledger_accounts WHERE path = 'income/fees') WHERE seq = 5",
			audit.RuleUnchanged, "number 5"},
		"sides": {"UPDATE ledger_entries SET debit_account_id = credit_account_id, credit_account_id = debit_account_id WHERE seq = 7",
			audit.RuleUnchanged, "number 7"},
		"a memo": {"UPDATE ledger_postings SET memo = 'nothing to see' WHERE seq = 2",
			audit.RuleUnchanged, "number 2"},
		"an effective time": {"UPDATE ledger_postings SET effective_at = effective_at - interval '1 day' WHERE seq = 8",
			audit.RuleUnchanged, "number 8"},
		"a transaction": {"UPDATE ledger_postings SET transaction_id = NULL WHERE seq = 7",
			audit.RuleTransactionStates, "a delivered ramp is"},
		"a kind": {"UPDATE ledger_postings SET kind = 'returned' WHERE seq = 7",
			audit.RuleTransactionStates, "a delivered ramp is"},
		"a kind that is none": {"UPDATE ledger_postings SET kind = 'gift' WHERE seq = 8",
			audit.RuleWellFormed, `"gift" is unknown`},
		"an entry": {"DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 3",
			audit.RuleUnchanged, "number 6"},
		"an entry in the middle": {"DELETE FROM ledger_entries WHERE seq = 6 AND entry_no = 2",
			audit.RuleWellFormed, "an entry 3 in place 2"},
		"all entries of a posting": {"DELETE FROM ledger_entries WHERE seq = 6",
			audit.RuleWellFormed, "no entries"},
		"an entry too many": {"INSERT INTO ledger_entries SELECT platform_id, seq, recorded_at, debit_account_id, credit_account_id, amount, 2, currency FROM ledger_entries WHERE seq = 5",
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
			audit.RuleNoOverdraft, "has a balance of 1241 stored; its entries say 1240"},
		"a posting after the clock": {"UPDATE ledger_clocks SET seq = 1207",
			audit.RuleSequence, "the clock of"},
		"the clock": {"DELETE FROM ledger_clocks",
			audit.RuleSequence, "no clock"},
		"a recorded time": {"UPDATE ledger_postings SET recorded_at = recorded_at + interval '1 hour' WHERE seq = 3",
			audit.RuleRecordedTime, "number 4 on"},
		"the clock's time": {"UPDATE ledger_clocks SET recorded_at = recorded_at - interval '1 hour'",
			audit.RuleRecordedTime, "before the last posting"},
		"a balance": {"UPDATE ledger_balances SET balance = balance + 1000000",
			audit.RuleNoOverdraft, "has a balance of 1001241 stored; its entries say 1241"},
		"no balance": {"DELETE FROM ledger_balances",
			audit.RuleNoOverdraft, "no balance stored"},
		"a balance of an unguarded account": {"INSERT INTO ledger_balances SELECT platform_id, id, 5 FROM ledger_accounts WHERE path = 'funding/jit'",
			audit.RuleNoOverdraft, "is not guarded and has a balance"},
		"a moment below zero": {"UPDATE ledger_entries SET seq = seq + 10000 WHERE seq < 4; UPDATE ledger_postings SET seq = seq + 10000 WHERE seq < 4",
			audit.RuleNoOverdraft, "was at -30 after posting number 4"},
		"a checkpoint": {"UPDATE ledger_balance_snapshots SET balance = balance + 1 WHERE account_id = " + customer,
			audit.RuleBalanceSnapshots, "says 1241; its entries say 1240"},
		"a checkpoint's times": {"UPDATE ledger_balance_snapshots SET latest_effective_at = latest_effective_at - interval '1 day'",
			audit.RuleBalanceSnapshots, "its entries say 2026-11-20T12:00:00Z to"},
		"a checkpoint ahead": {"UPDATE ledger_balance_snapshots SET seq = 1208, balance = balance + 1 WHERE account_id = " + customer,
			audit.RuleBalanceSnapshots, "is ahead of the work"},
		"a checkpoint of nothing": {"INSERT INTO ledger_balance_snapshots SELECT platform_id, 999999, 5, 0, now(), now(), 0 FROM ledger_clocks",
			audit.RuleBalanceSnapshots, "account 999999, which is not there"},
		"a class": {"UPDATE ledger_accounts SET class = 'asset' WHERE no_overdraft",
			audit.RuleChart, "is of class asset and not liability"},
		"a guard": {"UPDATE ledger_accounts SET no_overdraft = false WHERE no_overdraft",
			audit.RuleChart, "is guarded: false and not true"},
		"a path": {"UPDATE ledger_accounts SET path = 'funding/other' WHERE path = 'funding/jit'",
			audit.RuleChart, "not in the chart"},
		"a path inside the chart": {"UPDATE ledger_accounts SET path = 'income/rounding' WHERE path = 'income/fees'",
			audit.RuleUnchanged, "number 6"},
		"an account": {"DELETE FROM ledger_accounts WHERE path = 'funding/jit'",
			audit.RuleCurrency, "which is not there"},
		"an account, by the totals": {"DELETE FROM ledger_accounts WHERE path = 'funding/jit'",
			audit.RuleBalanced, "USD on PLATFORM"},
		"a currency": {"UPDATE ledger_accounts SET currency = 'EUR' WHERE path = 'fx/position' AND currency = 'USD'",
			audit.RuleCurrency, "which carries EUR"},
		"a currency, by the totals": {"UPDATE ledger_accounts SET currency = 'EUR' WHERE path = 'fx/position' AND currency = 'USD'",
			audit.RuleBalanced, "EUR on PLATFORM"},
		"a currency that is none": {"UPDATE ledger_accounts SET currency = 'XXQ' WHERE path = 'fx/position' AND currency = 'USD'",
			audit.RuleChart, "unknown currency"},
		"an id": {"DELETE FROM ledger_posting_ids WHERE seq = 3",
			audit.RuleIndexes, "1 postings on PLATFORM are not where their ids lead; the first is number 3"},
		"an id that leads elsewhere": {"UPDATE ledger_posting_ids SET seq = 4 WHERE seq = 5",
			audit.RuleIndexes, "1 ids on PLATFORM lead to no posting; the first says it has number 4"},
		"an id's reversal": {"UPDATE ledger_posting_ids SET reverses = NULL WHERE seq = 2",
			audit.RuleIndexes, "not where their ids lead; the first is number 2"},
		"an id that was never posted": {"INSERT INTO ledger_posting_ids SELECT platform_id, gen_random_uuid(), NULL, seq, recorded_at FROM ledger_postings WHERE seq = 7",
			audit.RuleIndexes, "1 ids on PLATFORM lead to no posting"},
		"the time of an entry": {"UPDATE ledger_entries SET recorded_at = recorded_at + interval '1 day' WHERE seq = 9",
			audit.RuleIndexes, "1 entries on PLATFORM lie in another time than their posting; the first is of number 9"},
		"a posting astray": {"INSERT INTO ledger_backdated_entries SELECT platform_id, 3, recorded_at - interval '1 day', recorded_at, 1, 2, 3, 1 FROM ledger_postings WHERE seq = 3",
			audit.RuleIndexes, "1 postings on PLATFORM are listed as taking effect at another time than they do, or should be listed; the first is number 3"},
		"a posting astray, not listed": {"UPDATE ledger_postings SET effective_at = effective_at - interval '1 day' WHERE seq = 4; DELETE FROM ledger_backdated_entries WHERE seq = 4",
			audit.RuleIndexes, "should be listed; the first is number 4"},
		"where a month begins": {"UPDATE ledger_months SET first_seq = 5",
			audit.RuleIndexes, "2026-11 on PLATFORM is said to begin with number 5; its postings have numbers 1 to 1208"},
		"a month": {"DELETE FROM ledger_months",
			audit.RuleIndexes, "of 2026-11 on PLATFORM, with postings number 1 to 1208, nothing says where it begins"},
		"a month too many": {"INSERT INTO ledger_months SELECT platform_id, '2026-12-01', 1209 FROM ledger_clocks",
			audit.RuleIndexes, "ends at 2026-12-01T00:00:00Z, and the last that is said to begin is 2026-12"},
		"when the month ends": {"UPDATE ledger_clocks SET month_end = '2027-06-01Z'",
			audit.RuleIndexes, "the month of the clock of PLATFORM ends at 2027-06-01T00:00:00Z"},
		"a month that is not complete": {"INSERT INTO ledger_months SELECT platform_id, '2026-12-01', 1209 FROM ledger_clocks; UPDATE ledger_snapshot_progress SET months_complete_before = '2026-12-01Z'",
			audit.RuleBalanceSnapshots, "has no checkpoint with the end of the month that ended with posting number 1208"},
		"what was reversed": {"DELETE FROM ledger_postings WHERE seq = 1",
			audit.RuleReversals, "which is not there"},
		"what a reversal names": {"UPDATE ledger_postings SET reverses = (SELECT id FROM ledger_postings WHERE seq = 3) WHERE seq = 2",
			audit.RuleReversals, "not the mirror"},
		"a second reversal": {`DROP INDEX ledger_posting_reversed_once; UPDATE ledger_postings SET kind = 'reversal',
			reverses = (SELECT id FROM ledger_postings WHERE seq = 1) WHERE seq = 9`,
			audit.RuleReversals, "which another reverses too"},
		"a reversal before its original": {"UPDATE ledger_postings SET seq = 20000 + seq WHERE seq = 1; UPDATE ledger_entries SET seq = 20000 + seq WHERE seq = 1; UPDATE ledger_posting_ids SET seq = 20000 + seq WHERE seq = 1",
			audit.RuleReversals, "which comes later"},
		"a digest": {`UPDATE ledger_postings SET digest = '\x' WHERE seq = 8`,
			audit.RuleUnchanged, "number 8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFilledEnv(t)
			h.execAsSuperuser(dropConstraintsSQL + c.damage)

			report := h.check(checkDelivered)

			for _, f := range report.Findings {
				if f.Rule == c.rule && strings.Contains(strings.ReplaceAll(f.Message, h.platform.String(), "PLATFORM"), c.says) {
					return
				}
			}
			t.Errorf("want %q to say %q, found", c.rule, c.says)
			for _, f := range report.Findings {
				t.Log(f)
			}
		})
	}
}

// Some damage is refused even to a superuser unless the table's own checks go first.
const dropConstraintsSQL = `
ALTER TABLE ledger_postings DROP CONSTRAINT ledger_posting_digest_is_sha256, DROP CONSTRAINT ledger_posting_reverses_other;
`

func TestCheck_LimitsFindingsPerRule(t *testing.T) {
	t.Parallel()
	// Damage everywhere is counted in full and told in part.
	h := newFilledEnv(t)
	h.execAsSuperuser("UPDATE ledger_postings SET memo = 'x'")

	report := h.check(nil)

	told := 0
	for _, f := range report.Findings {
		if f.Rule == audit.RuleUnchanged {
			told++
		}
	}
	for _, r := range report.Rules {
		if r.Rule == audit.RuleUnchanged && (r.Violations != 1208 || told != audit.MaxFindings) {
			t.Errorf("%d broken and %d told, want 1208 and %d", r.Violations, told, audit.MaxFindings)
		}
	}
}

func TestCheck_RechecksTransactionsInProgress(t *testing.T) {
	t.Parallel()
	// A transaction whose state was ahead of the postings seen, because it has moved on
	// meanwhile, is not damage.
	h := newEnv(t)
	transaction := newTransactionID()
	steps := h.ramp(transaction)
	h.mustPost(steps[0])
	asked := 0
	moving := func(ctx context.Context, p ident.Platform, stories []ports.TransactionKinds) ([]error, error) {
		asked++
		if asked == 1 { // between the look at the postings and the look at the state
			h.mustPost(steps[1:]...)
		}
		return checkDelivered(ctx, p, stories)
	}

	if report := h.check(moving); !report.Clean() || asked != 2 {
		t.Errorf("asked %d times: %v", asked, report.Findings)
	}

	broken := errors.New("no database")
	_, err := h.newService(func(context.Context, ident.Platform, []ports.TransactionKinds) ([]error, error) { return nil, broken }).Check(context.Background())
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the explanation's error", err)
	}
}

func TestService_BalancesAndTransactionEntries(t *testing.T) {
	t.Parallel()
	// The rows that finance sees are those that were posted.
	h, ctx := newEnv(t), context.Background()
	transaction := newTransactionID()
	h.mustPost(h.ramp(transaction)...)

	entries, err := h.newService(nil).TransactionEntries(ctx, h.platform, transaction)
	if err != nil || len(entries) != 5 || entries[4].Kind != ledger.KindDelivered || entries[4].Credit != ledger.Chain("LAYER2") {
		t.Errorf("got %+v, %v", entries, err)
	}
	lines, err := h.newService(nil).Balances(ctx, h.platform)
	if err != nil || len(lines) != 7 {
		t.Fatalf("got %+v, %v", lines, err)
	}
	for _, l := range lines {
		if l.Account.Path == ledger.FXPosition && l.Account.Currency == money.USD && l.Balance != 10000 {
			t.Errorf("got %+v, want 10000", l)
		}
	}
}
