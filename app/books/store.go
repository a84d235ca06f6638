package books

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads what the books of a platform rest on beside its postings, with former versions.
type Store interface {
	foureyes.Store
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error)
	GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error)
	// BooksSettingsVersions returns a page of the versions of the settings, newest first.
	BooksSettingsVersions(ctx context.Context, p ident.Platform, f ports.VersionFilter) (ports.VersionPage[books.SettingsVersion], error)
	// GLMappingVersion returns one version of the mapping, or false if there is none.
	GLMappingVersion(ctx context.Context, p ident.Platform, version int) (books.MappingVersion, bool, error)
	// GLMappingVersions returns a page of the versions of the mapping without their lines, newest first.
	GLMappingVersions(ctx context.Context, p ident.Platform, f ports.VersionFilter) (ports.VersionPage[books.MappingVersion], error)
}

// Tx changes the books. Call LockPeriods first: changes are made one at a time, and what a Tx reads then does not change until
// its end.
type Tx interface {
	foureyes.Tx
	uow.Tx
	AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error)
	GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error)
	// BooksFixed returns which settings can no longer change.
	BooksFixed(ctx context.Context, p ident.Platform) (books.Fixed, error)
	// SaveBooksSettings stores the next version of the settings, which LockBooksSettings locked.
	SaveBooksSettings(ctx context.Context, p ident.Platform, v books.SettingsVersion) error
	// SaveAddedAccount stores the next version of an account.
	SaveAddedAccount(ctx context.Context, p ident.Platform, a books.AddedAccount) error
	// SaveGLMapping stores the next version of the mapping.
	SaveGLMapping(ctx context.Context, p ident.Platform, v books.MappingVersion) error
	LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error)
	LockPeriodsShared(ctx context.Context, p ident.Platform) (period.Calendar, error)
	Authorise(ctx context.Context, authorisations []period.Authorisation) error
}

// Finance reads the ledger for finance reports: committed postings only, and sums that
// never overflow.
type Finance interface {
	// RecordedPosting returns a posting, or false if there is none.
	RecordedPosting(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.RecordedPosting, bool, error)
	// Turnovers calls each for every account of a class (of all classes if empty), by
	// currency and path, with its turnover up to each cutoff. All are read from one
	// snapshot.
	Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []ports.Cutoff, each func(ports.AccountTurnovers) error) error
}
