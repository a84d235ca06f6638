package books

import (
	"fmt"
	"slices"
)

// Rule is one thing that must hold of the books.
type Rule string

// The rules, in the words of a report.
const (
	RuleNumbered    Rule = "postings are numbered without a gap"
	RuleRecorded    Rule = "recorded time never runs backwards"
	RuleWhole       Rule = "postings are whole and well formed"
	RuleUnchanged   Rule = "postings and entries say what was posted"
	RuleCurrency    Rule = "both accounts of an entry carry its currency"
	RuleBalanced    Rule = "debits equal credits in every currency"
	RuleChart       Rule = "accounts are as the chart says"
	RuleGuarded     Rule = "guarded balances equal their entries and never were below zero"
	RuleCheckpoints Rule = "checkpoints equal the entries before them"
	RulePlaced      Rule = "postings are found by their ids and months"
	RuleReversals   Rule = "a reversal mirrors one earlier posting, once"
	RuleMonths      Rule = "closed months are as they were closed"
	RuleHeld        Rule = "held months took only what somebody authorised"
	RuleExplained   Rule = "postings explain the state of their transaction"
	RuleSealed      Rule = "postings are what was sealed in the log"
	RuleHeads       Rule = "signed heads fit the postings"
	RuleExport      Rule = "the export is as it was written"
	RulePublished   Rule = "heads kept outside fit the postings"
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
	Checked int64
	Unit    string
	Broken  int64
}

// Finding is one place where a rule is broken.
type Finding struct {
	Rule Rule
	What string
}

func (f Finding) String() string { return fmt.Sprintf("%s: %s", f.Rule, f.What) }

// MaxFindings is how many findings of one rule a report tells.
const MaxFindings = 100

// Clean tells whether every rule that was checked holds.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

func newReport(explained bool) *Report {
	r := &Report{Rules: []RuleReport{
		{Rule: RuleNumbered, Unit: "postings"},
		{Rule: RuleRecorded, Unit: "postings"},
		{Rule: RuleWhole, Unit: "postings"},
		{Rule: RuleUnchanged, Unit: "postings"},
		{Rule: RuleCurrency, Unit: "entries"},
		{Rule: RuleBalanced, Unit: "currencies of platforms"},
		{Rule: RuleChart, Unit: "accounts"},
		{Rule: RuleGuarded, Unit: "accounts"},
		{Rule: RuleCheckpoints, Unit: "checkpoints"},
		{Rule: RulePlaced, Unit: "postings"},
		{Rule: RuleReversals, Unit: "reversals"},
		{Rule: RuleMonths, Unit: "lines of closed months"},
		{Rule: RuleHeld, Unit: "changes of months"},
	}}
	if explained {
		r.add(RuleExplained, "transactions")
	}
	return r
}

func (r *Report) add(rule Rule, unit string) {
	r.Rules = append(r.Rules, RuleReport{Rule: rule, Unit: unit})
}

func (r *Report) of(rule Rule) *RuleReport {
	if i := r.find(rule); i >= 0 {
		return &r.Rules[i]
	}
	panic("a rule that is not in the report: " + string(rule))
}

func (r *Report) checked(rule Rule) { r.of(rule).Checked++ }

func (r *Report) broken(rule Rule, format string, args ...any) {
	line := r.of(rule)
	line.Broken++
	if line.Broken <= MaxFindings {
		r.Findings = append(r.Findings, Finding{rule, fmt.Sprintf(format, args...)})
	}
}

// brokenToo counts a place that a finding told already covers.
func (r *Report) brokenToo(rule Rule) { r.of(rule).Broken++ }

func (r *Report) find(rule Rule) int {
	return slices.IndexFunc(r.Rules, func(line RuleReport) bool { return line.Rule == rule })
}
