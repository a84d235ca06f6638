package audit

import (
	"fmt"
	"slices"
)

// Report is the result of a check.
type Report struct {
	// Rules are the rules that were checked, in the order of the table of rules.
	Rules []RuleReport
	// Findings are the violations in the order in which they were found, at most MaxFindings
	// of a rule. RuleReport.Violations counts all.
	Findings []Finding
	// EncryptedTexts counts the texts that were not compared, because there is no master key to decrypt them.
	EncryptedTexts int64
	// RepliesNotCompared counts the replies of rails that were not compared, because there is no master key.
	RepliesNotCompared int64
	// MonthsWithoutRates counts the revalued months whose market rates were deleted, so that the result of each
	// conversion was not computed again.
	MonthsWithoutRates int64
	// Unreached counts the postings that published checkpoints cover and a copy of the database does not have.
	Unreached int64
}

// Postings returns how many postings were checked.
func (r Report) Postings() int64 { return r.rule(RuleWellFormed).Checked }

// Failed returns the rules that are violated.
func (r Report) Failed() (failed []Rule) {
	for _, line := range r.Rules {
		if line.Violations > 0 {
			failed = append(failed, line.Rule)
		}
	}
	return failed
}

// RuleReport is the result of one rule.
type RuleReport struct {
	Rule Rule
	// Checked counts what was checked, in units of Unit ("postings").
	Checked    int64
	Unit       string
	Violations int64
}

// Finding is one violation of a rule.
type Finding struct {
	Rule    Rule
	Message string
}

func (f Finding) String() string { return fmt.Sprintf("%s: %s", f.Rule, f.Message) }

// MaxFindings is the maximum number of findings of one rule in a report.
const MaxFindings = 100

// Clean reports whether no rule is violated.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

func (r *Report) rule(rule Rule) *RuleReport {
	if i := r.ruleIndex(rule); i >= 0 {
		return &r.Rules[i]
	}
	panic("rule is not in the report: " + string(rule))
}

func (r *Report) countChecked(rule Rule) { r.rule(rule).Checked++ }

func (r *Report) addFinding(rule Rule, format string, args ...any) {
	line := r.rule(rule)
	line.Violations++
	if line.Violations <= MaxFindings {
		r.Findings = append(r.Findings, Finding{rule, fmt.Sprintf(format, args...)})
	}
}

// countViolation counts a violation that an earlier finding covers.
func (r *Report) countViolation(rule Rule) { r.rule(rule).Violations++ }

func (r *Report) ruleIndex(rule Rule) int {
	return slices.IndexFunc(r.Rules, func(line RuleReport) bool { return line.Rule == rule })
}
