package people_test

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"causeway/adapters/signin"
	"causeway/app/internal/apptest"
	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

const (
	address  = "ana@example.com"
	password = "correct horse battery"
)

var admin = platform.Author{Actor: "cleo"}

// env is the environment of a test with the use cases on it. Passwords are hashed with the parameters of production.
type env struct {
	*apptest.Env
	*people.Service
	t *testing.T
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := apptest.New(t)
	return &env{e, people.New(people.Config{Store: e.Store, Verifier: signin.Verifier{}, Clock: e.Clock, IDs: e.IDs}), t}
}

// with returns the use cases with another verifier, such as one that does something while a password is checked.
func (e *env) with(v people.Verifier) *people.Service {
	return people.New(people.Config{Store: e.Store, Verifier: v, Clock: e.Clock, IDs: e.IDs})
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (e *env) invite(email string) people.IssuedLink {
	e.t.Helper()
	return must[people.IssuedLink](e.t)(e.Invite(e.t.Context(), email, "Ana Silva", []person.Grant{{Role: person.Finance}}, admin))
}

func (e *env) code(secret string) string {
	e.t.Helper()
	return must[string](e.t)(totp.GenerateCode(secret, e.Clock.Now()))
}

// member is one who is set up.
type member struct {
	people.SignedIn
	email, totp string
	recovery    []string
}

// setUp opens a link, and chooses a password and a second factor.
func (e *env) setUp(link people.IssuedLink) member {
	e.t.Helper()
	opened := must[people.SignedIn](e.t)(e.OpenLink(e.t.Context(), link.Token))
	m := member{email: link.Person.Email, totp: e.NewTOTPSecret()}
	var err error
	choice := people.Setup{Password: password, TOTPSecret: m.totp, Code: e.code(m.totp)}
	m.SignedIn, m.recovery, err = e.SetUp(e.t.Context(), opened.Secret, choice)
	if err != nil {
		e.t.Fatal(err)
	}
	return m
}

// newMember returns one who is set up, after the code that it has used counts no more.
func (e *env) newMember(email string) member {
	e.t.Helper()
	m := e.setUp(e.invite(email))
	e.Clock.Advance(time.Minute)
	return m
}

// wantSession compares whether a secret continues a session with what is expected.
func (e *env) wantSession(name, secret string, want bool) {
	e.t.Helper()
	in, err := e.Session(e.t.Context(), secret)
	if want && err != nil || !want && (!fault.Is(err, fault.Unauthorized) || in.Person.Email != "") {
		e.t.Errorf("%s: %+v, %v; want a session: %t", name, in.Person, err, want)
	}
}

// actions returns what is recorded, in its order.
func (e *env) actions() []string {
	e.t.Helper()
	return e.QueryStrings(`SELECT action || ' ' || subject || ' by ' || actor FROM operator_actions
		WHERE platform_id = '00000000-0000-0000-0000-000000000000' ORDER BY at, id`)
}

func (e *env) wantActions(want ...string) {
	e.t.Helper()
	if got := e.actions(); !slices.Equal(got, want) {
		e.t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPeople_InviteSetUpSignInAndOut(t *testing.T) {
	t.Parallel()
	// One who is invited opens its link once, chooses a password and a second factor, works, signs out and in again. Each step is
	// recorded with who did it.
	e := newEnv(t)
	ctx := t.Context()
	link := e.invite(" Ana@Example.com ")
	if link.Person.Email != address || link.SignsIn || link.Person.Status != person.Invited {
		t.Errorf("invited %+v", link)
	}
	linked := must[person.Person](t)(e.Linked(ctx, link.Token))
	if linked.ID != link.Person.ID {
		t.Errorf("the link is of %+v", linked)
	}
	opened := must[people.SignedIn](t)(e.OpenLink(ctx, link.Token))
	if !opened.Setup || opened.Person.May(person.View, ident.Platform{}) {
		t.Errorf("opened %+v", opened)
	}
	if _, err := e.OpenLink(ctx, link.Token); !fault.Is(err, fault.Conflict) {
		t.Errorf("opened twice: %v", err)
	}
	if p, err := e.Linked(ctx, link.Token); !fault.Is(err, fault.Conflict) || p.Email != "" {
		t.Errorf("an opened link is of %+v, %v", p, err)
	}

	secret := e.NewTOTPSecret()
	in, recovery, err := e.SetUp(ctx, opened.Secret, people.Setup{Password: password, TOTPSecret: secret, Code: e.code(secret)})
	if err != nil || len(recovery) != 10 || in.Setup || in.Person.Status != person.Active || !in.Person.May(person.View, ident.Platform{}) {
		t.Fatalf("set up %+v with %d codes, %v", in, len(recovery), err)
	}
	e.wantSession("the session of the link, after it was set up", opened.Secret, false)
	e.wantSession("the session of the set-up", in.Secret, true)
	if err := errors.Join(e.SignOut(ctx, in.Secret), e.SignOut(ctx, in.Secret), e.SignOut(ctx, "no secret")); err != nil {
		t.Error(err)
	}
	e.wantSession("after signing out", in.Secret, false)

	e.Clock.Advance(time.Minute)
	again := must[people.SignedIn](t)(e.SignIn(ctx, " ANA@example.com", password, e.code(secret)))
	e.wantSession("after signing in", again.Secret, true)
	if again.Person.ID != link.Person.ID || again.Setup {
		t.Errorf("signed in %+v", again)
	}
	e.wantActions("INVITE_PERSON ana@example.com as FINANCE by cleo", "SIGN_IN ana@example.com with a link by ana@example.com",
		"SET_UP_PERSON ana@example.com by ana@example.com", "SIGN_IN ana@example.com by ana@example.com")
	if subjects := e.QueryStrings(`SELECT DISTINCT subject_id::text FROM operator_actions WHERE subject LIKE 'ana@%'`); !slices.Equal(
		subjects, []string{link.Person.ID.UUID().String()}) {
		t.Errorf("the records are about %v", subjects)
	}

	// Nothing that opens anything is stored.
	stored := strings.Join(e.QueryStrings(`SELECT t::text FROM person_links t UNION ALL SELECT t::text FROM person_sessions t UNION ALL
		SELECT t::text FROM operator_actions t UNION ALL SELECT secrets ->> 'password' FROM person_factors`), "\n")
	for _, secret := range []string{link.Token, opened.Secret, in.Secret, again.Secret, password} {
		if strings.Contains(stored, secret) {
			t.Errorf("%q is stored", secret)
		}
	}
}

func TestPeople_InviteRefuses(t *testing.T) {
	t.Parallel()
	// Every field that is wrong is named at once, also a role for a platform that does not exist. An address is invited once.
	e := newEnv(t)
	ctx := t.Context()
	unknown := person.Grant{Role: person.Viewer, Platform: ident.NewPlatform(e.IDs.New, e.Clock.Now())}
	_, err := e.Invite(ctx, "ana", "", []person.Grant{unknown, {Role: person.Viewer, Platform: e.Platform.ID}}, admin)
	apptest.WantFault(t, "everything wrong", err, fault.InvalidInput, "email", "name", "roles")
	if f, _ := fault.As(err); !strings.HasPrefix(f.Fields[2].Message, unknown.String()+" is of no platform") {
		t.Errorf("%+v", f.Fields)
	}
	_, err = e.Invite(ctx, address, "Ana Silva", nil, admin)
	apptest.WantFault(t, "no role", err, fault.InvalidInput, "roles")
	for _, actor := range []string{"", " ", platform.Service.Actor} {
		_, err = e.Invite(ctx, address, "Ana Silva", []person.Grant{{Role: person.Viewer}}, platform.Author{Actor: actor})
		apptest.WantFault(t, "actor "+actor, err, fault.InvalidInput, "actor")
	}
	if found := must[[]person.Person](t)(e.List(ctx)); len(found) != 0 {
		t.Errorf("invited %+v", found)
	}
	e.invite(address)
	_, err = e.Invite(ctx, strings.ToUpper(address), "Other", []person.Grant{{Role: person.Viewer}}, admin)
	apptest.WantFault(t, "twice", err, fault.Conflict)
	longest := strings.Repeat("a", 188) + "@example.com"
	e.newMember(longest) // whose records name it
	found := must[[]person.Person](t)(e.List(ctx))
	if len(found) != 2 || found[0].Email != longest || found[1].Name != "Ana Silva" {
		t.Errorf("there are %+v", found)
	}
}

func TestPeople_SignInRefusesAlike(t *testing.T) {
	t.Parallel()
	// Whatever is wrong, the fault is the same: a wrong password or code, a code that was used, an address that nobody has or can
	// have, one who is invited, disabled, or has a new link.
	e := newEnv(t)
	ctx := t.Context()
	ana := e.newMember(address)
	e.invite("invited@example.com")
	disabled := e.newMember("disabled@example.com")
	must[person.Person](t)(e.Disable(ctx, disabled.email, admin))
	reset := e.newMember("reset@example.com")
	must[people.IssuedLink](t)(e.NewLink(ctx, reset.email, admin))
	used := e.newMember("used@example.com")
	usedCode := e.code(used.totp)
	must[people.SignedIn](t)(e.SignIn(ctx, used.email, password, usedCode))
	other := e.newMember("other@example.com")

	for name, try := range map[string][3]string{
		"wrong password":           {address, password + "!", e.code(ana.totp)},
		"no password":              {address, "", e.code(ana.totp)},
		"wrong code":               {address, password, "000000"},
		"no code":                  {address, password, ""},
		"code of another person":   {"other@example.com", password, e.code(used.totp)},
		"recovery code of another": {"other@example.com", password, used.recovery[0]},
		"used code":                {used.email, password, usedCode},
		"unknown address":          {"nobody@example.com", password, e.code(ana.totp)},
		"no address":               {"ana", password, e.code(ana.totp)},
		"empty address":            {"", "", ""},
		"NUL in the address":       {"ana\x00@example.com", password, e.code(ana.totp)},
		"address in no UTF-8":      {"ana\xff@example.com", password, e.code(ana.totp)},
		"NUL in the password":      {"nul@example.com", "\x00", "\x00"},
		"invited":                  {"invited@example.com", "", ""},
		"disabled":                 {disabled.email, password, e.code(disabled.totp)},
		"disabled, recovery code":  {disabled.email, password, disabled.recovery[0]},
		"new link":                 {reset.email, password, e.code(reset.totp)},
	} {
		in, err := e.SignIn(ctx, try[0], try[1], try[2])
		if !errors.Is(err, person.ErrSignIn) || in.Secret != "" {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
	}
	must[people.SignedIn](t)(e.SignIn(ctx, other.email, password, e.code(other.totp)))

	// Who had the right password and no right code is recorded: somebody else may know the password.
	failed := slices.DeleteFunc(e.actions(), func(a string) bool { return !strings.HasPrefix(a, "FAIL_SIGN_IN") })
	slices.Sort(failed)
	want := []string{"FAIL_SIGN_IN ana@example.com with a wrong code by ana@example.com",
		"FAIL_SIGN_IN ana@example.com with a wrong code by ana@example.com",
		"FAIL_SIGN_IN other@example.com with a wrong code by other@example.com",
		"FAIL_SIGN_IN other@example.com with a wrong code by other@example.com",
		"FAIL_SIGN_IN used@example.com with a wrong code by used@example.com"}
	if !slices.Equal(failed, want) {
		t.Errorf("recorded\n%s", strings.Join(failed, "\n"))
	}
}

func TestPeople_RecoveryCodesOnce(t *testing.T) {
	t.Parallel()
	// A recovery code replaces that of the second factor once; the next sign-in needs another. The record says so.
	e := newEnv(t)
	ctx := t.Context()
	ana := e.newMember(address)
	for i, text := range []string{ana.recovery[3], person.GroupRecoveryCode(ana.recovery[4])} {
		must[people.SignedIn](t)(e.SignIn(ctx, address, password, text))
		if _, err := e.SignIn(ctx, address, password, text); !errors.Is(err, person.ErrSignIn) {
			t.Errorf("code %d was used twice: %v", i, err)
		}
	}
	must[people.SignedIn](t)(e.SignIn(ctx, address, password, e.code(ana.totp)))
	left := e.QueryStrings(`SELECT jsonb_array_length(secrets -> 'recovery')::text FROM person_factors`)
	if got := e.actions(); !slices.Equal(left, []string{"8"}) ||
		!slices.Contains(got, "SIGN_IN ana@example.com with a recovery code by ana@example.com") {
		t.Errorf("%v codes are left, recorded %v", left, got)
	}
}

func TestPeople_SetUpRefuses(t *testing.T) {
	t.Parallel()
	// Every wrong field is named; a session that ended, or of one who is set up, chooses nothing.
	e := newEnv(t)
	ctx := t.Context()
	opened := must[people.SignedIn](t)(e.OpenLink(ctx, e.invite(address).Token))
	secret := e.NewTOTPSecret()
	_, _, err := e.SetUp(ctx, opened.Secret, people.Setup{Password: "short", TOTPSecret: secret, Code: "000000"})
	apptest.WantFault(t, "both wrong", err, fault.InvalidInput, "password", "code")
	_, _, err = e.SetUp(ctx, opened.Secret, people.Setup{Password: "password1234", TOTPSecret: secret, Code: e.code(secret)})
	apptest.WantFault(t, "a password that many choose", err, fault.InvalidInput, "password")
	short := base32.StdEncoding.EncodeToString([]byte("short"))
	_, _, err = e.SetUp(ctx, opened.Secret, people.Setup{Password: password, TOTPSecret: short, Code: e.code(short)})
	apptest.WantFault(t, "a secret that anybody guesses", err, fault.InvalidInput, "code")
	for _, text := range []string{"", "x", strings.Repeat("A", 43)} {
		_, _, err = e.SetUp(ctx, text, people.Setup{Password: password, TOTPSecret: secret, Code: e.code(secret)})
		apptest.WantFault(t, "no session", err, fault.Unauthorized)
	}
	good := people.Setup{Password: password, TOTPSecret: secret, Code: e.code(secret)}
	in, recovery, err := e.SetUp(ctx, opened.Secret, good)
	if err != nil {
		t.Fatal(err)
	}
	_, codes, err := e.SetUp(ctx, in.Secret, good)
	apptest.WantFault(t, "set up already", err, fault.Conflict)
	if slices.Equal(codes, recovery) {
		t.Error("the recovery codes are shown again")
	}
	// The code of the set-up counts once.
	if _, err := e.SignIn(ctx, address, password, good.Code); !errors.Is(err, person.ErrSignIn) {
		t.Errorf("signed in with the code of the set-up: %v", err)
	}
	late := must[people.SignedIn](t)(e.OpenLink(ctx, e.invite("late@example.com").Token))
	e.Clock.Advance(person.SetupLifetime)
	_, _, err = e.SetUp(ctx, late.Secret, people.Setup{Password: password, TOTPSecret: secret, Code: e.code(secret)})
	apptest.WantFault(t, "too late", err, fault.Unauthorized)
}

func TestPeople_AttemptsAreLimited(t *testing.T) {
	t.Parallel()
	// After five failures the next attempt waits, also with what is right, for an address that exists as for one that does not. A
	// success forgets them; other addresses are not concerned.
	e := newEnv(t)
	ctx := t.Context()
	ana, bo := e.newMember(address), e.newMember("bo@example.com")
	for _, email := range []string{address, "nobody@example.com"} {
		for n := range 5 {
			if _, err := e.SignIn(ctx, email, "wrong", "000000"); !errors.Is(err, person.ErrSignIn) {
				t.Fatalf("%s, attempt %d: %v", email, n, err)
			}
		}
		for _, text := range []string{email, strings.ToUpper(email), " " + email} {
			_, err := e.SignIn(ctx, text, password, e.code(ana.totp))
			if f, ok := fault.As(err); !ok || f.Code != fault.RateLimited || f.RetryAfter != 15*time.Second {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	must[people.SignedIn](t)(e.SignIn(ctx, bo.email, password, e.code(bo.totp)))
	e.Clock.Advance(15 * time.Second)
	must[people.SignedIn](t)(e.SignIn(ctx, address, password, e.code(ana.totp)))
	for n := range 5 {
		if _, err := e.SignIn(ctx, address, "wrong", "000000"); !errors.Is(err, person.ErrSignIn) {
			t.Fatalf("attempt %d after a success: %v", n, err)
		}
	}
	if _, err := e.SignIn(ctx, address, "wrong", "000000"); !fault.Is(err, fault.RateLimited) {
		t.Error(err)
	}
}

func TestConfirm_OthersDoNotDelayIt(t *testing.T) {
	t.Parallel()
	// Wrong passwords for the address of a person, which anybody can try, delay its next sign-in and not what it confirms, also not after a
	// new link. Right codes of a confirmation do not give who tries passwords new attempts. Wrong codes of confirmations wait too.
	e := newEnv(t)
	ctx := t.Context()
	ana := e.newMember(address)
	tryPasswords := func() {
		t.Helper()
		for n := range 6 {
			_, err := e.SignIn(ctx, address, "wrong", "000000")
			if n < 5 && !errors.Is(err, person.ErrSignIn) || n == 5 && !fault.Is(err, fault.RateLimited) {
				t.Fatalf("attempt %d: %v", n, err)
			}
		}
	}
	confirm := func(in people.SignedIn, code string) error {
		return e.Confirm(ctx, in, people.Confirmation{Code: code})
	}
	tryPasswords()
	if err := confirm(ana.SignedIn, e.code(ana.totp)); err != nil {
		t.Errorf("a right code: %v", err)
	}
	if _, err := e.SignIn(ctx, address, password, ana.recovery[0]); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the next sign-in after a confirmation: %v", err)
	}
	e.Clock.Advance(person.AttemptsRetention)
	again := e.setUp(must[people.IssuedLink](t)(e.NewLink(ctx, address, admin)))
	e.Clock.Advance(time.Minute)
	tryPasswords()
	if err := confirm(again.SignedIn, e.code(again.totp)); err != nil {
		t.Errorf("a right code after a new link: %v", err)
	}
	for n := range 5 {
		if err := confirm(again.SignedIn, "000000"); !errors.Is(err, person.ErrCode) {
			t.Errorf("wrong code %d: %v", n, err)
		}
	}
	if err := confirm(again.SignedIn, again.recovery[0]); !fault.Is(err, fault.RateLimited) {
		t.Errorf("after wrong codes: %v", err)
	}
}

// concurrently runs fn n times at once, and returns how often each outcome came, by the code of the fault.
func concurrently(n int, fn func(i int) error) map[fault.Code]int {
	outcomes, start := make([]error, n), make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			outcomes[i] = fn(i)
		})
	}
	close(start)
	all.Wait()
	found := map[fault.Code]int{}
	for _, err := range outcomes {
		code := fault.Code("")
		if f, ok := fault.As(err); ok {
			code = f.Code
		} else if err != nil {
			code = fault.Code(err.Error())
		}
		found[code]++
	}
	return found
}

func TestPeople_AttemptsAreLimitedAtOnce(t *testing.T) {
	t.Parallel()
	// Of twenty attempts at once no more are checked than of twenty one after the other.
	e := newEnv(t)
	e.newMember(address)
	found := concurrently(20, func(i int) error {
		_, err := e.SignIn(t.Context(), address, fmt.Sprint("guess ", i), "000000")
		return err
	})
	if found[fault.Unauthorized] != 5 || found[fault.RateLimited] != 15 {
		t.Errorf("%v, want 5 attempts", found)
	}
}

func TestPeople_CodeCountsOnceAtOnce(t *testing.T) {
	t.Parallel()
	// Five sign-ins at once with the same code, and with the same recovery code, begin one session each.
	e := newEnv(t)
	ana, bo := e.newMember(address), e.newMember("bo@example.com")
	before := len(e.QueryStrings(`SELECT person_id::text FROM person_sessions`))
	for _, try := range []struct{ email, code string }{{ana.email, e.code(ana.totp)}, {bo.email, bo.recovery[0]}} {
		found := concurrently(5, func(int) error {
			_, err := e.SignIn(t.Context(), try.email, password, try.code)
			return err
		})
		if found[""] != 1 || found[fault.Unauthorized] != 4 {
			t.Errorf("%s: %v", try.email, found)
		}
	}
	if after := len(e.QueryStrings(`SELECT person_id::text FROM person_sessions`)); after != before+2 {
		t.Errorf("%d sessions began", after-before)
	}
}

func TestPeople_LinkOpensOnceAtOnce(t *testing.T) {
	t.Parallel()
	// A link that is opened ten times at once begins one session, in which ten set-ups at once choose one password.
	e := newEnv(t)
	link := e.invite(address)
	var mu sync.Mutex
	var opened people.SignedIn
	found := concurrently(10, func(int) error {
		in, err := e.OpenLink(t.Context(), link.Token)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			opened = in
		}
		return err
	})
	if found[""] != 1 || found[fault.Conflict] != 9 {
		t.Errorf("opened: %v", found)
	}
	secret := e.NewTOTPSecret()
	found = concurrently(10, func(i int) error {
		choice := people.Setup{Password: fmt.Sprint(password, i), TOTPSecret: secret, Code: e.code(secret)}
		_, _, err := e.SetUp(t.Context(), opened.Secret, choice)
		return err
	})
	if found[""] != 1 || found[fault.Conflict]+found[fault.Unauthorized] != 9 {
		t.Errorf("set up: %v", found)
	}
	if sessions := e.QueryStrings(`SELECT setup::text FROM person_sessions`); !slices.Equal(sessions, []string{"false"}) {
		t.Errorf("sessions: %v", sessions)
	}
}

func TestPeople_NewLinkEndsEverything(t *testing.T) {
	t.Parallel()
	// A new link ends the sessions, the password, the codes and the link before; and it enables one who is disabled, with a new
	// choice. The person keeps its id and its roles.
	e := newEnv(t)
	ctx := t.Context()
	ana, bo := e.newMember(address), e.newMember("bo@example.com")
	second := must[people.SignedIn](t)(e.SignIn(ctx, address, password, e.code(ana.totp)))
	first := must[people.IssuedLink](t)(e.NewLink(ctx, address, admin))
	link := must[people.IssuedLink](t)(e.NewLink(ctx, strings.ToUpper(address), admin))
	e.wantSession("of the set-up", ana.Secret, false)
	e.wantSession("of the sign-in", second.Secret, false)
	e.wantSession("of another person", bo.Secret, true)
	if _, err := e.OpenLink(ctx, first.Token); !fault.Is(err, fault.Conflict) {
		t.Errorf("the link before was opened: %v", err)
	}
	again := e.setUp(link)
	if again.Person.ID != ana.Person.ID || person.GrantTexts(again.Person.Grants) != "FINANCE" || slices.Equal(again.recovery, ana.recovery) {
		t.Errorf("%+v", again.Person)
	}
	if _, err := e.SignIn(ctx, address, password, ana.recovery[0]); !errors.Is(err, person.ErrSignIn) {
		t.Errorf("an earlier recovery code: %v", err)
	}

	must[person.Person](t)(e.Disable(ctx, address, platform.Author{Actor: "bo"}))
	e.wantSession("of one who is disabled", again.Secret, false)
	if e.setUp(must[people.IssuedLink](t)(e.NewLink(ctx, address, platform.Author{Actor: "bo"}))).Person.Status != person.Active {
		t.Error("not active after a new link")
	}
	got := slices.DeleteFunc(e.actions(), func(a string) bool { return !strings.HasSuffix(a, "cleo") && !strings.HasSuffix(a, " bo") })
	want := []string{"INVITE_PERSON ana@example.com as FINANCE by cleo", "INVITE_PERSON bo@example.com as FINANCE by cleo",
		"LINK_PERSON ana@example.com who was ACTIVE by cleo", "LINK_PERSON ana@example.com who was INVITED by cleo",
		"DISABLE_PERSON ana@example.com by bo", "LINK_PERSON ana@example.com who was DISABLED by bo"}
	if !slices.Equal(got, want) {
		t.Errorf("recorded\n%s", strings.Join(got, "\n"))
	}
}

func TestPeople_DisableEndsEverything(t *testing.T) {
	t.Parallel()
	// One who is disabled has no session, no link that opens and no password, and is not enabled by what was begun before.
	e := newEnv(t)
	ctx := t.Context()
	link := e.invite(address)
	must[person.Person](t)(e.Disable(ctx, address, admin))
	if _, err := e.OpenLink(ctx, link.Token); !fault.Is(err, fault.Conflict) {
		t.Errorf("its link was opened: %v", err)
	}
	opened := must[people.SignedIn](t)(e.OpenLink(ctx, must[people.IssuedLink](t)(e.NewLink(ctx, address, admin)).Token))
	disabled := must[person.Person](t)(e.Disable(ctx, address, admin))
	e.wantSession("of its link", opened.Secret, false)
	if disabled.Status != person.Disabled {
		t.Errorf("%+v", disabled)
	}
	for name, change := range map[string]func(email string) error{
		"disable": func(email string) error { _, err := e.Disable(ctx, email, admin); return err },
		"link":    func(email string) error { _, err := e.NewLink(ctx, email, admin); return err },
		"set roles": func(email string) error {
			_, err := e.SetGrants(ctx, email, []person.Grant{{Role: person.Viewer}}, admin)
			return err
		},
	} {
		for _, email := range []string{"nobody@example.com", "", "a\x00@example.com"} {
			apptest.WantFault(t, name+" "+email, change(email), fault.NotFound)
		}
	}
}

func TestPeople_SetGrants(t *testing.T) {
	t.Parallel()
	// Other roles hold from the next request on, in sessions that exist. The record has those before and after.
	e := newEnv(t)
	ctx := t.Context()
	ana := e.newMember(address)
	one := person.Grant{Role: person.Viewer, Platform: e.Platform.ID}
	changed := must[person.Person](t)(e.SetGrants(ctx, address, []person.Grant{one}, admin))
	if person.GrantTexts(changed.Grants) != one.String() {
		t.Errorf("%+v", changed)
	}
	in := must[people.SignedIn](t)(e.Session(ctx, ana.Secret))
	if in.Person.May(person.View, ident.Platform{}) || !in.Person.May(person.View, e.Platform.ID) {
		t.Errorf("may %+v", in.Person)
	}
	_, err := e.SetGrants(ctx, address, nil, admin)
	apptest.WantFault(t, "no role", err, fault.InvalidInput, "roles")
	_, err = e.SetGrants(ctx, address, []person.Grant{{Role: person.Viewer, Platform: ident.NewPlatform(e.IDs.New, e.Clock.Now())}}, admin)
	apptest.WantFault(t, "unknown platform", err, fault.InvalidInput, "roles")
	if got := e.actions(); got[len(got)-1] != "CHANGE_ROLES ana@example.com from FINANCE to "+one.String()+" by cleo" {
		t.Errorf("recorded %q", got)
	}
	e.WantChanges(platform.OperatorChangedRoles, "cleo: roles FINANCE → "+one.String())
}

func TestPeople_RefusalIsRecorded(t *testing.T) {
	t.Parallel()
	// What is refused says so in the audit, with the reason, beside what was done: also if it was recorded before it was tried.
	e := newEnv(t)
	ctx := t.Context()
	ana := e.newMember(address).Person
	price := platform.OperatorAction{Kind: platform.OperatorSetCorridor, Name: "USD to BTC"}
	tried := must[platform.OperatorAction](t)(e.RecordAction(ctx, ana, platform.OperatorAction{Kind: platform.PersonCancelledPayment}))
	for _, a := range []platform.OperatorAction{price, tried} {
		if err := e.RecordRefused(ctx, ana, a, "CONFLICT: Terms changed"); err != nil {
			t.Fatal(err)
		}
	}
	must[platform.OperatorAction](t)(e.RecordAction(ctx, ana, platform.OperatorAction{Kind: platform.PersonCancelledPayment}))

	found, err := e.Store.Activities(ports.ForAllPlatforms(ctx), ports.ActivityFilter{Actor: address, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range found {
		got = append(got, a.Action+" "+a.Subject+" "+a.Note)
	}
	want := []string{"CANCEL_PAYMENT  ", "SET_CORRIDOR USD to BTC refused: CONFLICT: Terms changed",
		"CANCEL_PAYMENT  refused: CONFLICT: Terms changed"}
	if !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func TestPeople_SessionEnds(t *testing.T) {
	t.Parallel()
	// A session that is used lives a week; its last use is stored about once a minute. One that is not ends after half a day.
	e := newEnv(t)
	used, idle := e.newMember(address), e.newMember("bo@example.com")
	began := e.Clock.Now()
	for e.Clock.Now().Before(began.Add(6 * 24 * time.Hour)) {
		e.wantSession("used", used.Secret, true)
		e.Clock.Advance(11 * time.Hour)
	}
	e.wantSession("idle", idle.Secret, false)
	e.wantSession("used", used.Secret, true)
	stored := func() string { return e.QueryStrings(`SELECT max(last_used_at)::text FROM person_sessions`)[0] }
	before := stored()
	e.Clock.Advance(59 * time.Second)
	e.wantSession("used", used.Secret, true)
	if after := stored(); after != before {
		t.Errorf("stored %s after %s", after, before)
	}
	e.Clock.Advance(time.Second)
	e.wantSession("used", used.Secret, true)
	if after := stored(); after == before {
		t.Errorf("nothing was stored after %s", before)
	}
	e.Clock.Advance(used.ExpiresAt.Sub(e.Clock.Now()))
	e.wantSession("after a week", used.Secret, false)
}

// interruptedVerifier calls during before it checks or hashes a password, when all else was read.
type interruptedVerifier struct {
	signin.Verifier
	during func()
}

func (v interruptedVerifier) HashPassword(password string) (string, error) {
	v.during()
	return v.Verifier.HashPassword(password)
}

func (v interruptedVerifier) CheckPassword(hash, password string) (bool, error) {
	v.during()
	return v.Verifier.CheckPassword(hash, password)
}

func TestPeople_ChangesWhileAPasswordIsChecked(t *testing.T) {
	t.Parallel()
	// What happens between the check of a password and the commit counts: one who is disabled, or has a new link, or has chosen
	// another password with it, begins no session.
	for name, change := range map[string]func(*env, member){
		"disabled": func(e *env, _ member) { must[person.Person](e.t)(e.Disable(e.t.Context(), address, admin)) },
		"new link": func(e *env, _ member) { must[people.IssuedLink](e.t)(e.NewLink(e.t.Context(), address, admin)) },
		"new password": func(e *env, m member) { // with the same second factor, of which an earlier code was used
			link := must[people.IssuedLink](e.t)(e.NewLink(e.t.Context(), address, admin))
			opened := must[people.SignedIn](e.t)(e.OpenLink(e.t.Context(), link.Token))
			code := must[string](e.t)(totp.GenerateCode(m.totp, e.Clock.Now().Add(-30*time.Second)))
			choice := people.Setup{Password: "another " + password, TOTPSecret: m.totp, Code: code}
			if _, _, err := e.SetUp(e.t.Context(), opened.Secret, choice); err != nil {
				e.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			ana := e.newMember(address)
			service := e.with(interruptedVerifier{during: func() { change(e, ana) }})
			for _, code := range []string{e.code(ana.totp), ana.recovery[0]} {
				if _, err := service.SignIn(t.Context(), address, password, code); !errors.Is(err, person.ErrSignIn) {
					t.Errorf("signed in: %v", err)
				}
			}
		})
	}
}

func TestPeople_ChangesWhileAPasswordIsChosen(t *testing.T) {
	t.Parallel()
	// A set-up that has begun is void when the person is disabled, or gets a new link because somebody else has opened the first.
	for name, change := range map[string]func(*env){
		"disabled": func(e *env) { must[person.Person](e.t)(e.Disable(e.t.Context(), address, admin)) },
		"new link": func(e *env) { must[people.IssuedLink](e.t)(e.NewLink(e.t.Context(), address, admin)) },
		"signed out": func(e *env) {
			if err := e.Exec(`DELETE FROM person_sessions`); err != nil {
				e.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			opened := must[people.SignedIn](t)(e.OpenLink(t.Context(), e.invite(address).Token))
			service := e.with(interruptedVerifier{during: func() { change(e) }})
			secret := e.NewTOTPSecret()
			_, _, err := service.SetUp(t.Context(), opened.Secret, people.Setup{Password: password, TOTPSecret: secret, Code: e.code(secret)})
			if !fault.Is(err, fault.Unauthorized) {
				t.Errorf("set up: %v", err)
			}
			rows := e.QueryStrings(`SELECT id::text FROM person_factors UNION ALL SELECT person_id::text FROM person_sessions WHERE NOT setup`)
			if len(rows) != 0 {
				t.Errorf("stored for %v", rows)
			}
		})
	}
}

func TestPeople_LinkIsOpenedWhileItIsReplaced(t *testing.T) {
	t.Parallel()
	// Opening a link and making a new one at once never wait for each other for ever: the session of the first is ended, or it is
	// not opened.
	e := newEnv(t)
	link := e.invite(address)
	for range 10 {
		var opened people.SignedIn
		var next people.IssuedLink
		found := concurrently(2, func(i int) (err error) {
			if i == 0 {
				opened, err = e.OpenLink(t.Context(), link.Token)
				return err
			}
			next, err = e.NewLink(t.Context(), address, admin)
			return err
		})
		if found[""] < 1 || found[""]+found[fault.Conflict] != 2 {
			t.Fatalf("%v", found)
		}
		if opened.Secret != "" {
			e.wantSession("of the link before", opened.Secret, false)
		}
		link = next
	}
}

func TestPeople_SignInDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	// While others use all that is for passwords, one who waits too long is told to try again; its attempt has counted.
	e := newEnv(t)
	entered, release := make(chan struct{}, 2), make(chan struct{})
	service := e.with(interruptedVerifier{during: func() { entered <- struct{}{}; <-release }})
	var others sync.WaitGroup
	for i := range 2 {
		others.Go(func() {
			_, _ = service.SignIn(t.Context(), fmt.Sprintf("other%d@example.com", i), "", "")
		})
	}
	<-entered
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := service.SignIn(ctx, address, password, ""); !fault.Is(err, fault.ServiceUnavailable) {
		t.Errorf("waited: %v", err)
	}
	close(release)
	others.Wait()
	if counted := e.QueryStrings(`SELECT failed::text FROM sign_in_attempts`); !slices.Equal(counted, []string{"1", "1", "1"}) {
		t.Errorf("counted %v", counted)
	}
}

func TestPeople_Developer(t *testing.T) {
	t.Parallel()
	// On an empty database the administrator of a developer is created, and a link signs it in without a password; so does the next
	// one, also after it was given a link to choose a password. Two at once create one.
	e := newEnv(t)
	ctx := t.Context()
	links := make([]people.IssuedLink, 2)
	if found := concurrently(2, func(i int) (err error) { links[i], err = e.Developer(ctx); return err }); found[""] != 2 {
		t.Fatalf("%v", found)
	}
	links = append(links, must[people.IssuedLink](t)(e.Developer(ctx)))
	for _, link := range links {
		in := must[people.SignedIn](t)(e.OpenLink(ctx, link.Token))
		if !link.SignsIn || in.Setup || !in.Person.May(person.ManagePeople, ident.Platform{}) {
			t.Errorf("%+v", in)
		}
		if _, err := e.OpenLink(ctx, link.Token); !fault.Is(err, fault.Conflict) {
			t.Errorf("opened twice: %v", err)
		}
	}
	const email = "administrator@sandbox.test"
	if found := must[[]person.Person](t)(e.List(ctx)); len(found) != 1 || found[0].Email != email {
		t.Errorf("there are %+v", found)
	}
	if _, err := e.SignIn(ctx, email, "", ""); !errors.Is(err, person.ErrSignIn) {
		t.Errorf("signed in without a password: %v", err)
	}
	must[people.IssuedLink](t)(e.NewLink(ctx, email, admin))
	e.invite(address)
	last := must[people.IssuedLink](t)(e.Developer(ctx))
	if in := must[people.SignedIn](t)(e.OpenLink(ctx, last.Token)); !in.Person.May(person.View, e.Platform.ID) {
		t.Errorf("%+v", in)
	}
	must[person.Person](t)(e.Disable(ctx, email, admin))
	_, err := e.Developer(ctx)
	apptest.WantFault(t, "disabled", err, fault.Conflict)
}

func TestPeople_DeveloperOnUsedDatabase(t *testing.T) {
	t.Parallel()
	// Where people work already, nobody is created who signs in without a password.
	e := newEnv(t)
	e.invite(address)
	_, err := e.Developer(t.Context())
	apptest.WantFault(t, "used database", err, fault.Conflict)
	if found := must[[]person.Person](t)(e.List(t.Context())); len(found) != 1 {
		t.Errorf("there are %+v", found)
	}
}

func TestPeople_ScopeOfTheCallerDoesNotMatter(t *testing.T) {
	t.Parallel()
	// Use cases read and write people also in a call for one platform, or for none.
	e := newEnv(t)
	ana := e.newMember(address)
	for _, ctx := range []context.Context{ports.ForPlatform(t.Context(), e.Platform.ID), t.Context()} {
		in, err := e.SignIn(ctx, address, password, ana.recovery[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Session(ctx, in.Secret); err != nil {
			t.Error(err)
		}
		ana.recovery = ana.recovery[1:]
	}
}

func TestSignIn_WrongCodesAreLimited(t *testing.T) {
	t.Parallel()
	// After 50 wrong codes within 30 days, in sign-ins or confirmations and with right ones in between, no code of the application is
	// accepted. That is recorded once. A recovery code signs in and ends it.
	e := newEnv(t)
	ctx := t.Context()
	m := e.newMember(address)
	isLocked := func(err error) bool {
		f, ok := fault.As(err)
		return ok && f.Reason == person.ErrCodesLocked.Reason
	}
	for n := range person.MaxWrongCodes {
		e.Clock.Advance(time.Hour) // no delay is left
		var err error
		if n%2 == 0 {
			_, err = e.SignIn(ctx, address, password, "000000")
		} else {
			err = e.Confirm(ctx, m.SignedIn, people.Confirmation{Code: "000000"})
		}
		if !fault.Is(err, fault.Unauthorized) || isLocked(err) {
			t.Fatalf("wrong code %d: %v", n, err)
		}
		if n == 10 {
			e.Clock.Advance(time.Hour)
			must[people.SignedIn](t)(e.SignIn(ctx, address, password, e.code(m.totp)))
		}
	}
	e.Clock.Advance(time.Hour)
	if _, err := e.SignIn(ctx, address, password, e.code(m.totp)); !errors.Is(err, person.ErrSignIn) {
		t.Errorf("a right code signs in: %v", err)
	}
	e.Clock.Advance(time.Hour)
	if err := e.Confirm(ctx, m.SignedIn, people.Confirmation{Code: e.code(m.totp)}); !isLocked(err) {
		t.Errorf("a right code confirms: %v", err)
	}
	if locked := slices.DeleteFunc(e.actions(), func(a string) bool { return !strings.HasPrefix(a, "LOCK_CODES") }); !slices.Equal(locked,
		[]string{"LOCK_CODES ana@example.com after 50 wrong codes by ana@example.com"}) {
		t.Errorf("recorded %q", locked)
	}
	e.Clock.Advance(time.Hour)
	must[people.SignedIn](t)(e.SignIn(ctx, address, password, m.recovery[0]))
	e.Clock.Advance(time.Minute)
	must[people.SignedIn](t)(e.SignIn(ctx, address, password, e.code(m.totp)))
}
