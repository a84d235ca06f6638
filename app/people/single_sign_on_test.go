package people_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

// fakeProvider says what the test tells it to, for any code.
type fakeProvider struct {
	claims person.Claims
	err    error
	flow   people.ProviderFlow // of the last browser that was sent to it
	anew   bool
}

func (f *fakeProvider) URL(_ context.Context, flow people.ProviderFlow, anew bool) (string, error) {
	f.flow, f.anew = flow, anew
	return "https://login.example.com", f.err
}

func (f *fakeProvider) Claims(_ context.Context, flow people.ProviderFlow, _ string) (person.Claims, error) {
	if flow != f.flow {
		return person.Claims{}, person.ErrProvider
	}
	return f.claims, f.err
}

// withProvider returns an environment with a provider that knows ana, and gives her the role FINANCE by a claim if there is a mapping.
func withProvider(t *testing.T, mapping person.RoleMapping) (*env, *fakeProvider) {
	t.Helper()
	e := withPasskeys(t)
	f := &fakeProvider{claims: person.Claims{Identity: person.Identity{Issuer: "https://login.example.com", Subject: "u1"}, Email: address,
		IsEmailVerified: true, Name: "Ana Silva", Roles: []string{"finance"}}}
	config := e.Config
	config.Provider, config.RoleMapping = f, mapping
	e.Service = people.New(config)
	return e, f
}

var byClaim = person.RoleMapping{{Value: "finance", Grant: person.Grant{Role: person.Finance}},
	{Value: "support", Grant: person.Grant{Role: person.Support}}}

// atProvider signs in at the provider with a browser of its own.
func (e *env) atProvider(f *fakeProvider) (*people.SignedIn, error) {
	e.t.Helper()
	browser := e.NewBrowserSecret()
	must[string](e.t)(e.BeginSingleSignOn(e.t.Context(), browser, "/console/x"))
	r, err := e.ReturnFromProvider(e.t.Context(), people.SignedIn{}, browser, f.flow.State, "code")
	if err == nil && (r.To != "/console/x" || r.SignedIn == nil) {
		e.t.Errorf("returned to %+v", r)
	}
	return r.SignedIn, err
}

func TestSingleSignOn_InvitedPerson(t *testing.T) {
	t.Parallel()
	// Without a mapping, one who was invited signs in with its roles, by the address that the provider has verified, and from then on by
	// who it is there. Nobody else does.
	e, f := withProvider(t, nil)
	if _, err := e.atProvider(f); !errors.Is(err, person.ErrNotInvited) {
		t.Errorf("not invited: %v", err)
	}
	e.invite(address)
	f.claims.IsEmailVerified = false
	if _, err := e.atProvider(f); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("an address that is not verified: %v", err)
	}
	f.claims.IsEmailVerified = true
	in := must[*people.SignedIn](t)(e.atProvider(f))
	e.wantSession("at the provider", in.Secret, true)
	if !in.SingleSignOn || in.Person.Status != person.Active || person.GrantTexts(in.Person.Grants) != "FINANCE" {
		t.Errorf("%+v", in)
	}
	f.claims.Email = "ana.married@example.com"
	if again := must[*people.SignedIn](t)(e.atProvider(f)); again.Person.ID != in.Person.ID {
		t.Errorf("with another address: %+v", again)
	}
	f.claims.Email, f.claims.Subject = address, "u2" // somebody else got the address
	if _, err := e.atProvider(f); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("somebody else: %v", err)
	}
}

func TestSingleSignOn_RolesFollowTheClaim(t *testing.T) {
	t.Parallel()
	// With a mapping, one whom nobody has invited is created with the roles of its claim; they change with it at each sign-in, recorded.
	// Without a role nobody signs in, and the sessions of before end.
	e, f := withProvider(t, byClaim)
	first := must[*people.SignedIn](t)(e.atProvider(f))
	f.claims.Roles = []string{"support", "other"}
	second := must[*people.SignedIn](t)(e.atProvider(f))
	if second.Person.ID != first.Person.ID || person.GrantTexts(second.Person.Grants) != "SUPPORT" {
		t.Errorf("%+v", second)
	}
	if in := must[people.SignedIn](t)(e.Session(t.Context(), first.Secret)); in.Person.May(person.KeepBooks, ident.Platform{}) {
		t.Error("the session of before has its roles")
	}
	for _, none := range [][]string{{"other"}, nil} { // removed, or the claim is missing
		f.claims.Roles = none
		if _, err := e.atProvider(f); !errors.Is(err, person.ErrNoRole) {
			t.Errorf("%q: %v", none, err)
		}
	}
	e.wantSession("after the roles were removed", second.Secret, false)
	recorded := strings.Join(e.actions(), "\n")
	for _, want := range []string{"INVITE_PERSON ana@example.com as FINANCE by single sign-on", "SIGN_IN ana@example.com with single sign-on",
		"CHANGE_ROLES ana@example.com from FINANCE to SUPPORT by single sign-on", "FAIL_SIGN_IN ana@example.com with single sign-on: Your " +
			"provider gives you no role"} {
		if !strings.Contains(recorded, want) {
			t.Errorf("no %q in\n%s", want, recorded)
		}
	}
	other := *f
	other.claims.Subject, other.claims.Email, other.claims.Roles = "u9", "new@example.com", nil
	config := e.Config
	config.Provider = &other
	e.Service = people.New(config)
	if _, err := e.atProvider(&other); !errors.Is(err, person.ErrNoRole) || len(must[[]person.Person](t)(e.List(t.Context()))) != 1 {
		t.Errorf("created without a role: %v", err)
	}
}

