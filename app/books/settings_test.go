package books_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

func TestService_SetSettingsKeepsEveryVersion(t *testing.T) {
	t.Parallel()
	// A platform begins with the defaults. Each change is a version with who made it and why; settings that
	// are the present ones make none. Another platform keeps its own.
	env := newEnv(t)
	if first, err := env.books.Settings(t.Context(), env.Platform.ID); err != nil || first.Version != 0 ||
		!first.Equal(books.DefaultSettings()) {
		t.Fatalf("at first %+v, %v", first, err)
	}
	euro := books.DefaultSettings()
	euro.FunctionalCurrency, euro.FourEyes = "EUR", []books.Action{books.ActionClose, books.ActionAdjustment}

	done, err := env.books.SetSettings(t.Context(), env.Platform.ID, env.change("The group reports in euros."), euro)
	set := done.Done

	if err != nil || set.Version != 1 || set.Note != "The group reports in euros." || set.By != env.change("").By ||
		!set.At.Equal(apptest.Noon) {
		t.Fatalf("set %+v, %v", set, err)
	}
	if again, err := env.books.EditSettings(t.Context(), env.Platform.ID, env.change("again"),
		func(books.Settings) (books.Settings, error) { return euro, nil }); err != nil || again.Version != 1 {
		t.Errorf("the same settings: %+v, %v", again, err)
	}
	edited, err := env.books.EditSettings(t.Context(), env.Platform.ID, env.change(""),
		func(s books.Settings) (books.Settings, error) { return s.With("yearEndMonth=6") })
	if err != nil || edited.Version != 2 || edited.YearEndMonth != time.June || edited.FunctionalCurrency != "EUR" {
		t.Errorf("edited %+v, %v", edited, err)
	}
	outdated := env.change("of a page that was opened before")
	outdated.Base = &set.Version
	if _, err := env.books.SetSettings(t.Context(), env.Platform.ID, outdated, euro); !fault.Is(err, fault.Conflict) {
		t.Errorf("a change of version 1, which is not the present one: %v", err)
	}
	page, err := env.books.SettingsVersions(t.Context(), env.Platform.ID, ports.VersionFilter{Limit: 1})
	if err != nil || len(page.Versions) != 1 || !page.More || page.Versions[0].Version != 2 || !page.Versions[0].Equal(edited.Settings) {
		t.Errorf("versions %+v, %v", page, err)
	}
	page, err = env.books.SettingsVersions(t.Context(), env.Platform.ID, ports.VersionFilter{Before: 2, Limit: 1})
	if err != nil || len(page.Versions) != 1 || page.More || page.Versions[0].Note != set.Note || page.Versions[0].By != set.By ||
		!page.Versions[0].At.Equal(set.At) {
		t.Errorf("versions before 2: %+v, %v", page, err)
	}
}

func TestService_SetSettingsRefusesInvalidAndFixed(t *testing.T) {
	t.Parallel()
	// What is invalid is refused, and so is another functional currency once something is posted to fx/valuation.
	env := newEnv(t)
	dollar := books.DefaultSettings()
	dollar.FunctionalCurrency = money.USD
	_, err := env.books.SetSettings(t.Context(), env.Platform.ID, env.change(""), books.Settings{})
	apptest.WantFault(t, "empty settings", err, fault.InvalidInput, "unrealisedResult", "feeRecognition", "yearEndMonth")
	_, err = env.books.SetSettings(t.Context(), env.Platform.ID, env.change(strings.Repeat("n", 501)), dollar)
	apptest.WantFault(t, "a long note", err, fault.InvalidInput, "note")
	if _, err := env.books.SetSettings(t.Context(), env.Platform.ID, env.change(""), dollar); err != nil {
		t.Fatal(err)
	}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.Post(ctx, []ledger.Posting{ledger.Adjustment(ledger.Header{ID: uuid.New(), Platform: env.Platform.ID, Effective: apptest.Noon,
			Memo: "revaluation"},
			[]ledger.Entry{{Debit: ledger.FXValuation, Credit: ledger.IncomeExchangeGains, Currency: money.USD, Amount: 1}})})
	})

	_, err = env.books.SetSettings(t.Context(), env.Platform.ID, env.change(""), books.DefaultSettings())
	apptest.WantFault(t, "no functional currency", err, fault.Conflict)

	dollar.UnrealisedResult = books.Keep
	if kept, err := env.books.SetSettings(t.Context(), env.Platform.ID, env.change(""), dollar); err != nil || kept.Done.Version != 2 {
		t.Errorf("another setting: %+v, %v", kept, err)
	}
}

func TestService_EditSettingsConcurrently(t *testing.T) {
	t.Parallel()
	// Changes at the same time are made one after the other: none is lost, and versions have no gap.
	env := newEnv(t)
	var running sync.WaitGroup
	for _, a := range books.Actions() {
		running.Go(func() {
			_, err := env.books.EditSettings(t.Context(), env.Platform.ID, env.change(""), func(s books.Settings) (books.Settings, error) {
				s.FourEyes = append(append([]books.Action{}, s.FourEyes...), a)
				return s, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()

	last, err := env.books.Settings(t.Context(), env.Platform.ID)

	if err != nil || last.Version != len(books.Actions()) || len(last.FourEyes) != len(books.Actions()) {
		t.Errorf("got %+v, %v", last, err)
	}
}
