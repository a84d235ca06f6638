package audit

// OnlyEvidence returns a Checker that passes over nothing but the facts beside the postings.
func (c *Checker) OnlyEvidence() *Checker {
	only := *c
	only.passes = []*pass{ofEvidence}
	return &only
}