func TestSingleSignOn_LocalSignInOfProvidersPeople(t *testing.T) {
	t.Parallel()
	// Who signs in at the provider signs in there only, so that its roles and its end there hold here, until it is given a link or there is
	// no provider. One who is disabled here stays out.
	e, f := withProvider(t, byClaim)
	ctx := t.Context()
	ana, d := e.newMember(address), newDevice(t)
	e.register(ana, d)
	e.Clock.Advance(time.Minute)
	must[people.SignedIn](t)(e.SignIn(ctx, address, password, e.code(ana.totp)))
	must[*people.SignedIn](t)(e.atProvider(f))
	e.Clock.Advance(time.Minute)
	_, byPassword := e.SignIn(ctx, address, password, e.code(ana.totp))
	_, byPasskey := e.SignInWithPasskey(ctx, d.sign(must[[]byte](t)(e.AskForSignIn(ctx))))
	if !errors.Is(byPassword, person.ErrSignInAtProvider) || !errors.Is(byPasskey, person.ErrSignInAtProvider) {
		t.Errorf("%v, %v", byPassword, byPasskey)
	}
	without := e.Config
	without.Provider = nil
	e.Clock.Advance(time.Minute)
	if _, err := people.New(without).SignIn(ctx, address, password, e.code(ana.totp)); err != nil {
		t.Errorf("without a provider: %v", err)
	}
	again := e.setUp(must[people.IssuedLink](t)(e.NewLink(ctx, address, admin)))
	e.Clock.Advance(time.Minute)
	must[people.SignedIn](t)(e.SignIn(ctx, address, password, e.code(again.totp)))
	must[person.Person](t)(e.Disable(ctx, address, admin))
	if _, err := e.atProvider(f); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("a disabled person: %v", err)
	}
}

func TestSingleSignOn_ReturnsThatAreRefused(t *testing.T) {
	t.Parallel()
	// A browser comes back once, in time, with its own state; another browser, to which somebody has sent the address, does not.
	e, f := withProvider(t, byClaim)
	ctx := t.Context()
	begin := func() (browser, state string) {
		browser = e.NewBrowserSecret()
		must[string](t)(e.BeginSingleSignOn(ctx, browser, "/console"))
		return browser, f.flow.State
	}
	back := func(browser, state string) error {
		_, err := e.ReturnFromProvider(ctx, people.SignedIn{}, browser, state, "code")
		return err
	}
	browser, state := begin()
	if err := back(browser, state); err != nil {
		t.Fatal(err)
	}
	again := back(browser, state)
	_, foreign := begin()
	late, lateState := begin()
	e.Clock.Advance(person.ChallengeLifetime)
	passkey := newDevice(t)
	_, challenge := passkey.read(must[[]byte](t)(e.AskForSignIn(ctx)))
	for name, err := range map[string]error{"again": again,
		"another browser": back(e.NewBrowserSecret(), foreign), "no browser": back("", foreign),
		"too late": back(late, lateState), "no state": back(browser, ""), "of a passkey": back(browser, string(challenge))} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.err = fault.New(fault.ServiceUnavailable, "down")
	if _, err := e.BeginSingleSignOn(ctx, browser, "/console"); !fault.Is(err, fault.ServiceUnavailable) {
		t.Errorf("down: %v", err)
	}
}

