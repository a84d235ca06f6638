package ports

import (
	"time"

	"causeway/core/platform"
	"causeway/core/safeguarding"
)

// AccountPurpose is a version of the purpose of an account at a partner.
type AccountPurpose struct {
	Path    string
	Purpose safeguarding.Purpose
	Version int // from 1
	At      time.Time
	By      platform.Author
	// Approval is that of a second person; zero without four eyes.
	Approval platform.Approval
	Note     string
}

// KeptReport is a stored report.
type KeptReport struct {
	safeguarding.Report
	// Digest is the stored digest of the report.
	Digest   []byte
	Versions int // of the day
	// Acknowledgements are those of the version, and those of earlier ones that hold for it.
	Acknowledgements []safeguarding.Acknowledgement
}

// SafeguardingFilter selects reports.
type SafeguardingFilter struct {
	Before safeguarding.Day // the day of the last report of the previous page; empty for the first
	// ShortfallOnly leaves out the reports without a shortfall.
	ShortfallOnly bool
	Limit         int
}

// SafeguardingPage is a page of reports.
type SafeguardingPage struct {
	Reports []KeptReport
	More    bool
}
