package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/app/audit"
)

// errCheckFailed is returned after a check has printed its findings.
var errCheckFailed = errors.New("the ledger check failed")

// writeReport prints each rule, how many items were checked, and the violations.
func writeReport(out io.Writer, report audit.Report) error {
	rows := table{rightAligned: []int{1}}
	failed := 0
	for _, r := range report.Rules {
		verdict := "passed"
		switch {
		case r.Violations > 0:
			failed++
			verdict = fmt.Sprintf("FAILED: %d", r.Violations)
		case r.Checked == 0:
			verdict = "nothing to check"
		}
		rows.add(string(r.Rule), fmt.Sprint(r.Checked), r.Unit, verdict)
	}
	if err := rows.write(out, "rule", "checked", "", ""); err != nil {
		return err
	}
	if n := report.EncryptedTexts; n > 0 {
		if _, err := fmt.Fprintf(out, "\n%d texts of transactions are encrypted and were not compared; set CAUSEWAY_MASTER_KEY to compare them.\n", n); err != nil {
			return err
		}
	}
	if n := report.RepliesNotCompared; n > 0 {
		if _, err := fmt.Fprintf(out, "\n%d replies of rails were not compared with what was recorded; set CAUSEWAY_MASTER_KEY to compare them.\n", n); err != nil {
			return err
		}
	}
	if n := report.MonthsWithoutRates; n > 0 {
		if _, err := fmt.Fprintf(out, "\nThe market rates of %d revalued months were deleted: their positions and closing values were checked, and not the result of each conversion.\n", n); err != nil {
			return err
		}
	}
	if report.Clean() {
		_, err := fmt.Fprintf(out, "\nAll %d rules passed.\n", len(report.Rules))
		return err
	}
	var text strings.Builder
	text.WriteString("\nViolations:\n")
	for _, r := range report.Rules {
		printed := int64(0)
		for _, f := range report.Findings {
			if f.Rule == r.Rule {
				printed++
				fmt.Fprintf(&text, "  %s\n", f)
			}
		}
		if r.Violations > printed {
			fmt.Fprintf(&text, "  %s: and %d more\n", r.Rule, r.Violations-printed)
		}
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	return fmt.Errorf("%w: %d of %d rules failed", errCheckFailed, failed, len(report.Rules))
}
