package books_test

import (
	"slices"
	"testing"

	booksapp "causeway/app/books"
	"causeway/app/internal/apptest"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/ledger"
)

var rent = books.AddedAccount{Path: "expense/office-rent", Name: "Office rent", Description: "Lisbon"}

func TestService_AddAccount(t *testing.T) {
	t.Parallel()
	// An added account is in the chart of its platform after the built-in lines, with its class, its account of
	// the general ledger and its author. It is added once; a repeated request has the same response.
	env := newEnv(t)
	request := apptest.IdempotentRequest(env.Admin, "add",
		func(result any) string { return result.(proposal.Outcome[booksapp.ChartAccount]).Done.Path })

	added, err := done(env.books.AddAccount(t.Context(), env.Platform.ID, env.change("A new office"), request, rent))

	if err != nil || added.Class != ledger.Expense || added.GL.Code != "6900" || added.Added.Version != 1 ||
		added.Added.Note != "A new office" || added.Added.By != env.change("").By || added.Added.Retired {
		t.Fatalf("added %+v, %v", added, err)
	}
	_, err = done(env.books.AddAccount(t.Context(), env.Platform.ID, env.change(""), nil, rent))
	apptest.WantFault(t, "a second time", err, fault.Conflict)
	_, err = done(env.books.AddAccount(t.Context(), env.Platform.ID, env.change(""), nil, books.AddedAccount{Path: "rails/RTP"}))
	apptest.WantFault(t, "invalid", err, fault.InvalidInput, "path", "name")
	chart, err := env.books.Chart(t.Context(), env.Platform.ID)
	if err != nil || len(chart) != len(ledger.Chart())+1 {
		t.Fatalf("%d lines, %v", len(chart), err)
	}
	if last := chart[len(chart)-1]; last.Path != rent.Path || last.Added.Name != rent.Name || last.Description != rent.Description ||
		!last.Added.At.Equal(apptest.Noon) {
		t.Errorf("listed %+v", last)
	}
	for _, a := range chart {
		if a.GL.Code == "" || a.GL.Name == "" {
			t.Errorf("%s has no account of the general ledger", a.Path)
		}
	}
	if chart, err := env.books.Chart(t.Context(), ident.Platform{}); err != nil || len(chart) != len(ledger.Chart()) {
		t.Errorf("another platform has %d lines, %v", len(chart), err)
	}
}

func TestService_ChangeAccount(t *testing.T) {
	t.Parallel()
	// What is not named stays. A change to what is so already makes no version.
	env := newEnv(t)
	if _, err := done(env.books.AddAccount(t.Context(), env.Platform.ID, env.change(""), nil, rent)); err != nil {
		t.Fatal(err)
	}

	retired, err := done(env.books.ChangeAccount(t.Context(), env.Platform.ID, env.change("Closed"), rent.Path,
		booksapp.AccountChange{Retired: new(true)}))

	if err != nil || !retired.Added.Retired || retired.Added.Version != 2 || retired.Added.Name != rent.Name ||
		retired.Added.Note != "Closed" {
		t.Fatalf("retired %+v, %v", retired.Added, err)
	}
	if again, err := done(env.books.ChangeAccount(t.Context(), env.Platform.ID, env.change("again"), rent.Path,
		booksapp.AccountChange{Retired: new(true)})); err != nil || again.Added.Version != 2 || again.Added.Note != "Closed" {
		t.Errorf("again %+v, %v", again.Added, err)
	}
	if back, err := done(env.books.ChangeAccount(t.Context(), env.Platform.ID, env.change(""), rent.Path,
		booksapp.AccountChange{Name: new("Rent"), Retired: new(false)})); err != nil || back.Added.Retired || back.Added.Version != 3 ||
		back.Added.Name != "Rent" {
		t.Errorf("back %+v, %v", back.Added, err)
	}
	_, err = done(env.books.ChangeAccount(t.Context(), env.Platform.ID, env.change(""), rent.Path, booksapp.AccountChange{Name: new("")}))
	apptest.WantFault(t, "no name", err, fault.InvalidInput, "name")
	_, err = done(env.books.ChangeAccount(t.Context(), env.Platform.ID, env.change(""), "expense/rails",
		booksapp.AccountChange{Retired: new(true)}))
	apptest.WantFault(t, "a built-in account", err, fault.NotFound)
}

func TestService_AddAccountIsLimited(t *testing.T) {
	t.Parallel()
	// A platform cannot add accounts without end.
	env := newEnv(t)
	if _, err := env.Store.Pool().Exec(t.Context(),
		`INSERT INTO ledger_added_accounts SELECT $1, 'asset/a' || n, 1, 'A', '', false, now(), NULL, 'ana', '' FROM generate_series(1, $2) n`,
		env.Platform.ID.UUID(), books.MaxAddedAccounts); err != nil {
		t.Fatal(err)
	}

	_, err := done(env.books.AddAccount(t.Context(), env.Platform.ID, env.change(""), nil, rent))

	apptest.WantFault(t, "one too many", err, fault.Conflict)
}

func TestChartRows_EscapeFormulas(t *testing.T) {
	t.Parallel()
	// Texts that a spreadsheet takes for formulas are escaped.
	account := books.AddedAccount{Path: "asset/cars", Name: "=1+1", Description: "@SUM"}
	rows := booksapp.ChartRows([]booksapp.ChartAccount{{ChartLine: ledger.ChartLine{Path: account.Path, Class: ledger.Asset,
		Description: account.Description},
		GL: books.GLAccount{Code: "-1", Name: "+2"}, Added: &account}})

	if want := []string{"asset/cars", "asset", "'=1+1", "'@SUM", "false", "'-1", "'+2"}; !slices.Equal(rows[0], want) {
		t.Errorf("got %q, want %q", rows[0], want)
	}
}
