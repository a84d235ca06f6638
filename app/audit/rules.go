package audit

import "slices"

// Rule is an invariant of the ledger, as a report names it.
type Rule string

// The rules.
const (
	RuleSequence             Rule = "postings are numbered without gaps"
	RuleRecordedTime         Rule = "recorded times are in ascending order"
	RuleWellFormed           Rule = "postings are complete and well-formed"
	RuleUnchanged            Rule = "postings and entries are unchanged"
	RuleCurrency             Rule = "entries and accounts have the same currency"
	RuleBalanced             Rule = "debits equal credits in every currency"
	RuleChart                Rule = "accounts match the chart of accounts"
	RuleInternalPayments     Rule = "payments between customers are settled on both sides"
	RuleNoOverdraft          Rule = "stored balances equal their entries and were never negative"
	RuleBalanceSnapshots     Rule = "balance snapshots equal their entries"
	RuleIndexes              Rule = "id and time indexes match the postings"
	RuleReversals            Rule = "a reversal mirrors one earlier posting, once"
	RuleClosedMonths         Rule = "closed months match their trial balances"
	RuleSoftClosedMonths     Rule = "soft-closed months have only authorised postings"
	RuleAdjustments          Rule = "adjustments are authorised"
	RuleExchangeResults      Rule = "exchange results are those of the position"
	RuleDeferredFees         Rule = "deferred fees are those of payments in transit"
	RuleSafeguarding         Rule = "safeguarding reports follow from the postings"
	RuleTreasury             Rule = "treasury movements match their postings"
	RuleOpeningBalances      Rule = "opening balances are brought forward once a currency"
	RuleFourEyes             Rule = "proposed changes are approved by a second person"
	RulePrices               Rule = "prices are those of their last change"
	RuleYearEnds             Rule = "closed years are their income and expense"
	RuleReceivables          Rule = "receivables match their postings"
	RuleTransactions         Rule = "transactions match their postings"
	RuleStatuses             Rule = "lists by status match the transactions"
	RuleReplies              Rule = "replies of rails are what was recorded"
	RuleWalletPayments       Rule = "owners have signed the payments of their wallets"
	RuleAgentUsage           Rule = "counters of agents equal their transactions"
	RuleAgentActions         Rule = "approved actions of agents have their transactions"
	RuleEvidence             Rule = "facts beside the postings are what was sealed"
	RulePayees               Rule = "payments that wait are for the payees that were accepted"
	RuleAccounts             Rule = "external accounts have the details that were registered"
	RuleErasedTexts          Rule = "erased texts are those of deleted customers"
	RuleSealed               Rule = "postings match the sealed log"
	RuleSealedInTime         Rule = "postings are sealed in time"
	RuleSignedCheckpoints    Rule = "signed checkpoints match the postings"
	RuleEvidenceInTime       Rule = "facts beside the postings are sealed in time"
	RuleEvidenceCheckpoints  Rule = "signed checkpoints match the evidence"
	RuleExport               Rule = "the export is unchanged"
	RulePublishedCheckpoints Rule = "published checkpoints match the postings"
	RulePublishedEvidence    Rule = "published checkpoints match the evidence"
)

// operation is what a rule is checked by.
type operation uint8

const (
	check          operation = 1 << iota // Checker.Check, and Checker.Verify with it
	verify                               // Checker.Verify alone
	verifyExport                         // VerifyExport of the log of postings
	verifyEvidence                       // VerifyExport of the log of evidence
)

// rules is the table of all rules in the order of a report, with the unit that each counts
// and the operations that check it.
var rules = []struct {
	rule       Rule
	unit       string
	operations operation
}{
	{RuleSequence, "postings", check | verifyExport},
	{RuleRecordedTime, "postings", check | verifyExport},
	{RuleWellFormed, "postings", check | verifyExport},
	{RuleUnchanged, "postings", check},
	{RuleCurrency, "entries", check},
	{RuleBalanced, "currencies of platforms", check},
	{RuleChart, "accounts", check},
	{RuleInternalPayments, "currencies of platforms", check},
	{RuleNoOverdraft, "accounts", check},
	{RuleBalanceSnapshots, "balance snapshots", check},
	{RuleIndexes, "postings", check},
	{RuleReversals, "reversals", check},
	{RuleClosedMonths, "lines of closed months", check},
	{RuleSoftClosedMonths, "changes of months", check},
	{RuleAdjustments, "adjustments", check},
	{RuleExchangeResults, "revalued months", check},
	{RuleDeferredFees, "months with deferred fees", check},
	{RuleSafeguarding, "safeguarding reports", check},
	{RuleTreasury, "postings of movements", check},
	{RuleOpeningBalances, "opening balances", check},
	{RuleFourEyes, "proposed changes", check},
	{RulePrices, "prices", check},
	{RuleYearEnds, "closings of years", check},
	{RuleReceivables, "receivables", check},
	{RuleTransactions, "transactions", check},
	{RuleStatuses, "transactions", check},
	{RuleReplies, "replies", check},
	{RuleWalletPayments, "payments of wallets", check},
	{RuleAgentUsage, "counters", check},
	{RuleAgentActions, "approved actions", check},
	{RuleEvidence, "facts", check},
	{RulePayees, "payments", check},
	{RuleAccounts, "external accounts", check},
	{RuleErasedTexts, "transactions", check},
	{RuleSealed, "postings", verify},
	{RuleSealedInTime, "postings not sealed yet", verify},
	{RuleSignedCheckpoints, "checkpoints", verify},
	{RuleEvidenceInTime, "facts not sealed yet", verify},
	{RuleEvidenceCheckpoints, "checkpoints", verify},
	{RuleExport, "exports", verifyExport | verifyEvidence},
	{RulePublishedCheckpoints, "checkpoints", verify | verifyExport},
	{RulePublishedEvidence, "checkpoints", verify | verifyEvidence},
}

// newReport returns a report on the rules that some operations check, except for those that
// cannot be checked this time.
func newReport(operations operation, except ...Rule) *Report {
	r := &Report{}
	for _, line := range rules {
		if line.operations&operations != 0 && !slices.Contains(except, line.rule) {
			r.Rules = append(r.Rules, RuleReport{Rule: line.rule, Unit: line.unit})
		}
	}
	return r
}
