package people_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
)

// signInAgain returns another session of a member.
func (e *env) signInAgain(m member) people.SignedIn {
	e.t.Helper()
	e.Clock.Advance(time.Minute)
	return must[people.SignedIn](e.t)(e.SignIn(e.t.Context(), m.email, password, e.code(m.totp)))
}

// account returns what the person of a session sees of itself.
func (e *env) account(in people.SignedIn) person.Account {
	e.t.Helper()
	return must[person.Account](e.t)(e.Account(e.t.Context(), in))
}

func TestAccount_SessionsOfOneself(t *testing.T) {
	t.Parallel()
	// A person sees its sessions that go on with their devices, and ends one or all others. One of another person is not there, and
	// nothing is recorded of it. What ended a second ago is no error that anybody else sees.
	e := newEnv(t)
	ctx := t.Context()
	ana, bo := e.newMember("ana@example.com"), e.newMember("bo@example.com")
	second, third := e.signInAgain(ana), e.signInAgain(ana)
	if err := e.NameDevice(ctx, second, "Firefox\x00 on Linux"); err != nil {
		t.Fatal(err)
	}
	if a := e.account(ana.SignedIn); len(a.Sessions) != 3 || !a.HasPassword || a.RecoveryCodes != 10 ||
		!slices.ContainsFunc(a.Sessions, func(s person.Session) bool { return s.Device == "Firefox on Linux" }) {
		t.Errorf("%+v", a)
	}
	if err := e.EndSession(ctx, ana.SignedIn, bo.TokenHash); !errors.Is(err, person.ErrNoSuchSession) {
		t.Errorf("of another person: %v", err)
	}
	if err := e.EndSession(ctx, ana.SignedIn, second.TokenHash); err != nil {
		t.Fatal(err)
	}
	if err := e.EndSession(ctx, ana.SignedIn, second.TokenHash); !errors.Is(err, person.ErrNoSuchSession) {
		t.Errorf("twice: %v", err)
	}
	e.wantSession("one that was ended", second.Secret, false)
	e.wantSession("a third", third.Secret, true)
	if err := e.EndOtherSessions(ctx, ana.SignedIn); err != nil {
		t.Fatal(err)
	}
	e.wantSession("an other", third.Secret, false)
	e.wantSession("this one", ana.Secret, true)
	e.wantSession("of another person", bo.Secret, true)
	if err := e.EndOtherSessions(ctx, third); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("by a session that was ended: %v", err)
	}
	got := slices.DeleteFunc(e.actions(), func(a string) bool { return !strings.HasPrefix(a, "END_SESSIONS") })
	if want := []string{"END_SESSIONS ana@example.com one Firefox on Linux by ana@example.com",
		"END_SESSIONS ana@example.com all others by ana@example.com"}; !slices.Equal(got, want) {
		t.Errorf("recorded %q", got)
	}
	e.Clock.Advance(person.IdleLifetime)
	if a := e.account(ana.SignedIn); len(a.Sessions) > 0 {
		t.Errorf("sessions that have ended: %+v", a.Sessions)
	}
}

func TestAccount_ChangePassword(t *testing.T) {
	t.Parallel()
	// The new password signs in and the old one does not; other sessions end. What is wrong is said of each field, and changes nothing.
	e := newEnv(t)
	ctx := t.Context()
	ana := e.newMember(address)
	second := e.signInAgain(ana)
	const next = "seven purple elephants"
	f, _ := fault.As(e.ChangePassword(ctx, ana.SignedIn, "not the one", "short"))
	if f == nil || f.Code != fault.InvalidInput || len(f.Fields) != 2 {
		t.Errorf("%+v", f)
	}
	e.wantSession("after a refusal", second.Secret, true)
	if err := e.ChangePassword(ctx, ana.SignedIn, password, next); err != nil {
		t.Fatal(err)
	}
	e.wantSession("an other", second.Secret, false)
	e.wantSession("this one", ana.Secret, true)
	e.Clock.Advance(time.Minute)
	if _, err := e.SignIn(ctx, address, password, e.code(ana.totp)); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("the old password: %v", err)
	}
	if _, err := e.SignIn(ctx, address, next, e.code(ana.totp)); err != nil {
		t.Errorf("the new password: %v", err)
	}
	if !slices.Contains(e.actions(), "CHANGE_PASSWORD ana@example.com by ana@example.com") {
		t.Errorf("recorded %q", e.actions())
	}
}

