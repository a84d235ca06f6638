package people_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"causeway/adapters/signin"
	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
)

// device is an authenticator with one passkey, on the pages of the service.
type device struct {
	t             *testing.T
	page          virtualwebauthn.RelyingParty
	authenticator virtualwebauthn.Authenticator
	key           virtualwebauthn.Credential
}

// newKey returns a key of an authenticator. The library leaves out zeros at the beginning of a coordinate, which no authenticator does:
// such keys have less than 77 bytes.
func newKey() virtualwebauthn.Credential {
	for {
		if key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(key.Key.AttestationData()) == 77 {
			return key
		}
	}
}

func newDevice(t *testing.T) *device {
	d := &device{t: t, page: virtualwebauthn.RelyingParty{ID: "pay.example.com", Name: "Causeway", Origin: "https://pay.example.com"},
		authenticator: virtualwebauthn.NewAuthenticator(), key: newKey()}
	return d
}

// asked is what a browser is asked for.
type asked struct {
	Challenge string
	User      struct{ ID string }
	Allowed   []struct{ ID string } `json:"allowCredentials"`
	Excluded  []struct{ ID string } `json:"excludeCredentials"`
	Verify    string                `json:"userVerification"`
}

func (d *device) read(options []byte) (a asked, challenge []byte) {
	d.t.Helper()
	if err := json.Unmarshal(options, &a); err != nil {
		d.t.Fatalf("%v in %s", err, options)
	}
	challenge, err := base64.RawURLEncoding.DecodeString(a.Challenge)
	if err != nil {
		d.t.Fatal(err)
	}
	return a, challenge
}

// create makes the passkey.
func (d *device) create(options []byte) []byte {
	a, challenge := d.read(options)
	handle, err := base64.RawURLEncoding.DecodeString(a.User.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	d.authenticator.Options.UserHandle = handle
	return []byte(virtualwebauthn.CreateAttestationResponse(d.page, d.authenticator, d.key, virtualwebauthn.AttestationOptions{
		Challenge: challenge, RelyingPartyID: d.page.ID, UserID: string(handle)}))
}

// sign signs with the passkey, whose counter is the next one.
func (d *device) sign(options []byte) []byte {
	d.key.Counter++
	_, challenge := d.read(options)
	return []byte(virtualwebauthn.CreateAssertionResponse(d.page, d.authenticator, d.key, virtualwebauthn.AssertionOptions{
		Challenge: challenge, RelyingPartyID: d.page.ID}))
}

// withPasskeys returns an environment with passkeys.
func withPasskeys(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	keys, ok := signin.NewPasskeys("https://pay.example.com")
	if !ok {
		t.Fatal("no passkeys")
	}
	config := e.Config
	config.Passkeys = keys
	e.Service = people.New(config)
	return e
}

// register makes a passkey of a member on a device.
func (e *env) register(m member, d *device) person.Passkey {
	e.t.Helper()
	ctx := e.t.Context()
	e.Clock.Advance(time.Minute) // the code before counts no more
	options := must[[]byte](e.t)(e.AskForPasskey(ctx, m.SignedIn, people.Confirmation{Code: e.code(m.totp)}))
	return must[person.Passkey](e.t)(e.AddPasskey(ctx, m.SignedIn, " work laptop ", d.create(options)))
}

func (e *env) passkeys(m member) []person.Passkey {
	e.t.Helper()
	return must[[]person.Passkey](e.t)(e.PasskeysOf(e.t.Context(), m.Person))
}

func TestPasskeys_RegisterSignInRemove(t *testing.T) {
	t.Parallel()
	// A person registers a passkey after another code, and signs in with it alone. It is recorded. Removed, it signs in no more.
	e := withPasskeys(t)
	ctx := t.Context()
	ana, d := e.newMember(address), newDevice(t)
	if _, err := e.AskForPasskey(ctx, ana.SignedIn, people.Confirmation{Code: "000000"}); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("without a right code: %v", err)
	}
	k := e.register(ana, d)
	if kept := e.passkeys(ana); len(kept) != 1 || kept[0].Name != "work laptop" || !kept[0].LastUsedAt.IsZero() {
		t.Errorf("%+v", kept)
	}
	e.Clock.Advance(time.Minute)
	options := must[[]byte](t)(e.AskForSignIn(ctx))
	if a, _ := d.read(options); a.Verify != "required" || len(a.Allowed) != 0 {
		t.Errorf("asked for %s", options)
	}
	in := must[people.SignedIn](t)(e.SignInWithPasskey(ctx, d.sign(options)))
	e.wantSession("of a passkey", in.Secret, true)
	if in.Person.ID != ana.Person.ID || in.Setup || in.CommandLine {
		t.Errorf("%+v", in)
	}
	if kept := e.passkeys(ana); !kept[0].LastUsedAt.Equal(e.Clock.Now()) || kept[0].SignCount != 1 {
		t.Errorf("after the use: %+v", kept)
	}
	if err := e.RemovePasskey(ctx, in, []byte("another")); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed one that does not exist: %v", err)
	}
	if err := e.RemovePasskey(ctx, in, k.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := e.SignInWithPasskey(ctx, d.sign(must[[]byte](t)(e.AskForSignIn(ctx)))); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("signed in with a removed passkey: %v", err)
	}
	recorded := strings.Join(e.actions(), "\n")
	for _, want := range []string{"ADD_PASSKEY ana@example.com work laptop by ana@example.com", "SIGN_IN ana@example.com with a passkey by " +
		"ana@example.com", "REMOVE_PASSKEY ana@example.com work laptop by ana@example.com"} {
		if !strings.Contains(recorded, want) {
			t.Errorf("no %q in\n%s", want, recorded)
		}
	}
}

