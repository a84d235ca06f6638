package audit

import "context"

// CheckEvidence checks the rules of the facts beside the postings alone.
func (c *Checker) CheckEvidence(ctx context.Context) (Report, error) {
	report := newReport(check)
	err := c.checkEvidence(ctx, report, nil)
	return *report, err
}
