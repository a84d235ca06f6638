package main

// sectionID is a section of the report; they are in this order.
type sectionID int

const (
	headline sectionID = iota
	loadSection
	loadCost
	hotAccount
	quoteSection
	hotRail
	exportSection
	proofSection
	checkSection
	monthEnd
	reconciliations
	statements
	largePosting
	largeQueries
	tableSizes
	memoryAndStart
	afterwards
	conditions
	sectionCount
)

const latencyColumn = "p50 / p95 / p99 ms"

// sectionTexts are the words of the report. Columns are separated by |.
var sectionTexts = [sectionCount]struct{ title, note, columns string }{
	headline: {"Main figure", "A ramp is a payment from US dollars to bitcoin: quote, incoming payment, conversion, payout, and the `COMPLETED` webhook accepted by the platform. " +
		"The baseline is pgbench on the same Postgres (TPC-B-like, prepared, 8 clients, scale 10), run before and after the ramps.", "Figure|Value|Goal"},
	loadSection: {"Payments", "Each of the given number of connections starts a payment when its last one is done. A ramp is a quote, its payment and the `COMPLETED` webhook; a payout, " +
		"from an account that holds money, is a quote, its execution and that webhook; a transfer is one request and that webhook. Webhook: from the response to that request until the webhook was accepted.",
		"Kind|In flight|Per second|per pgbench tx|Total, " + latencyColumn + "|`POST /quotes`|Request that moves the money|Webhook"},
	loadCost: {"Cost of a payment", "Processor time, and what Postgres counts, for each payment.",
		"Kind|In flight|Service|Postgres|Load generator|Commits|Writing transactions|WAL syncs|WAL|Processors busy|Processors used by other programs"},
	hotAccount:   {"One hot account", "Payouts from all accounts and payouts from one account, in alternating short runs. The medians are compared.", "Figure|Value|Goal"},
	quoteSection: {"Quotes", "At a fixed rate, half of the main figure, times count from when a ramp was due, so a stall is not hidden. Quotes only: nobody pays them.", "Figure|Value|Goal"},
	hotRail:      {"One hot rail", "All payments use one rail, and so the same ledger accounts. Many customers and ten, in alternating short runs. The medians are compared.", "Figure|Value|Goal"},
	exportSection: {"Exports", "All postings of the run, as of one time. Memory is that of the command, or what the service uses in addition. The CSV file over HTTP was read after more postings and has the same SHA-256 as the first one.",
		"Export|Time|File|Postings/s|Memory|Goal"},
	proofSection: {"Ledger log", "The ledger of a past month. Sealing: from the start of a service with an empty log until the last checkpoint is signed and published. Each proof is checked against the root of its checkpoint.",
		"Step|Value|Postings/s|Memory"},
	checkSection: {"Ledger check", "`causeway ledger check` over the whole run, beside the running service. What it checked is under “Afterwards”.", "Figure|Value"},
	monthEnd: {"Month end", "The ledger of a past month is soft-closed and closed while one client makes postings. Then postings with and without a closed month, in alternating short runs of commits of 100.",
		"Figure|Value"},
	reconciliations: {"Reconciliation", "A week's statement with batches, late payments and one break of each kind in a thousand lines. Exactly those breaks are found, and the same file again changes nothing.",
		"Statement|Lines|File|Matched|Breaks|Time|Lines/s|Memory|Again|Goal"},
	statements: {"Customer statements", "`GET /customers/{customerId}/statement` of an account with 1000 movements, 50 times.", "Format|" + latencyColumn + "|Size"},
	largePosting: {"Posting to a large ledger", "A small and a large ledger with 12 months of payments, written through the ledger's own rules (`e2e/bench/history`). The same commits in alternating short runs; medians of the time and of Postgres' processor time. A ramp is three postings with five entries.",
		"Commit|Small ledger|Large ledger|Large to small|Goal"},
	largeQueries: {"Queries on a large ledger", "Requests over one connection, for any time of the 12 months; half of the accounts are the 20 busiest. A page has up to 100 items. " +
		"A trial balance has all accounts with opening balance, debits, credits and closing balance.",
		"Query|Requests|" + latencyColumn + "|Maximum, ms|Goal"},
	tableSizes:     {"Size of a large ledger", "Bytes for each entry. The log is sealed later and not included.", "Table|Rows|Indexes|Total"},
	memoryAndStart: {"Memory and start", "", "Figure|Value|Goal"},
	afterwards: {"Afterwards", "All webhooks were accepted; a sample of their signatures was verified. The transactions of each kind are exactly those of the run, and all completed. " +
		"Each funded account has the balance it must have. `causeway ledger check` found nothing wrong.", "Checked|Number"},
	conditions: {"Machine and conditions", "Postgres has the settings of `causeway dev`: fsync, full page writes and synchronous commit are on. The service has its defaults without the rate limit. " +
		"Each measurement starts after a checkpoint and a warm-up.", "Condition|Value"},
}
