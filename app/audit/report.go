package audit

import (
	"fmt"
	"slices"
)

// Rule is one thing that must hold of the books.
type Rule string

// The rules, in the words of a report.
const (
	RuleSequence             Rule = "postings are numbered without a gap"
	RuleRecordedTime         Rule = "recorded time never runs backwards"
	RuleWellFormed           Rule = "postings are whole and well formed"
	RuleUnchanged            Rule = "postings and entries say what was posted"
	RuleCurrency             Rule = "both accounts of an entry carry its currency"
	RuleBalanced             Rule = "debits equal credits in every currency"
	RuleChart                Rule = "accounts are as the chart says"
	RuleNoOverdraft          Rule = "guarded balances equal their entries and never were below zero"
	RuleBalanceSnapshots     Rule = "checkpoints equal the entries before them"
	RuleIndexes              Rule = "postings are found by their ids and months"
	RuleReversals            Rule = "a reversal mirrors one earlier posting, once"
	RuleClosedMonths         Rule = "closed months are as they were closed"
	RuleSoftClosedMonths     Rule = "held months took only what somebody authorised"
	RuleTransactionStates    Rule = "postings explain the state of their transaction"
	RuleSealed               Rule = "postings are what was sealed in the log"
	RuleSignedCheckpoints    Rule = "signed heads fit the postings"
	RuleExport               Rule = "the export is as it was written"
	RulePublishedCheckpoints Rule = "heads kept outside fit the postings"
)

// Report says what was checked and what was found.
type Report struct {
	// Rules are all rules that were checked, in a fixed order.
	Rules []RuleReport
	// Findings are what breaks them, in the order in which it was found. Of each rule
	// the first MaxFindings are told; RuleReport.Broken counts all.
	Findings []Finding
}

// RuleReport is what became of one rule.
type RuleReport struct {
	Rule Rule
	// Checked counts what the rule was held against, in units of Unit ("postings").
	Checked    int64
	Unit       string
	Violations int64
}

// Finding is one place where a rule is broken.
type Finding struct {
	Rule    Rule
	Message string
}

func (f Finding) String() string { return fmt.Sprintf("%s: %s", f.Rule, f.Message) }

// MaxFindings is how many findings of one rule a report tells.
const MaxFindings = 100

// Clean tells whether every rule that was checked holds.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

func newReport(explained bool) *Report {
	r := &Report{Rules: []RuleReport{
		{Rule: RuleSequence, Unit: "postings"},
		{Rule: RuleRecordedTime, Unit: "postings"},
		{Rule: RuleWellFormed, Unit: "postings"},
		{Rule: RuleUnchanged, Unit: "postings"},
		{Rule: RuleCurrency, Unit: "entries"},
		{Rule: RuleBalanced, Unit: "currencies of platforms"},
		{Rule: RuleChart, Unit: "accounts"},
		{Rule: RuleNoOverdraft, Unit: "accounts"},
		{Rule: RuleBalanceSnapshots, Unit: "checkpoints"},
		{Rule: RuleIndexes, Unit: "postings"},
		{Rule: RuleReversals, Unit: "reversals"},
		{Rule: RuleClosedMonths, Unit: "lines of closed months"},
		{Rule: RuleSoftClosedMonths, Unit: "changes of months"},
	}}
	if explained {
		r.addRule(RuleTransactionStates, "transactions")
	}
	return r
}

func (r *Report) addRule(rule Rule, unit string) {
	r.Rules = append(r.Rules, RuleReport{Rule: rule, Unit: unit})
}

func (r *Report) rule(rule Rule) *RuleReport {
	if i := r.ruleIndex(rule); i >= 0 {
		return &r.Rules[i]
	}
	panic("a rule that is not in the report: " + string(rule))
}

func (r *Report) countChecked(rule Rule) { r.rule(rule).Checked++ }

func (r *Report) addFinding(rule Rule, format string, args ...any) {
	line := r.rule(rule)
	line.Violations++
	if line.Violations <= MaxFindings {
		r.Findings = append(r.Findings, Finding{rule, fmt.Sprintf(format, args...)})
	}
}

// countViolation counts a place that a finding told already covers.
func (r *Report) countViolation(rule Rule) { r.rule(rule).Violations++ }

func (r *Report) ruleIndex(rule Rule) int {
	return slices.IndexFunc(r.Rules, func(line RuleReport) bool { return line.Rule == rule })
}
