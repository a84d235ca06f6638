package cli

import (
	"errors"
	"fmt"
	"io"

	"causeway/adapters/cli/table"
	"causeway/app/audit"
)

// errCheckFailed is returned after a check has printed its findings.
var errCheckFailed = errors.New("the ledger check failed")

// printCheck prints each rule, how many items were checked, and the violations.
func printCheck(out io.Writer, format table.Format, report audit.Report) error {
	var page table.Page
	addCheck(&page, format, report)
	if err := page.Write(out, format); err != nil || report.Clean() {
		return err
	}
	return fmt.Errorf("%w: %d of %d rules failed", errCheckFailed, len(report.Failed()), len(report.Rules))
}

// addCheck adds each rule, how many items were checked, and the violations.
func addCheck(page *table.Page, format table.Format, report audit.Report) {
	rules := table.New("rule", ">checked", "|unit", "|verdict")
	for _, r := range report.Rules {
		verdict := "passed"
		switch {
		case r.Violations > 0:
			verdict = fmt.Sprintf("FAILED: %d", r.Violations)
		case r.Checked == 0:
			verdict = "nothing to check"
		}
		rules.Add(r.Rule, r.Checked, r.Unit, verdict)
	}
	page.Table("rules", rules, "")
	if n := report.EncryptedTexts; n > 0 {
		page.Line("\n%d texts of transactions are encrypted and were not compared; set CAUSEWAY_MASTER_KEY to compare them.", n)
	}
	if n := report.RepliesNotCompared; n > 0 {
		page.Line("\n%d replies of rails were not compared with what was recorded; set CAUSEWAY_MASTER_KEY to compare them.", n)
	}
	if n := report.MonthsWithoutRates; n > 0 {
		page.Line("\nThe market rates of %d revalued months were deleted: their positions and closing values were checked, and not the result "+
			"of each conversion.", n)
	}
	if report.Clean() {
		page.Line("\nAll %d rules passed.", len(report.Rules))
	}
	addFindings(page, format, report)
}

// addFindings adds the violations: for people by rule, with how many more there are.
func addFindings(page *table.Page, format table.Format, report audit.Report) {
	if format != table.Text {
		findings := table.New("rule", "message")
		for _, f := range report.Findings {
			findings.Add(f.Rule, f.Message)
		}
		page.Table("findings", findings, "")
		return
	}
	if report.Clean() {
		return
	}
	page.Line("\nViolations:")
	for _, r := range report.Rules {
		printed := int64(0)
		for _, f := range report.Findings {
			if f.Rule == r.Rule {
				printed++
				page.Line("  %s", f)
			}
		}
		if r.Violations > printed {
			page.Line("  %s: and %d more", r.Rule, r.Violations-printed)
		}
	}
}