func TestPasskeys_AnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	// An answer counts once, in time, for what it was asked for, by the origin of the service, and if the authenticator has verified the
	// person. Nothing tells a passkey that exists from one that does not.
	e := withPasskeys(t)
	ctx := t.Context()
	ana, d := e.newMember(address), newDevice(t)
	e.register(ana, d)
	ask := func() []byte { return must[[]byte](t)(e.AskForSignIn(ctx)) }
	answered := d.sign(ask())
	must[people.SignedIn](t)(e.SignInWithPasskey(ctx, answered))
	late := d.sign(ask())
	e.Clock.Advance(person.ChallengeLifetime)
	unverified, foreign, unknown := *d, *d, newDevice(t)
	unverified.authenticator.Options.UserNotVerified = true
	foreign.page.Origin = "https://pay.example.com.evil.test"
	unknown.authenticator.Options.UserHandle = d.authenticator.Options.UserHandle
	other := *d
	other.key = newKey() // another key by the name of the passkey
	other.key.ID = d.key.ID
	confirmation := must[[]byte](t)(e.AskForConfirmation(ctx, ana.SignedIn, "/console/x"))
	invented, _ := json.Marshal(map[string]string{"challenge": base64.RawURLEncoding.EncodeToString(make([]byte, 32))})
	for name, c := range map[string]struct {
		answer []byte
		code   fault.Code
	}{
		"again": {answered, fault.Conflict}, "too late": {late, fault.Conflict}, "no JSON": {[]byte("{"), fault.Unauthorized},
		"another challenge": {d.sign(invented), fault.Conflict}, "of a confirmation": {d.sign(confirmation), fault.Conflict},
		"unverified": {unverified.sign(ask()), fault.Unauthorized}, "another origin": {foreign.sign(ask()), fault.Unauthorized},
		"unknown": {unknown.sign(ask()), fault.Unauthorized}, "another key": {other.sign(ask()), fault.Unauthorized},
	} {
		in, err := e.SignInWithPasskey(ctx, c.answer)
		if f, _ := fault.As(err); f == nil || f.Code != c.code || in.Secret != "" {
			t.Errorf("%s: %v", name, err)
		}
		e.Clock.Advance(time.Second)
	}
	if kept := e.passkeys(ana); !kept[0].StoppedAt.IsZero() {
		t.Errorf("a refused answer has stopped the passkey: %+v", kept)
	}
}