func TestAccount_ReplaceAuthenticatorAndRecoveryCodes(t *testing.T) {
	t.Parallel()
	// Only codes of the new application count then, and only the new recovery codes, each once.
	e := newEnv(t)
	ctx := t.Context()
	ana := e.newMember(address)
	key := e.NewTOTPSecret()
	if err := e.ReplaceAuthenticator(ctx, ana.SignedIn, key, e.code(ana.totp)); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a code of another key: %v", err)
	}
	if err := e.ReplaceAuthenticator(ctx, ana.SignedIn, key, e.code(key)); err != nil {
		t.Fatal(err)
	}
	if err := e.Confirm(ctx, ana.SignedIn, people.Confirmation{Code: e.code(key)}); !errors.Is(err, person.ErrCode) {
		t.Errorf("the code that was used: %v", err)
	}
	e.Clock.Advance(time.Minute)
	if err := e.Confirm(ctx, ana.SignedIn, people.Confirmation{Code: e.code(ana.totp)}); !errors.Is(err, person.ErrCode) {
		t.Errorf("a code of the old application: %v", err)
	}
	if err := e.Confirm(ctx, ana.SignedIn, people.Confirmation{Code: e.code(key)}); err != nil {
		t.Errorf("a code of the new application: %v", err)
	}
	codes := must[[]string](t)(e.RenewRecoveryCodes(ctx, ana.SignedIn))
	if err := e.Confirm(ctx, ana.SignedIn, people.Confirmation{Code: ana.recovery[0]}); !errors.Is(err, person.ErrCode) {
		t.Errorf("an old recovery code: %v", err)
	}
	if err := e.Confirm(ctx, ana.SignedIn, people.Confirmation{Code: codes[0]}); err != nil {
		t.Errorf("a new recovery code: %v", err)
	}
	if a := e.account(ana.SignedIn); a.RecoveryCodes != 9 {
		t.Errorf("%d are left", a.RecoveryCodes)
	}
	for _, want := range []string{"REPLACE_AUTHENTICATOR ana@example.com by ana@example.com",
		"RENEW_RECOVERY_CODES ana@example.com by ana@example.com"} {
		if !slices.Contains(e.actions(), want) {
			t.Errorf("recorded %q", e.actions())
		}
	}
}

func TestAccount_OfWhoHasNoPassword(t *testing.T) {
	t.Parallel()
	// Who was signed in by a link without a password has none to change, also not by a form made by hand.
	e := newEnv(t)
	ctx := t.Context()
	in := must[people.SignedIn](t)(e.OpenLink(ctx, must[people.IssuedLink](t)(e.Developer(ctx)).Token))
	key := e.NewTOTPSecret()
	_, err := e.RenewRecoveryCodes(ctx, in)
	for name, err := range map[string]error{"codes": err, "application": e.ReplaceAuthenticator(ctx, in, key, e.code(key)),
		"password": e.ChangePassword(ctx, in, "", "seven purple elephants")} {
		if !errors.Is(err, person.ErrNoPassword) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a := e.account(in); a.HasPassword || a.RecoveryCodes > 0 || len(a.Sessions) != 1 {
		t.Errorf("%+v", a)
	}
}

func TestAccounts_OfEverybody(t *testing.T) {
	t.Parallel()
	// An administrator sees of everybody what it signs in with, when it last did, and the sessions that go on.
	e := newEnv(t)
	e.invite("zoe@example.com")
	bo := e.newMember("bo@example.com")
	in := e.signInAgain(bo)
	all := must[[]person.Account](t)(e.Accounts(t.Context()))
	if len(all) != 2 || all[0].Person.ID != bo.Person.ID || !all[0].HasPassword || all[0].RecoveryCodes != 10 ||
		len(all[0].Sessions) != 2 || !all[0].LastSignIn.Equal(in.CreatedAt) {
		t.Fatalf("%+v", all)
	}
	if zoe := all[1]; zoe.HasPassword || zoe.RecoveryCodes+zoe.Passkeys+len(zoe.Sessions) > 0 || !zoe.LastSignIn.IsZero() {
		t.Errorf("%+v", zoe)
	}
}
