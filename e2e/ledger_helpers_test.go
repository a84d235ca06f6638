package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// accountBalances are balances by "path currency", credits minus debits, without zeros.
type accountBalances map[string]int64

// ledgerBalances adds up all entries of a platform.
func (h *testEnv) ledgerBalances(platform string) accountBalances {
	h.t.Helper()
	rows, err := h.db.Query(`
		SELECT path, e.currency, sum(amount) FROM (
			SELECT platform_id, credit_account_id AS account, currency, amount FROM ledger_entries
			UNION ALL SELECT platform_id, debit_account_id, currency, -amount FROM ledger_entries) e
		JOIN ledger_accounts a ON a.platform_id = e.platform_id AND a.id = e.account
		WHERE e.platform_id = $1 GROUP BY path, e.currency HAVING sum(amount) <> 0`, uuidOf(platform))
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	found := accountBalances{}
	for rows.Next() {
		var path, currency string
		var sum int64
		if err := rows.Scan(&path, &currency, &sum); err != nil {
			h.t.Fatal(err)
		}
		found[path+" "+currency] = sum
	}
	if err := rows.Err(); err != nil {
		h.t.Fatal(err)
	}
	return found
}

// checkLedgerBalances compares balances; every account that is not in want must be zero.
func (h *testEnv) checkLedgerBalances(platform string, want accountBalances) {
	h.t.Helper()
	got := h.ledgerBalances(platform)
	if !maps.Equal(got, want) {
		h.t.Errorf("balances (credits less debits)\n got %s\nwant %s", got, want)
	}
}

func (b accountBalances) String() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b)) {
		fmt.Fprintf(&text, "%s %d, ", name, b[name])
	}
	return text.String()
}

// postingKinds returns the kinds of a transaction's postings, in order.
func (h *testEnv) postingKinds(transaction string) []string {
	h.t.Helper()
	rows, err := h.db.Query("SELECT kind FROM ledger_postings WHERE transaction_id = $1 ORDER BY seq", uuidOf(transaction))
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	var kinds []string
	for rows.Next() {
		var kind string
		if err := rows.Scan(&kind); err != nil {
			h.t.Fatal(err)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// checkLedger runs the ledger check over the whole database.
func (h *testEnv) checkLedger() {
	h.t.Helper()
	out, errOut, status := runCommand(h.t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "check")
	if status != 0 || out == "" {
		h.t.Errorf("ledger check: status %d\n%s%s", status, out, errOut)
	}
}
