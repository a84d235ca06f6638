package customers_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/fault"
	"causeway/core/verification"
	"causeway/ports"
)

func newKYCLinks(e *apptest.Env) *customers.KYCLinks {
	return customers.NewKYCLinks(customers.KYCLinksConfig{Store: e.Store, Clock: e.Clock, IDs: e.IDs})
}

func TestKYCLinks_OpenedOnce(t *testing.T) {
	t.Parallel()
	// Of many who open a link at the same time one gets a session, and goes on with it until it ends.
	// Another link of the customer stays valid.
	env := apptest.New(t)
	if err := env.Exec(`UPDATE platforms SET kyc_redirect_origins = '{https://example.com}'`); err != nil {
		t.Fatal(err)
	}
	links := newKYCLinks(env)
	create := func() customers.IssuedKYCLink {
		link, err := links.Create(t.Context(), env.Platform.ID, nil, env.Customer.ID, "https://example.com/done")
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	first, second := create(), create()
	var running sync.WaitGroup
	var opened atomic.Pointer[customers.KYCSession]
	for range 8 {
		running.Go(func() {
			session, err := links.Open(t.Context(), first.Token)
			if err != nil {
				apptest.WantFault(t, "open", err, fault.Conflict)
			} else if !opened.CompareAndSwap(nil, &session) {
				t.Error("the link was opened twice")
			}
		})
	}
	running.Wait()

	session := opened.Load()
	if session == nil || session.Customer.ID != env.Customer.ID || session.RedirectURI != "https://example.com/done" {
		t.Fatalf("session %+v", session)
	}
	env.Clock.Advance(verification.SessionLifetime - time.Second)
	if again, err := links.Session(t.Context(), session.Secret); err != nil || again.Link.ID != first.ID ||
		again.Customer.ID != env.Customer.ID || again.Secret != "" {
		t.Errorf("continued: %+v, %v", again, err)
	}
	env.Clock.Advance(time.Second)
	_, err := links.Session(t.Context(), session.Secret)
	apptest.WantFault(t, "ended", err, fault.Conflict)
	if _, err := links.Open(t.Context(), second.Token); err != nil {
		t.Errorf("the second link: %v", err)
	}
}

func TestKYCLinks_TokensAreNotStored(t *testing.T) {
	t.Parallel()
	// Neither the token nor the session is in the database, and neither is taken for the other.
	env := apptest.New(t)
	links := newKYCLinks(env)
	link, err := links.Create(t.Context(), env.Platform.ID, nil, env.Customer.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	session, err := links.Open(t.Context(), link.Token)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range env.QueryStrings(`SELECT kyc_links::text FROM kyc_links`) {
		if strings.Contains(row, link.Token) || strings.Contains(row, session.Secret) {
			t.Errorf("the row has a secret: %s", row)
		}
	}

	_, unopened := links.Session(t.Context(), link.Token)
	_, sessionAsToken := links.Open(t.Context(), session.Secret)
	_, malformed := links.Open(t.Context(), "x")
	_, malformedSession := links.Session(t.Context(), "")
	other, _ := verification.NewSecret(env.NewPlatform().ID, [32]byte{})
	_, unknown := links.Open(t.Context(), other)
	for name, err := range map[string]error{"a token as a session": unopened, "a session as a token": sessionAsToken, "malformed": malformed,
		"malformed session": malformedSession, "unknown": unknown} {
		apptest.WantFault(t, name, err, fault.NotFound)
	}
}

func TestKYCLinks_ExpiredAndDeleted(t *testing.T) {
	t.Parallel()
	// A link cannot be opened after 24 hours, nor one of a customer who was deleted, for whom there is no
	// new one either.
	env := apptest.New(t)
	links := newKYCLinks(env)
	create := func() customers.IssuedKYCLink {
		link, err := links.Create(t.Context(), env.Platform.ID, nil, env.Customer.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	late := create()
	env.Clock.Advance(verification.LinkLifetime)
	_, err := links.Open(t.Context(), late.Token)
	apptest.WantFault(t, "late", err, fault.Conflict)
	deleted, opened := create(), create()
	session, err := links.Open(t.Context(), opened.Token)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Exec(`UPDATE customers SET deleted_at = now()`); err != nil {
		t.Fatal(err)
	}

	_, opening := links.Open(t.Context(), deleted.Token)
	_, continuing := links.Session(t.Context(), session.Secret)
	_, creating := links.Create(t.Context(), env.Platform.ID, nil, env.Customer.ID, "")
	for name, err := range map[string]error{"open": opening, "continue": continuing, "create": creating} {
		apptest.WantFault(t, name, err, fault.CustomerDeleted)
	}
	_, foreign := links.Create(t.Context(), env.NewPlatform().ID, nil, env.Customer.ID, "")
	apptest.WantFault(t, "of another platform", foreign, fault.UserNotFound)
}

func TestKYCLinks_CreateIsIdempotent(t *testing.T) {
	t.Parallel()
	// A repeated request gets the first link, and no other is made.
	env := apptest.New(t)
	links := newKYCLinks(env)
	create := func() error {
		_, err := links.Create(t.Context(), env.Platform.ID, apptest.IdempotentRequest(env.Admin, "key",
			func(result any) string { return result.(customers.IssuedKYCLink).Token }), env.Customer.ID, "")
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}

	var replay *ports.Replay
	if err := create(); !errors.As(err, &replay) {
		t.Fatalf("again: %v", err)
	}

	if n := env.QueryStrings(`SELECT count(*)::text FROM kyc_links`); n[0] != "1" {
		t.Errorf("%s links", n[0])
	}
	if _, err := links.Open(t.Context(), string(replay.Body)); err != nil {
		t.Errorf("the first link: %v", err)
	}
}
