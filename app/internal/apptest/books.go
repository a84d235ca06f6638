package apptest

import (
	"context"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/books"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/ledger"
)

// PostAuthorised posts into any month that is not closed.
func (e *Env) PostAuthorised(by platform.Author, postings ...ledger.Posting) {
	e.t.Helper()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		var authorisations []period.Authorisation
		for _, p := range postings {
			authorisations = append(authorisations, period.Authorisation{Platform: p.Platform, Posting: p.ID, By: by, Note: "Test",
				At: e.Clock.Now()})
		}
		if err := tx.Authorise(ctx, authorisations); err != nil {
			return err
		}
		return tx.Post(ctx, postings)
	})
}

// SetBooks changes settings of the books.
func (e *Env) SetBooks(by platform.Author, changes ...string) {
	e.t.Helper()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockPeriods(ctx, e.Platform.ID); err != nil {
			return err
		}
		present, err := tx.BooksSettings(ctx, e.Platform.ID)
		if err != nil {
			return err
		}
		settings, err := present.With(changes...)
		if err != nil {
			return err
		}
		return tx.SaveBooksSettings(ctx, e.Platform.ID, books.SettingsVersion{Settings: settings, Version: present.Version + 1,
			At: e.Clock.Now(), By: by})
	})
}

// KeepRates keeps rates at a time: that of the euro is the one given.
func (e *Env) KeepRates(at time.Time, eur string) {
	e.t.Helper()
	err := e.Store.KeepRates(e.t.Context(), price.KeptRates{At: at, InUSD: map[money.Currency]price.KeptRate{
		"USD": {Rate: money.MustRate("1"), At: at, Source: "FIXED"},
		"EUR": {Rate: money.MustRate(eur), At: at, Source: "ECB"},
		"MXN": {Rate: money.MustRate("0.05"), At: at, Source: "ECB"},
	}})
	if err != nil {
		e.t.Fatal(err)
	}
}
