package cli

import (
	"context"
	"io"
	"time"

	"causeway/app/accounting"
	"causeway/app/accounts"
	"causeway/app/agents"
	"causeway/app/audit"
	"causeway/app/authentication"
	"causeway/app/backups"
	"causeway/app/books"
	"causeway/app/customers"
	"causeway/app/datakeys"
	"causeway/app/exports"
	"causeway/app/exports/statement"
	"causeway/app/financials"
	"causeway/app/jobs"
	"causeway/app/journals"
	"causeway/app/limits"
	"causeway/app/monthend"
	"causeway/app/people"
	"causeway/app/platforms"
	"causeway/app/pricing"
	"causeway/app/proposals"
	"causeway/app/rails"
	"causeway/app/receivables"
	"causeway/app/reconciliation"
	"causeway/app/treasury"
	"causeway/app/wallets"
	"causeway/app/webhooks"
	"causeway/app/yearend"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/reconcile"
	"causeway/core/screening"
	"causeway/core/uma"
	"causeway/ports"
)

// Env is what a command is run with: where it prints, and what the program that it is a command of does for it.
type Env struct {
	// Out is for the result, and ErrOut for the progress and what is said beside the result.
	Out, ErrOut io.Writer
	Clock       ports.Clock
	IDs         ports.IDs
	// Open opens the services on a database.
	Open func(context.Context, DatabaseFlags, Access) (Services, error)
	// Command is the words of the command, such as "rails set", and Sessions are those of who has signed in.
	// Platform is the one that --platform names; zero for none, or for what is no id.
	Command  string
	Platform ident.Platform
	Sessions Sessions
	// nameTokens names the tokens of a platform in texts; nil for a command that is about none.
	nameTokens func(texts ...*string) error
	// Version is the one that the program reports.
	Version string
	// BaseURL returns the URL of the API, version included, at the public URL of the service.
	BaseURL func(publicURL string) string
	// ReadCheckpoints reads the checkpoints that were published in a folder, a file or at a URL.
	ReadCheckpoints func(ctx context.Context, where string) ([]audit.PublishedCheckpoint, error)
	// OpenBackups returns the backups of the database that flags name.
	OpenBackups func(BackupFlags) ports.BackupSource
	// ReadSanctions reads the files of a sanctions list. Those that a list does not have are nil.
	ReadSanctions func(list screening.List, file, aliases, addresses io.Reader) (SanctionsFile, error)
}

// SanctionsFile is what the files of a sanctions list say.
type SanctionsFile struct {
	Entries []screening.Entry
	// PublishedAt is zero if the file has no date of publication.
	PublishedAt time.Time
}

// Access says how a command uses the database.
type Access struct {
	Work Work
	// MasterKey is set for a command that encrypts: it is then required.
	MasterKey *MasterKeyFlag
}

// Work is a kind of work on the database, which decides how long a statement may take.
type Work int

// The kinds of work.
const (
	// OnBooks reads a whole ledger, and may take hours.
	OnBooks Work = iota
	// AsRequest is the same as what a request to the API does.
	AsRequest
	// OnImport writes many rows in one unit of work, and may take hours.
	OnImport
)

// Services are the use cases on one database: the same as those of the API, with the same dependencies.
type Services interface {
	// Close closes the database.
	Close() error
	// Database names the database, without a secret.
	Database() string
	// CheckClock returns an error if the clock of this machine must not set times in the ledger.
	CheckClock(context.Context) error
	// Recording returns the services whose next change also records what an operator did.
	Recording(platform.OperatorAction) Services

	// Platforms are the use cases on platforms that need no rails.
	Platforms() *platforms.Service
	// UMAKeys returns the keys of a platform as a UMA provider. They are opened with the master key.
	UMAKeys(context.Context, ident.Platform) (uma.KeyRing, error)
	// WithOperator calls do with the use cases of an operator on platforms.
	WithOperator(ctx context.Context, by platform.Author, do func(*platforms.Operator) error) error
	// People are the use cases on the people who work with the service. They sign nobody in.
	People() *people.Service
	Pricing() *pricing.Service
	Limits() *limits.Service
	Customers() *customers.Service
	Accounts() *accounts.Service
	Authentication() *authentication.Service
	Wallets() *wallets.Service
	// Agents have no market rates, so what agents may still send is not computed.
	Agents() *agents.Service
	// Verifications compare names with sanctions lists from a score on.
	Verifications(threshold int) *customers.Verifications
	Screening(threshold int) *customers.Screening
	// Documents returns the use cases on documents, whose files are where the flags say.
	Documents(BlobFlags) (*customers.Documents, error)
	Rails() *rails.Service
	Jobs() *jobs.Service
	Backups() *backups.Service
	Webhooks() *webhooks.Service
	// DataKeys are the use cases on data keys, which report how far they have read.
	DataKeys(progress func(done, total int64)) *datakeys.Service

	Accounting() *accounting.Service
	Periods() *accounting.Periods
	Books() *books.Service
	MonthEnd() *monthend.Service
	Financials() *financials.Service
	Years() *yearend.Service
	Journals() *journals.Service
	Treasury() *treasury.Service
	Receivables() *receivables.Service
	Proposals() *proposals.Service
	Reconciliation() Reconciliation
	// Exports returns the exports of a company, which report their progress if progress is not nil.
	Exports(company statement.Company, progress func(done, total int64)) *exports.Service
	Audit() *audit.Checker
	Log() *audit.Log
	// CheckpointKeys returns all keys that ever signed checkpoints.
	CheckpointKeys(context.Context) ([]ports.SealedCheckpointKey, error)
	// RotateLedgerKey replaces the key that signs checkpoints.
	RotateLedgerKey(context.Context) (ports.CheckpointKey, error)
}

// Reconciliation is what commands do with statements and breaks.
type Reconciliation interface {
	Import(context.Context, reconciliation.ImportRequest, *ports.IdempotentRequest) (reconciliation.ImportResult, error)
	Get(context.Context, ident.Platform, ident.Reconciliation) (reconciliation.RunDetails, error)
	Break(context.Context, ident.Platform, ident.Break) (reconcile.BreakDetails, error)
	Breaks(context.Context, ident.Platform, ident.Reconciliation, ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error)
	BreaksTable(ident.Platform, ident.Reconciliation, ports.BreakFilter) reconciliation.Table
	ResolveAlone(context.Context, reconciliation.ResolveRequest) (proposal.Outcome[reconcile.BreakDetails], error)
}
