package audit

import (
	"context"
	"slices"

	"causeway/core/ident"
	"causeway/ports"
)

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
	RuleRecurring            Rule = "recurring adjustments are posted as approved"
	RuleExchangeResults      Rule = "exchange results are those of the position"
	RuleAllowances           Rule = "allowances are those of receivables by age"
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
	RuleLimitUsage           Rule = "counters of limits equal their transactions"
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

// rules is the table of all rules in the order of a report, with the unit that each counts, the
// operations that check it, and the pass of a Checker that does.
var rules = []struct {
	rule       Rule
	unit       string
	operations operation
	pass       *pass // nil: VerifyExport alone
}{
	{RuleSequence, "postings", check | verifyExport, ofPostings},
	{RuleRecordedTime, "postings", check | verifyExport, ofPostings},
	{RuleWellFormed, "postings", check | verifyExport, ofPostings},
	{RuleUnchanged, "postings", check, ofPostings},
	{RuleCurrency, "entries", check, ofPostings},
	{RuleBalanced, "currencies of platforms", check, ofAccounts},
	{RuleChart, "accounts", check, ofAccounts},
	{RuleInternalPayments, "currencies of platforms", check, ofAccounts},
	{RuleNoOverdraft, "accounts", check, ofAccounts},
	{RuleBalanceSnapshots, "balance snapshots", check, ofAccounts},
	{RuleIndexes, "postings", check, ofIndexes},
	{RuleReversals, "reversals", check, ofReversals},
	{RuleClosedMonths, "lines of closed months", check, ofMonths},
	{RuleSoftClosedMonths, "changes of months", check, ofMonths},
	{RuleAdjustments, "adjustments", check, ofAdjustments},
	{RuleRecurring, "months of adjustments", check, ofRecurring},
	{RuleExchangeResults, "revalued months", check, ofMonthEndRuns},
	{RuleAllowances, "months with allowances", check, ofMonthEndRuns},
	{RuleDeferredFees, "months with deferred fees", check, ofMonthEndRuns},
	{RuleSafeguarding, "safeguarding reports", check, ofPostings},
	{RuleTreasury, "postings of movements", check, ofPostings},
	{RuleOpeningBalances, "opening balances", check, ofPostings},
	{RuleFourEyes, "proposed changes", check, ofProposedChanges},
	{RulePrices, "prices", check, ofPrices},
	{RuleYearEnds, "closings of years", check, ofYearClosings},
	{RuleReceivables, "receivables", check, ofPostings},
	{RuleTransactions, "transactions", check, ofTransactions},
	{RuleStatuses, "transactions", check, ofPaymentRecords},
	{RuleReplies, "replies", check, ofPaymentRecords},
	{RuleWalletPayments, "payments of wallets", check, ofWalletPayments},
	{RuleAgentUsage, "counters", check, ofAgents},
	{RuleAgentActions, "approved actions", check, ofAgents},
	{RuleLimitUsage, "counters", check, ofLimits},
	{RuleEvidence, "facts", check, ofEvidence},
	{RulePayees, "payments", check, ofEvidence},
	{RuleAccounts, "external accounts", check, ofEvidence},
	{RuleErasedTexts, "transactions", check, ofEvidence},
	{RuleSealed, "postings", verify, ofPostings},
	{RuleSealedInTime, "postings not sealed yet", verify, ofPostings},
	{RuleSignedCheckpoints, "checkpoints", verify, ofPostings},
	{RuleEvidenceInTime, "facts not sealed yet", verify, ofEvidence},
	{RuleEvidenceCheckpoints, "checkpoints", verify, ofEvidence},
	{RuleExport, "exports", verifyExport | verifyEvidence, nil},
	{RulePublishedCheckpoints, "checkpoints", verify | verifyExport, ofPostings},
	{RulePublishedEvidence, "checkpoints", verify | verifyEvidence, ofEvidence},
}

// pass reads one source, and checks every rule of it. The functions are nil if there is nothing for them to do.
type pass struct {
	// platform reads one platform in the snapshot of the ledger.
	platform func(*platformRun, context.Context) error
	// after reads all platforms after that, in a snapshot of its own: so payments that run meanwhile are no violations.
	after func(*run, context.Context) error
}

// The passes, by what they read.
var (
	ofPostings        = &pass{platform: (*platformRun).checkPostings}
	ofAccounts        = &pass{platform: (*platformRun).checkAccounts}
	ofIndexes         = view(checkIndexes)
	ofReversals       = view(checkReversals)
	ofMonths          = view(checkClosedMonths)
	ofAdjustments     = view(checkAdjustments)
	ofProposedChanges = view(checkProposals)
	ofYearClosings    = view(checkYearEnds)
	ofTransactions    = &pass{platform: (*platformRun).checkTransactions, after: (*run).recheckTransactions}
	ofMonthEndRuns    = &pass{after: (*run).checkMonthEnd}
	ofRecurring       = &pass{platform: (*platformRun).checkRecurring}
	ofPrices          = &pass{after: (*run).checkPrices}
	ofPaymentRecords  = &pass{after: (*run).checkPayments}
	ofWalletPayments  = &pass{after: (*run).checkWalletPayments}
	ofAgents          = &pass{after: (*run).checkAgents}
	ofLimits          = &pass{after: (*run).checkLimits}
	ofEvidence        = &pass{after: (*run).checkEvidence}
)

// view is a pass that needs nothing but the snapshot of the ledger.
func view(check func(context.Context, ports.AuditView, *Report, ident.Platform) error) *pass {
	return &pass{platform: func(r *platformRun, ctx context.Context) error {
		return check(ctx, r.view, r.report, r.platform.Platform)
	}}
}

// passes returns the passes of all rules, in the order of the rules.
func passes() (all []*pass) {
	for _, line := range rules {
		if line.pass != nil && !slices.Contains(all, line.pass) {
			all = append(all, line.pass)
		}
	}
	return all
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