func TestPasskeys_CopiedIsStopped(t *testing.T) {
	t.Parallel()
	// When the counter of a passkey does not increase, there may be a copy: it is stopped, also for the first of the two, and recorded.
	e := withPasskeys(t)
	ctx := t.Context()
	ana, d := e.newMember(address), newDevice(t)
	e.register(ana, d)
	copied := *d
	must[people.SignedIn](t)(e.SignInWithPasskey(ctx, d.sign(must[[]byte](t)(e.AskForSignIn(ctx)))))
	d.key.Counter += 10
	for i, from := range []*device{&copied, d} {
		name := []string{"the copy", "the first, afterwards"}[i]
		if _, err := e.SignInWithPasskey(ctx, from.sign(must[[]byte](t)(e.AskForSignIn(ctx)))); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept := e.passkeys(ana); kept[0].StoppedAt.IsZero() {
		t.Errorf("%+v", kept)
	}
	stopped := slices.DeleteFunc(e.actions(), func(a string) bool { return !strings.HasPrefix(a, "STOP_PASSKEY") })
	if !slices.Equal(stopped, []string{"STOP_PASSKEY ana@example.com work laptop by ana@example.com"}) {
		t.Errorf("recorded %q", stopped)
	}
}

func TestPasskeys_ConfirmOnePageOnce(t *testing.T) {
	t.Parallel()
	// A passkey of the person confirms the form of the page that it was asked for, in the session that has asked, once.
	e := withPasskeys(t)
	ctx := t.Context()
	ana, bo := e.newMember(address), e.newMember("bo@example.com")
	d, other := newDevice(t), newDevice(t)
	e.register(ana, d)
	e.register(bo, other)
	const page = "/console/rail-payments/1/release"
	ask := func() []byte { return must[[]byte](t)(e.AskForConfirmation(ctx, ana.SignedIn, page)) }
	confirm := func(in people.SignedIn, action string, answer []byte) error {
		return e.Confirm(ctx, in, people.Confirmation{Action: action, Passkey: answer})
	}
	right := d.sign(ask())
	if err := confirm(ana.SignedIn, page, right); err != nil {
		t.Fatal(err)
	}
	second := must[people.SignedIn](t)(e.SignInWithPasskey(ctx, d.sign(must[[]byte](t)(e.AskForSignIn(ctx)))))
	for name, err := range map[string]error{
		"again":                 confirm(ana.SignedIn, page, right),
		"another page":          confirm(ana.SignedIn, page+"x", d.sign(ask())),
		"another session":       confirm(second, page, d.sign(ask())),
		"another person":        confirm(bo.SignedIn, page, other.sign(ask())),
		"the passkey of others": confirm(ana.SignedIn, page, other.sign(ask())),
		"of a sign-in":          confirm(ana.SignedIn, page, d.sign(must[[]byte](t)(e.AskForSignIn(ctx)))),
	} {
		if !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPasskeys_LinkAndDisableRemoveThem(t *testing.T) {
	t.Parallel()
	// A new link is for who has lost something, and what was lost may be in other hands: no passkey of before signs in, and no
	// challenge of before adds one. Neither does one of a disabled person.
	for name, end := range map[string]func(*env) error{
		"link":    func(e *env) error { _, err := e.NewLink(e.t.Context(), address, admin); return err },
		"disable": func(e *env) error { _, err := e.Disable(e.t.Context(), address, admin); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := withPasskeys(t)
			ctx := t.Context()
			ana, d, second := e.newMember(address), newDevice(t), newDevice(t)
			e.register(ana, d)
			e.Clock.Advance(time.Minute)
			begun := must[[]byte](t)(e.AskForPasskey(ctx, ana.SignedIn, people.Confirmation{Code: e.code(ana.totp)}))
			asked := must[[]byte](t)(e.AskForSignIn(ctx))
			if err := end(e); err != nil {
				t.Fatal(err)
			}
			if len(e.passkeys(ana)) != 0 {
				t.Error("passkeys are left")
			}
			if _, err := e.SignInWithPasskey(ctx, d.sign(asked)); !fault.Is(err, fault.Unauthorized) {
				t.Errorf("signed in: %v", err)
			}
			if _, err := e.AddPasskey(ctx, ana.SignedIn, "late", second.create(begun)); err == nil {
				t.Error("a passkey was added")
			}
		})
	}
}

func TestPasskeys_Limits(t *testing.T) {
	t.Parallel()
	// Attempts with a passkey that fail are delayed as others are, whether it exists or not, and passwords that others try delay none. A
	// person has at most ten passkeys. Without a host name there are none.
	e := withPasskeys(t)
	ctx := t.Context()
	ana, d := e.newMember(address), newDevice(t)
	e.register(ana, d)
	unverified, unknown := *d, newDevice(t)
	unverified.authenticator.Options.UserNotVerified = true
	for name, from := range map[string]*device{"known": &unverified, "unknown": unknown} {
		for n := range 6 {
			_, err := e.SignInWithPasskey(ctx, from.sign(must[[]byte](t)(e.AskForSignIn(ctx))))
			if f, _ := fault.As(err); f == nil || (f.Code == fault.RateLimited) != (n == 5) {
				t.Errorf("%s, attempt %d: %v", name, n, err)
			}
		}
	}
	e.Clock.Advance(time.Hour)
	for range 10 {
		_, _ = e.SignIn(ctx, address, "wrong", "000000")
	}
	d.key.Counter += 100
	must[people.SignedIn](t)(e.SignInWithPasskey(ctx, d.sign(must[[]byte](t)(e.AskForSignIn(ctx)))))
	e.Clock.Advance(time.Hour)
	for range person.MaxPasskeys - 1 {
		e.register(ana, newDevice(t))
	}
	e.Clock.Advance(time.Minute)
	_, err := e.AskForPasskey(ctx, ana.SignedIn, people.Confirmation{Code: e.code(ana.totp)})
	if f, _ := fault.As(err); f == nil || f.Reason != "Too many passkeys" {
		t.Errorf("one more: %v", err)
	}
	for url, want := range map[string]bool{"https://pay.example.com": true, "http://localhost:8080": true, "http://pay.example.com": false,
		"http://127.0.0.1:8080": false, "https://[::1]": false, "": false} {
		if _, ok := signin.NewPasskeys(url); ok != want {
			t.Errorf("%q: %t", url, ok)
		}
	}
	without := newEnv(t)
	if _, err := without.AskForSignIn(context.Background()); !fault.Is(err, fault.Conflict) {
		t.Errorf("without passkeys: %v", err)
	}
}
