package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/safeguarding"
)

// SafeguardingWriter stores the purposes of accounts and the reports on what is held for customers.
type SafeguardingWriter interface {
	// LockSafeguarding locks the purposes, the reports and the treasury movements of a platform against
	// other changes until the unit of work ends. Payments are not blocked.
	LockSafeguarding(ctx context.Context, p ident.Platform) error
	// SetAccountPurpose stores the purpose of an account as its next version.
	SetAccountPurpose(ctx context.Context, p ident.Platform, change AccountPurpose) (AccountPurpose, error)
	// SaveSafeguardingReport stores a report with its digest.
	SaveSafeguardingReport(ctx context.Context, r safeguarding.Report) error
	// AcknowledgeSafeguardingReport stores that a person has seen a report.
	AcknowledgeSafeguardingReport(ctx context.Context, p ident.Platform, a safeguarding.Acknowledgement) error
}

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

// SafeguardingReader reads what SafeguardingWriter stored.
type SafeguardingReader interface {
	// AccountPurposes returns every version of the purposes that were set, by account and version.
	AccountPurposes(ctx context.Context, p ident.Platform) ([]AccountPurpose, error)
	// SafeguardingReport returns a version of the report of a day with its acknowledgements, or the last version if
	// it is 0; false if there is none.
	SafeguardingReport(ctx context.Context, p ident.Platform, day safeguarding.Day, version int) (KeptReport, bool, error)
	// SafeguardingReports returns a page of the last versions of reports, newest day first.
	SafeguardingReports(ctx context.Context, p ident.Platform, f SafeguardingFilter) (SafeguardingPage, error)
	// LastSafeguardingDay returns the last day with a report; empty if there is none.
	LastSafeguardingDay(ctx context.Context, p ident.Platform) (safeguarding.Day, error)
	// LastStatements returns, for each account, the last statement that ended by a day. Its Difference is
	// not set.
	LastStatements(ctx context.Context, p ident.Platform, by safeguarding.Day) ([]safeguarding.Statement, error)
}

// KeptReport is a stored report.
type KeptReport struct {
	safeguarding.Report
	// Digest is the stored digest of the report.
	Digest           []byte
	Versions         int // of the day
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
