package cli

import "context"

// LedgerCommand reads and checks the ledger directly in the database, whether or not a server
// is running.
type LedgerCommand struct {
	Check                  ledgerCheckCommand           `cmd:"" help:"Check every ledger invariant. Exits 1 on failure."`
	Verify                 ledgerVerifyCommand          `cmd:"" help:"Verify that every posting matches the sealed and signed log and that none is missing. Exits 1 on failure."`
	Export                 ledgerExportCommand          `cmd:"" help:"Export the ledger for spreadsheets, plain-text accounting or banks, or as a log for verify."`
	RotateKey              ledgerRotateCommand          `cmd:"" help:"Replace the key that signs the checkpoints of the log."`
	Balances               ledgerBalancesCommand        `cmd:"" help:"Print the balance of every account, as a table or CSV."`
	TrialBalance           ledgerTrialBalanceCommand    `cmd:"" help:"Print the trial balance of a period, as a table or CSV."`
	Income                 ledgerIncomeCommand          `cmd:"" help:"Print the income by day or month, as a table or CSV."`
	FXPosition             ledgerFXPositionCommand      `cmd:"" name:"fx-position" help:"Print the foreign exchange position in each currency and its value, as a table or CSV."`
	Unmatched              ledgerUnmatchedCommand       `cmd:"" help:"Print unmatched funds and their assignments, as a table or CSV."`
	Assign                 ledgerAssignCommand          `cmd:"" help:"Assign unmatched funds: to an account, to a quote, or back to their payer; or send a refund that failed again."`
	Entries                ledgerEntriesCommand         `cmd:"" help:"Print the entries of a ledger account with running balances, as a table or CSV, or those of a transaction."`
	Postings               ledgerPostingsCommand        `cmd:"" help:"Print postings with their entries, as a table or CSV."`
	Timeline               ledgerTimelineCommand        `cmd:"" help:"Print everything that happened to a transaction, as a table or CSV."`
	Reconcile              ledgerReconcileCommand       `cmd:"" help:"Compare a partner's statement with the ledger, and print the differences."`
	Breaks                 ledgerBreaksCommand          `cmd:"" help:"List and resolve the differences between partners' statements and the ledger."`
	Periods                ledgerPeriodsCommand         `cmd:"" help:"Print the accounting periods of a platform and their states, or the trial balance of a closed month, as a table or CSV."`
	SoftClose              ledgerSoftCloseCommand       `cmd:"" help:"Soft-close a month: only authorised adjustments can be posted into it."`
	Reopen                 ledgerReopenCommand          `cmd:"" help:"Reopen a soft-closed month."`
	Close                  ledgerCloseCommand           `cmd:"" help:"Close a soft-closed month permanently and store its trial balance."`
	Settings               ledgerSettingsCommand        `cmd:"" help:"Show and change the accounting policies of a platform."`
	Chart                  ledgerChartCommand           `cmd:"" help:"List the chart of accounts of a platform, and add accounts to it."`
	GLMapping              ledgerGLMappingCommand       `cmd:"" name:"gl-mapping" help:"Show and change which account of the general ledger each account belongs to."`
	Revalue                ledgerRevalueCommand         `cmd:"" help:"Post the exchange result of a soft-closed month."`
	ExchangeResult         ledgerExchangeResultCommand  `cmd:"" help:"Print the exchange result of a month, or of each of its conversions."`
	ExchangeChanges        ledgerExchangeChangesCommand `cmd:"" help:"Explain how the value of the FX position changed between two times."`
	FinancialStatements    ledgerFinancialsCommand      `cmd:"" name:"financial-statements" help:"Print the balance sheet, income statement, cash flow statement and changes in equity of a month, quarter or year."`
	DeferFees              ledgerDeferFeesCommand       `cmd:"" help:"Defer the fees of payments that are in transit at the end of a soft-closed month."`
	DeferredFees           ledgerDeferredFeesCommand    `cmd:"" help:"Print the deferred fees of a month, or the payments in transit at its end."`
	Journals               ledgerJournalsCommand        `cmd:"" help:"Make journals of a day or a month for a general ledger, and write them as files for QuickBooks, Xero or NetSuite."`
	Recurring              ledgerRecurringCommand       `cmd:"" help:"List, add, change and end adjustments that are posted every month, and accruals that are reversed."`
	Safeguarding           ledgerSafeguardingCommand    `cmd:"" help:"Print what is held for customers against what is owed to them, now or as kept for a day."`
	Sweep                  ledgerSweepCommand           `cmd:"" help:"Post that fees earned were moved out of an account with customers' money, at most the excess."`
	Proposals              ledgerProposalsCommand       `cmd:"" help:"List, approve and reject changes of the books that need the approval of a second person."`
	Treasury               ledgerTreasuryCommand        `cmd:"" help:"Post movements of money between accounts at partners, and list them."`
	Receivables            ledgerReceivablesCommand     `cmd:"" help:"Record returns of collected money, and handle what customers owe for them."`
	OpeningBalances        ledgerOpeningBalancesCommand `cmd:"" help:"Take over the balances of earlier books from a CSV file, in one posting a currency."`
	ReverseOpeningBalances ledgerReverseOpeningCommand  `cmd:"" help:"Reverse the opening balances in a currency, so that others can be imported."`
	Years                  ledgerYearsCommand           `cmd:"" help:"Print the financial years of a platform and their results, as a table or CSV."`
	CloseYear              ledgerCloseYearCommand       `cmd:"" help:"Close the income and expense of a financial year into retained earnings."`
	ReverseYear            ledgerReverseYearCommand     `cmd:"" help:"Reverse the closing of a financial year."`
	AuditPack              ledgerAuditPackCommand       `cmd:"" help:"Write the books of a closed financial year for an auditor, with proofs, as one folder. Exits 1 if the verification fails."`
	Archive                ledgerArchiveCommand         `cmd:"" help:"Move the oldest month of all platforms out of the ledger, into separate tables."`
	Restore                ledgerRestoreCommand         `cmd:"" help:"Move the month that was archived last back into the ledger."`
}

type ledgerCheckCommand struct {
	DatabaseFlags
	anyPlatformFlag
	outputFlag
}

func (l ledgerCheckCommand) Run(ctx context.Context, env *Env) error {
	return l.with(ctx, env, OnBooks, func(services Services) error {
		only, err := l.resolve(ctx, services)
		if err != nil {
			return err
		}
		report, err := services.Audit().Of(only).Check(ctx)
		if err != nil {
			return err
		}
		return printCheck(env.Out, l.Output, report)
	})
}
