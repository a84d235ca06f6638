package books_test

import (
	"testing"

	booksapp "causeway/app/books"
	"causeway/app/internal/apptest"
	"causeway/core/platform"
	"causeway/core/proposal"
)

// env is the environment of a test with the use cases on it.
type env struct {
	*apptest.Env
	books *booksapp.Service
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := apptest.New(t)
	return &env{e, booksapp.New(booksapp.Config{
		Store: e.Store, Finance: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})}
}

// change is a change by the token of the environment.
func (e *env) change(note string) booksapp.Change {
	return booksapp.Change{By: platform.Author{Token: e.Admin.Token, Actor: "Ana Ruiz"}, Note: note}
}

// done returns the result of a request that needs no approval.
func done[Result any](o proposal.Outcome[Result], err error) (Result, error) { return o.Done, err }
