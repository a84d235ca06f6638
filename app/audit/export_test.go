package audit

import "context"

// CheckEvidence checks the rules of the facts beside the postings alone.
func (c *Checker) CheckEvidence(ctx context.Context) (Report, error) {
	r := &run{Checker: c, report: newReport(check)}
	err := r.checkEvidence(ctx)
	return *r.report, err
}
