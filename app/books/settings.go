package books

import (
	"context"
	"strconv"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/proposal"
	"causeway/ports"
)

// Settings returns the settings of a platform.
func (s *Service) Settings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	return s.Store.BooksSettings(ctx, p)
}

// SettingsVersions returns a page of the versions of the settings, newest first.
func (s *Service) SettingsVersions(ctx context.Context, p ident.Platform,
	f ports.VersionFilter) (ports.VersionPage[books.SettingsVersion], error) {
	return s.Store.BooksSettingsVersions(ctx, p, f)
}

// SetSettings replaces the settings of a platform and returns their new version, or the present one if they do
// not differ; or it makes a proposal of the change. A proposal replaces the version that it was made from, and no later
// one. Faults: INVALID_INPUT; CONFLICT for a setting that can no longer change, or if another change was made meanwhile;
// those of foureyes.Run.
func (s *Service) SetSettings(ctx context.Context, p ident.Platform, c Change,
	next books.Settings) (proposal.Outcome[books.SettingsVersion], error) {
	present, err := s.Store.BooksSettings(ctx, p)
	if err != nil {
		return proposal.Outcome[books.SettingsVersion]{}, err
	}
	if c.Base != nil && *c.Base != present.Version {
		return proposal.Outcome[books.SettingsVersion]{}, settingsChanged(present.Version, *c.Base)
	}
	return foureyes.Run(ctx, s.foureyes(), s.settings(), p, c.By, nil, newSettingsRequest(present.Version, next, c.Note))
}

// EditSettings applies what edit makes of the present settings: the change of an operator. An error of edit is
// returned.
func (s *Service) EditSettings(ctx context.Context, p ident.Platform, c Change, edit func(books.Settings) (books.Settings, error)) (
	set books.SettingsVersion, err error) {
	if bad := c.problems(); len(bad) > 0 {
		return set, fault.Invalid(bad...)
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		set, err = editSettings(ctx, tx, foureyes.Change{Platform: p, By: c.By, At: s.now()}, c.Note,
			func(present books.SettingsVersion) (books.Settings, error) { return edit(present.Settings) })
		return err
	})
	return set, err
}

func (s *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

func (s *Service) settings() foureyes.Operation[Tx, settingsRequest, books.SettingsVersion] {
	return foureyes.Operation[Tx, settingsRequest, books.SettingsVersion]{ID: "setLedgerSettings", Action: books.ActionSettings,
		Check: func(_ context.Context, _ ident.Platform, r settingsRequest) error { return checkNote(r.Note) },
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r settingsRequest) (books.SettingsVersion, string, error) {
			set, err := editSettings(ctx, tx, c, r.Note, func(present books.SettingsVersion) (books.Settings, error) {
				if present.Version != r.BaseVersion {
					return books.Settings{}, settingsChanged(present.Version, r.BaseVersion)
				}
				return r.settings(), nil
			})
			return set, strconv.Itoa(set.Version), err
		}}
}

func settingsChanged(present, base int) error {
	return conflict("Settings changed", "The settings have version %d, not %d: another change was made since. Read them, and make your "+
		"change again.", present, base)
}

// settingsRequest is the stored form of a change of the settings.
type settingsRequest struct {
	BaseVersion        int                    `json:"baseVersion"` // the present one when the request was made
	FunctionalCurrency money.Currency         `json:"functionalCurrency,omitempty"`
	UnrealisedResult   books.UnrealisedResult `json:"unrealisedResult"`
	FeeRecognition     books.FeeRecognition   `json:"feeRecognition"`
	YearEndMonth       time.Month             `json:"yearEndMonth"`
	FourEyes           []books.Action         `json:"fourEyes"`
	Note               string                 `json:"note,omitempty"`
	// ReceivablesAllowance is the text of books.AllowanceRates, which were checked before.
	ReceivablesAllowance string `json:"receivablesAllowance,omitempty"`
}

func newSettingsRequest(base int, s books.Settings, note string) settingsRequest {
	return settingsRequest{base, s.FunctionalCurrency, s.UnrealisedResult, s.FeeRecognition, s.YearEndMonth, s.FourEyes, note,
		s.ReceivablesAllowance.String()}
}

func (r settingsRequest) settings() books.Settings {
	allowance, _ := books.ParseAllowanceRates(r.ReceivablesAllowance)
	return books.Settings{ReceivablesAllowance: allowance, FunctionalCurrency: r.FunctionalCurrency, UnrealisedResult: r.UnrealisedResult,
		FeeRecognition: r.FeeRecognition,
		YearEndMonth:   r.YearEndMonth, FourEyes: r.FourEyes}
}

func editSettings(ctx context.Context, tx Tx, c foureyes.Change, note string,
	edit func(books.SettingsVersion) (books.Settings, error)) (books.SettingsVersion, error) {
	present, err := tx.LockBooksSettings(ctx, c.Platform)
	if err != nil {
		return books.SettingsVersion{}, err
	}
	if _, err := tx.LockPeriods(ctx, c.Platform); err != nil {
		return books.SettingsVersion{}, err
	}
	edited, err := edit(present)
	if err != nil {
		return books.SettingsVersion{}, err
	}
	if edited, err = edited.Checked(); err != nil || edited.Equal(present.Settings) && c.Approval.IsZero() {
		return present, err
	}
	fixed, err := tx.BooksFixed(ctx, c.Platform)
	if err != nil {
		return books.SettingsVersion{}, err
	}
	if err := present.CheckChange(edited, fixed); err != nil {
		return books.SettingsVersion{}, err
	}
	next := books.SettingsVersion{Settings: edited, Version: present.Version + 1, At: c.At, By: c.By, Approval: c.Approval, Note: note}
	return next, tx.SaveBooksSettings(ctx, c.Platform, next)
}
