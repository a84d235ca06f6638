package foureyes_test

import (
	"context"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
)

// request is the request of an operation that changes nothing.
type request struct {
	Note string `json:"note"`
}

// operation returns an adjustment that calls during in its unit of work.
func operation(during func()) foureyes.Operation[foureyes.Tx, request, string] {
	return foureyes.Operation[foureyes.Tx, request, string]{ID: "test", Action: books.ActionAdjustment,
		Execute: func(context.Context, foureyes.Tx, foureyes.Change, request) (string, string, error) {
			during()
			return "carried out", "made", nil
		}}
}

// change is a call of Run that returns.
type change struct {
	outcome proposal.Outcome[string]
	err     error
}

func start(t *testing.T, env *apptest.Env, o foureyes.Operation[foureyes.Tx, request, string]) <-chan change {
	t.Helper()
	done := make(chan change, 1)
	config := foureyes.Config[foureyes.Tx]{Store: env.Store, Clock: env.Clock, IDs: env.IDs}
	author := platform.Author{Token: env.Admin.Token}
	go func() {
		var c change
		c.outcome, c.err = foureyes.Run(t.Context(), config, o, env.Platform.ID, author, nil, request{"Fee"})
		done <- c
	}()
	return done
}

// switchOn lets adjustments need four eyes, and calls beforeCommit before it commits.
func switchOn(env *apptest.Env, p ident.Platform, beforeCommit func()) error {
	return env.Store.Do(context.Background(), func(ctx context.Context, tx *postgres.Unit) error {
		present, err := tx.LockBooksSettings(ctx, p)
		if err != nil {
			return err
		}
		present.FourEyes, present.At, present.By = []books.Action{books.ActionAdjustment}, env.Clock.Now(),
			platform.Author{Token: env.Admin.Token}
		present.Version++
		if err := tx.SaveBooksSettings(ctx, p, present); err != nil {
			return err
		}
		beforeCommit()
		return nil
	})
}

func TestRun_RequestWhileFourEyesAreSwitchedOnMakesProposal(t *testing.T) {
	t.Parallel()
	// A request that arrives while a change of the settings is not committed waits for it. It then needs four eyes.
	env := apptest.New(t)
	env.NewPrincipal(env.Platform) // who could approve
	var done <-chan change

	err := switchOn(env, env.Platform.ID, func() {
		done = start(t, env, operation(func() {}))
		env.AwaitLockWait()
	})

	if err != nil {
		t.Fatal(err)
	}
	if c := <-done; c.err != nil || c.outcome.Proposal == nil || c.outcome.Done != "" {
		t.Errorf("the outcome is %+v, %v; want a proposal", c.outcome, c.err)
	}
}

func TestRun_FourEyesAreSwitchedOnAfterRequestsThatRun(t *testing.T) {
	t.Parallel()
	// Four eyes are switched on when the requests that are carried out without them have ended. These do not wait for
	// each other.
	env := apptest.New(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	o := operation(func() {
		entered <- struct{}{}
		<-proceed
	})
	first, second := start(t, env, o), start(t, env, o)
	<-entered
	<-entered
	switched := make(chan error, 1)
	go func() { switched <- switchOn(env, env.Platform.ID, func() {}) }()
	env.AwaitLockWait()

	settings, err := env.Store.BooksSettings(t.Context(), env.Platform.ID)
	if err != nil || settings.Version != 0 {
		t.Errorf("the settings have version %d while requests run, %v; want 0", settings.Version, err)
	}
	close(proceed)

	for _, done := range []<-chan change{first, second} {
		if c := <-done; c.err != nil || c.outcome.Done != "carried out" {
			t.Errorf("the outcome is %+v, %v; want that it is carried out", c.outcome, c.err)
		}
	}
	if err := <-switched; err != nil {
		t.Fatal(err)
	}
}

func TestRun_SettingsAreChangedOneAtATime(t *testing.T) {
	t.Parallel()
	// Requests that change the settings wait for each other from the beginning, so that they meet no deadlock.
	env := apptest.New(t)
	entered, proceed := make(chan struct{}, 2), make(chan struct{})
	o := operation(func() {
		entered <- struct{}{}
		<-proceed
	})
	o.Action = books.ActionSettings
	first, second := start(t, env, o), start(t, env, o)
	<-entered
	env.AwaitLockWait()
	if len(entered) > 0 {
		t.Error("both requests are carried out at the same time")
	}
	close(proceed)

	for _, done := range []<-chan change{first, second} {
		if c := <-done; c.err != nil || c.outcome.Done != "carried out" {
			t.Errorf("the outcome is %+v, %v; want that it is carried out", c.outcome, c.err)
		}
	}
}

func TestRunAlone_OnlyWhatOperatorsMayDoAlone(t *testing.T) {
	t.Parallel()
	// An operation that is not one of operators is carried out for nobody alone; one that is, whatever the settings list.
	env := apptest.New(t)
	if err := switchOn(env, env.Platform.ID, func() {}); err != nil {
		t.Fatal(err)
	}
	config := foureyes.Config[foureyes.Tx]{Store: env.Store, Clock: env.Clock, IDs: env.IDs}
	for id, want := range map[string]bool{"test": false, foureyes.OperatorOperations[0].ID: true} {
		ran := false
		o := operation(func() { ran = true })
		o.ID = id

		_, err := foureyes.RunAlone(t.Context(), config, o, env.Platform.ID, platform.Author{Actor: "ana"}, nil, request{"Fee"})

		if ran != want || (err == nil) != want {
			t.Errorf("%s: ran %t, %v", id, ran, err)
		}
	}
}
