package postgres

import (
	"regexp"
	"strings"
	"testing"
)

func TestParties_LookedUpByWholeKeyWhileTablesAreSmall(t *testing.T) {
	t.Parallel()
	// A plan that is made while there are few customers and payments, and kept when there are many, looks each
	// customer, account and transaction up by platform and id. An import adds many faster than statistics change.
	plans := newPlanEnv(t)
	plans.run(
		`INSERT INTO platforms (id, name, environment, regulated, uma_domain, uma_subdomain, webhook_endpoint, currencies, created_at, updated_at)
		VALUES ('019542f5-b3e7-7d02-8000-000000000001', 'Acme', 'SANDBOX', true, 'uma.test', '', '', '[]', now(), now())`)
	plans.run(
		`INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, uma_address, status, details, created_at, updated_at)
		SELECT p.id, gen_random_uuid(), n::text, 'INDIVIDUAL', n::text, 'APPROVED', '{}', now(), now() FROM platforms p, generate_series(1, 3) n`)
	plans.becomeService()
	accountOrCustomer := regexp.MustCompile(` on (customers|internal_accounts|external_accounts)\b`)
	wholeKey := regexp.MustCompile(`Index Cond: \(\(platform_id = [^)]+\) AND \(id = `)
	for name, c := range map[string]struct {
		statement        string
		arguments, scans int
	}{
		"parties_of_quotes": {readParties, 6, 6}, "parties_of_transaction": {readTransactionParties, 2, 6},
		"incoming_parties": {readIncomingPaymentParties, 3, 3},
		"locked_quotes":    {lockQuotes, 2, 6}, "locked_by_reference": {lockTransactionsByReference, 2, 6},
		"locked_transactions": {lockTransactions, 2, 1},
		"payouts":             {readPayouts, 2, 2}, "collections": {readCollections, 2, 2},
		"quote": {readQuote, 2, 1}, "transactions": {readTransactions, 2, 1}, "by_reference": {readTransactionsByReference, 2, 1},
		"transaction": {"SELECT " + transactionColumns + " FROM " + transactionTables + " WHERE t.platform_id = $1 AND t.id = $2", 2, 1},
	} {
		lines := plans.explain(name, c.statement, c.arguments)
		scans := 0
		for i, line := range lines {
			if strings.Contains(line, " on transactions ") && !strings.Contains(line, "transactions_pkey") {
				t.Errorf("%s: %s\n%s", name, line, lines[i+1])
			}
			if !accountOrCustomer.MatchString(line) {
				continue
			}
			scans++
			if !strings.Contains(line, "_pkey") || !wholeKey.MatchString(lines[i+1]) {
				t.Errorf("%s: %s\n%s", name, line, lines[i+1])
			}
		}
		if scans != c.scans {
			t.Errorf("%s: %d tables are read, want %d:\n%s", name, scans, c.scans, strings.Join(lines, "\n"))
		}
	}
}
