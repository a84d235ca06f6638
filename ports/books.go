package ports

import (
	"context"
	"time"

	"causeway/core/books"
	"causeway/core/ident"
)

// BooksReader reads what the books of a platform rest on beside its postings. In a unit of work that holds a
// lock of the periods (LockPeriods or LockPeriodsShared) it does not change until the end.
type BooksReader interface {
	// BooksSettings returns the latest version of the settings; version 0 with the defaults if there is none.
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	// AddedAccounts returns the accounts that finance has added: those with these paths, or all if paths is nil.
	AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error)
	// GLMapping returns the mapping to the general ledger as it was at the end of a moment, or as it is if that is
	// zero; version 0 with the built-in one if there was none.
	GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error)
}

// BooksHistory reads the former versions.
type BooksHistory interface {
	// BooksSettingsVersions returns a page of the versions of the settings, newest first.
	BooksSettingsVersions(ctx context.Context, p ident.Platform, f VersionFilter) (VersionPage[books.SettingsVersion], error)
	// GLMappingVersion returns one version of the mapping, or false if there is none.
	GLMappingVersion(ctx context.Context, p ident.Platform, version int) (books.MappingVersion, bool, error)
	// GLMappingVersions returns a page of the versions of the mapping without their lines, newest first.
	GLMappingVersions(ctx context.Context, p ident.Platform, f VersionFilter) (VersionPage[books.MappingVersion], error)
}

// BooksWriter changes the books. Call LockPeriods first: changes are made one at a time.
type BooksWriter interface {
	BooksReader
	// LockBooksSettings returns the settings, locked for a change. Call it before LockPeriods.
	LockBooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	// LockBooksSettingsShared returns the settings and locks them against changes until the unit of work ends; any
	// number of units of work can hold this lock at the same time. Call it before LockPeriods.
	LockBooksSettingsShared(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	// BooksFixed returns which settings can no longer change.
	BooksFixed(ctx context.Context, p ident.Platform) (books.Fixed, error)
	// SaveBooksSettings stores the next version of the settings, which LockBooksSettings locked.
	SaveBooksSettings(ctx context.Context, p ident.Platform, v books.SettingsVersion) error
	// SaveAddedAccount stores the next version of an account.
	SaveAddedAccount(ctx context.Context, p ident.Platform, a books.AddedAccount) error
	// SaveGLMapping stores the next version of the mapping.
	SaveGLMapping(ctx context.Context, p ident.Platform, v books.MappingVersion) error
}

// VersionFilter selects at most Limit versions before the version Before, or from the latest if it is zero.
type VersionFilter struct {
	Before int
	Limit  int
}

// VersionPage is a page of versions.
type VersionPage[T any] struct {
	Versions []T
	More     bool
}
