package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/app/audit"
)

// errCheckFailed ends a check that found something; what it found has been printed.
var errCheckFailed = errors.New("the books do not hold")

// writeReport prints what was checked, how much of it there is, and what is wrong.
func writeReport(out io.Writer, report audit.Report) error {
	rows := table{rightAligned: []int{1}}
	broken := 0
	for _, r := range report.Rules {
		verdict := "holds"
		switch {
		case r.Violations > 0:
			broken++
			verdict = fmt.Sprintf("BROKEN: %d", r.Violations)
		case r.Checked == 0:
			verdict = "nothing to check yet"
		}
		rows.add(string(r.Rule), fmt.Sprint(r.Checked), r.Unit, verdict)
	}
	if err := rows.write(out, "rule", "checked", "", ""); err != nil {
		return err
	}
	if report.Clean() {
		_, err := fmt.Fprintf(out, "\nAll %d rules hold.\n", len(report.Rules))
		return err
	}
	var text strings.Builder
	text.WriteString("\nWhat is wrong:\n")
	for _, r := range report.Rules {
		told := int64(0)
		for _, f := range report.Findings {
			if f.Rule == r.Rule {
				told++
				fmt.Fprintf(&text, "  %s\n", f)
			}
		}
		if r.Violations > told {
			fmt.Fprintf(&text, "  %s: and %d more\n", r.Rule, r.Violations-told)
		}
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	return fmt.Errorf("%w: %d of %d rules are broken", errCheckFailed, broken, len(report.Rules))
}