func TestSingleSignOn_Confirms(t *testing.T) {
	t.Parallel()
	// Who has no second factor here confirms at the provider, which has to ask anew: for one page, once, in the session that has asked.
	// A code is asked for where there is one.
	e, f := withProvider(t, byClaim)
	ctx := t.Context()
	in := *must[*people.SignedIn](t)(e.atProvider(f))
	const page = "/console/connections/bank-eur/pause"
	confirm := func(action string) error {
		read := must[people.SignedIn](t)(e.Session(ctx, in.Secret))
		return e.Confirm(ctx, read, people.Confirmation{Action: action})
	}
	if err := confirm(page); !errors.Is(err, person.ErrConfirmAtProvider) {
		t.Errorf("without anything: %v", err)
	}
	ask := func(at time.Time) error {
		e.t.Helper()
		browser := e.NewBrowserSecret()
		must[string](t)(e.BeginProviderConfirmation(ctx, in, browser, page))
		f.claims.AuthenticatedAt = at
		r, err := e.ReturnFromProvider(ctx, in, browser, f.flow.State, "code")
		if err == nil && (r.To != page || r.SignedIn != nil || !f.anew) {
			t.Errorf("%+v", r)
		}
		return err
	}
	if err := ask(e.Clock.Now().Add(-time.Minute)); !fault.Is(err, fault.Unauthorized) || confirm(page) == nil {
		t.Errorf("the provider has not asked again: %v", err)
	}
	if err := ask(time.Time{}); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("the provider does not say when: %v", err)
	}
	if err := ask(e.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := confirm(page + "x"); err == nil {
		t.Error("another page is confirmed")
	}
	if err := confirm(page); err != nil {
		t.Errorf("%v", err)
	}
	if err := confirm(page); err == nil {
		t.Error("confirmed twice")
	}
	if err := ask(e.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(person.ConfirmedLifetime)
	if err := confirm(page); err == nil {
		t.Error("confirmed too late")
	}
	if _, _, err := e.SetUp(ctx, in.Secret, people.Setup{Password: password, TOTPSecret: e.NewTOTPSecret(), Code: "x"}); err == nil {
		t.Error("a password was chosen without a link")
	}
}

func TestConfirm_PasskeyOfProvidersPeople(t *testing.T) {
	t.Parallel()
	// Who signs in at the provider has a passkey and no code. Where no provider is configured it signs in with the passkey, and confirms
	// with it and with nothing else, also after it has removed it. It chooses no password without a link.
	e, f := withProvider(t, byClaim)
	ctx := t.Context()
	const page = "/console/people/invite"
	in, d := *must[*people.SignedIn](t)(e.atProvider(f)), newDevice(t)
	browser := e.NewBrowserSecret()
	must[string](t)(e.BeginProviderConfirmation(ctx, in, browser, page))
	f.claims.AuthenticatedAt = e.Clock.Now()
	must[people.Returned](t)(e.ReturnFromProvider(ctx, in, browser, f.flow.State, "code"))
	in = must[people.SignedIn](t)(e.Session(ctx, in.Secret))
	options := must[[]byte](t)(e.AskForPasskey(ctx, in, people.Confirmation{Action: page}))
	k := must[person.Passkey](t)(e.AddPasskey(ctx, in, "laptop", d.create(options)))

	without := e.Config
	without.Provider = nil
	e.Service = people.New(without)
	in = must[people.SignedIn](t)(e.SignInWithPasskey(ctx, d.sign(must[[]byte](t)(e.AskForSignIn(ctx)))))
	refused := func(when string) {
		t.Helper()
		if no := must[bool](t)(e.NeedsNoCode(ctx, in)); no {
			t.Errorf("%s: no code is asked for", when)
		}
		for _, code := range []string{"", "000000"} {
			if err := e.Confirm(ctx, in, people.Confirmation{Action: page, Code: code}); !errors.Is(err, person.ErrConfirmAtProvider) {
				t.Errorf("%s, with the code %q: %v", when, code, err)
			}
		}
		secret := e.NewTOTPSecret()
		choice := people.Setup{Password: password, TOTPSecret: secret, Code: e.code(secret)}
		if _, _, err := e.SetUp(ctx, in.Secret, choice); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s, a password: %v", when, err)
		}
	}
	refused("with a passkey")
	answer := d.sign(must[[]byte](t)(e.AskForConfirmation(ctx, in, page)))
	if err := e.Confirm(ctx, in, people.Confirmation{Action: page, Passkey: answer}); err != nil {
		t.Errorf("its passkey: %v", err)
	}
	if err := e.RemovePasskey(ctx, in, k.ID); err != nil {
		t.Fatal(err)
	}
	refused("after the passkey was removed")
}

func TestConfirm_Developer(t *testing.T) {
	t.Parallel()
	// Who is signed in by the link of a developer confirms nothing, until it has a passkey or a password to confirm with.
	e, d := withPasskeys(t), newDevice(t)
	ctx := t.Context()
	in := must[people.SignedIn](t)(e.OpenLink(ctx, must[people.IssuedLink](t)(e.Developer(ctx)).Token))
	if no := must[bool](t)(e.NeedsNoCode(ctx, in)); !no {
		t.Error("a code is asked for")
	}
	options := must[[]byte](t)(e.AskForPasskey(ctx, in, people.Confirmation{}))
	must[person.Passkey](t)(e.AddPasskey(ctx, in, "laptop", d.create(options)))
	for name, in := range map[string]people.SignedIn{"by the link": in,
		"by the passkey": must[people.SignedIn](t)(e.SignInWithPasskey(ctx, d.sign(must[[]byte](t)(e.AskForSignIn(ctx)))))} {
		if err := e.Confirm(ctx, in, people.Confirmation{Action: "/x"}); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s, without anything: %v", name, err)
		}
		answer := d.sign(must[[]byte](t)(e.AskForConfirmation(ctx, in, "/x")))
		if err := e.Confirm(ctx, in, people.Confirmation{Action: "/x", Passkey: answer}); err != nil {
			t.Errorf("%s, with the passkey: %v", name, err)
		}
	}
}
