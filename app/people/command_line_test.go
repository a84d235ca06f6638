package people_test

import (
	"strings"
	"sync"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/core/platform"
)

func (e *env) signIn() people.SignedIn {
	e.t.Helper()
	return e.setUp(e.invite(address)).SignedIn
}

func TestCommandLine_SignsInOnce(t *testing.T) {
	t.Parallel()
	// A request is approved once, by a person in the console; then its secret continues a session of the command line, and none of a
	// browser. The secret is not stored. It ends when the person signs out, and after eight hours.
	e := newEnv(t)
	ctx := t.Context()
	in := e.signIn()
	requested := must[people.Requested](t)(e.RequestSignIn(ctx, "ana@laptop"))
	if _, signedIn, err := e.AwaitSignIn(ctx, requested); signedIn || err != nil {
		t.Fatalf("before the approval: %t, %v", signedIn, err)
	}
	if asked, err := e.SignInRequest(ctx, strings.ToLower(person.GroupSignInCode(requested.Code))); err != nil || asked.From != "ana@laptop" {
		t.Fatalf("%+v, %v", asked, err)
	}

	var approving sync.WaitGroup
	results := make(chan error, 5)
	for range cap(results) {
		approving.Go(func() { results <- e.ApproveSignIn(ctx, in, requested.Code) })
	}
	approving.Wait()
	close(results)

	approved := 0
	for err := range results {
		if err == nil {
			approved++
		} else if !fault.Is(err, fault.Conflict) {
			t.Errorf("approved again: %v", err)
		}
	}
	got, signedIn, err := e.AwaitSignIn(ctx, requested)
	if approved != 1 || err != nil || !signedIn || got.Person.Email != address || !got.CommandLine {
		t.Fatalf("approved %d times: %+v, %t, %v", approved, got, signedIn, err)
	}
	if _, err := e.Session(ctx, requested.Secret); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("a browser continues it: %v", err)
	}
	if _, err := e.CommandLine(ctx, in.Secret); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("the command line continues that of a browser: %v", err)
	}
	stored := strings.Join(e.QueryStrings(`SELECT t::text FROM person_sessions t UNION ALL SELECT t::text FROM sign_in_requests t`), "\n")
	if strings.Contains(stored, requested.Secret) {
		t.Error("the secret is stored")
	}
	if actions := e.QueryStrings(`SELECT subject FROM operator_actions WHERE person_id IS NOT NULL ORDER BY at DESC, id DESC LIMIT 1`); len(
		actions) != 1 || actions[0] != address+" on the command line of ana@laptop" {
		t.Errorf("recorded %q", actions)
	}
	e.Clock.Advance(person.CommandLineLifetime)
	if _, err := e.CommandLine(ctx, requested.Secret); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after eight hours: %v", err)
	}
}

func TestCommandLine_RefusedExpiredAndEnded(t *testing.T) {
	t.Parallel()
	// Nobody is signed in by a request that was refused, has expired or does not exist, nor by a person who may not work any more.
	e := newEnv(t)
	ctx := t.Context()
	in := e.signIn()
	refused := must[people.Requested](t)(e.RequestSignIn(ctx, "ana@laptop"))
	if err := e.RefuseSignIn(ctx, refused.Code); err != nil {
		t.Fatal(err)
	}
	expired := must[people.Requested](t)(e.RequestSignIn(ctx, "ana@laptop"))
	e.Clock.Advance(person.SignInRequestLifetime)
	for name, r := range map[string]people.Requested{"refused": refused, "expired": expired} {
		if err := e.ApproveSignIn(ctx, in, r.Code); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: approved: %v", name, err)
		}
		if _, signedIn, err := e.AwaitSignIn(ctx, r); signedIn || !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %t, %v", name, signedIn, err)
		}
	}
	pending := must[people.Requested](t)(e.RequestSignIn(ctx, "ana@laptop"))
	must[person.Person](t)(e.Disable(ctx, address, admin))
	if err := e.ApproveSignIn(ctx, in, pending.Code); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("a disabled person approves: %v", err)
	}
}

func TestActing_PersonInProduction(t *testing.T) {
	t.Parallel()
	// Without a production platform, a name acts. With one, a name acts as long as nobody can sign in, and then only for commands that
	// are listed; each is recorded. Who has signed in acts as itself, whatever name it gives.
	e := newEnv(t)
	ctx := t.Context()
	acting := func(command, actor, secret string) (platform.Author, error) {
		return e.Acting(ctx, people.Command{Name: command, Actor: actor, IsNamed: actor != "root", Secret: secret})
	}
	alone := func() string {
		return strings.Join(e.QueryStrings(`SELECT subject || ' by ' || actor FROM operator_actions WHERE action = 'BREAK_GLASS' ORDER BY id`), ", ")
	}
	if by, err := acting("rails set", " Cleo ", ""); err != nil || by != (platform.Author{Actor: "Cleo"}) || alone() != "" {
		t.Errorf("in the sandbox: %+v, %v, recorded %s", by, err, alone())
	}
	if _, err := acting("rails set", "a\tb", ""); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a bad name: %v", err)
	}
	pgtest.ExecAsSuperuser(t, e.URL, "UPDATE platforms SET environment = 'PRODUCTION'")
	if by, err := acting("rails set", "root", ""); err != nil || by.Actor != "root" || alone() != "rails set by root" {
		t.Errorf("while nobody can sign in: %+v, %v, recorded %s", by, err, alone())
	}
	in := e.signIn()
	if _, err := acting("rails set", address, ""); !fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), "causeway login") {
		t.Errorf("with the address of a person: %v", err)
	}
	if by, err := acting("rails pause", "root", ""); err != nil || !by.Person.IsZero() || alone() != "rails set by root, rails pause by root" {
		t.Errorf("a listed command: %+v, %v, recorded %s", by, err, alone())
	}
	requested := must[people.Requested](t)(e.RequestSignIn(ctx, "ana@laptop"))
	if err := e.ApproveSignIn(ctx, in, requested.Code); err != nil {
		t.Fatal(err)
	}
	want := platform.Author{Actor: address, Person: in.Person.ID}
	for _, actor := range []string{"root", strings.ToUpper(address)} {
		if by, err := acting("corridors approve", actor, requested.Secret); err != nil || by != want {
			t.Errorf("signed in, as %s: %+v, %v", actor, by, err)
		}
	}
	if _, err := acting("rails set", "root", requested.Secret); !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "OPERATOR") {
		t.Errorf("a command that the roles do not allow: %v", err)
	}
	recordedBefore := alone()
	if by, err := acting("rails pause", "root", requested.Secret); err != nil || by != want || alone() != recordedBefore+
		", rails pause by "+address {
		t.Errorf("a listed command that the roles do not allow: %+v, %v, recorded %s", by, err, alone())
	}
	if _, err := acting("ledger close", "ben@example.com", requested.Secret); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("signed in, as another: %v", err)
	}
	e.Clock.Advance(person.RecentSignIn)
	if _, err := acting("corridors approve", "root", requested.Secret); !fault.Is(err, fault.Conflict) {
		t.Errorf("approved with an old sign-in: %v", err)
	}
	if by, err := acting("ledger close", "root", requested.Secret); err != nil || by != want {
		t.Errorf("changed with an old sign-in: %+v, %v", by, err)
	}
	e.Clock.Advance(person.CommandLineLifetime)
	if _, err := acting("rails set", "root", requested.Secret); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after the session: %v", err)
	}
	if by, err := acting("rails pause", "root", requested.Secret); err != nil || by != (platform.Author{Actor: "root"}) {
		t.Errorf("a listed command after the session: %+v, %v", by, err)
	}
}
