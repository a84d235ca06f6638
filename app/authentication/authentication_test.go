package authentication_test

import (
	"encoding/base64"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"causeway/adapters/identity/manual"
	sandboxidentity "causeway/adapters/identity/sandbox"
	"causeway/adapters/signin"
	"causeway/adapters/walletproofs/real"
	"causeway/adapters/walletproofs/sandbox"
	"causeway/app/authentication"
	"causeway/app/internal/apptest"
	"causeway/app/internal/mails"
	"causeway/app/internal/strongauth"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/wallet"
	"causeway/ports"
)

// env has a customer in Germany with a verified phone.
type env struct {
	*apptest.Env
	*authentication.Service
	ana customer.Customer
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t)}
	genuine := real.New(real.Options{})
	e.Service = authentication.New(authentication.Config{Store: e.Store, Clock: e.Clock,
		Auth: strongauth.New(strongauth.Config{TOTP: signin.Verifier{}, IDs: e.IDs, Mails: mails.New(mails.Config{IDs: e.IDs}),
			Proofs: ports.WalletProofsByEnvironment{platform.Sandbox: sandbox.New(nil, genuine), platform.Production: genuine}}),
		Liveness: ports.ResetChecksByEnvironment{platform.Sandbox: sandboxidentity.Identity{}, platform.Production: manual.Identity{}}})
	e.ana = e.newCustomer("Ana Silva", "DE")
	return e
}

func (e *env) newCustomer(name, region string) customer.Customer {
	return e.NewCustomer(name, func(c *customer.Customer) {
		c.FullName, c.Region, c.PhoneNumber = name, region, "+491701234567"
		c.Contacts.Phone = customer.VerifiedContact{Address: c.PhoneNumber, At: apptest.Noon}
	})
}

func (e *env) startLogin(t *testing.T, f sca.Factor) sca.Asked {
	t.Helper()
	asked, err := e.StartLogin(t.Context(), e.Platform.ID, nil, e.ana.ID, f)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

func (e *env) login(t *testing.T, asked sca.Asked, p sca.Proof) (sca.Session, error) {
	t.Helper()
	p.Factor = asked.Factor
	return e.CompleteLogin(t.Context(), e.Platform.ID, nil, e.ana.ID, authentication.Login{Proof: p, Challenge: asked.ID,
		IPAddress: "203.0.113.7"})
}

func (e *env) hasSession(t *testing.T) bool {
	t.Helper()
	_, err := e.Store.SCASession(t.Context(), e.Platform.ID, e.ana.ID, e.Clock.Now())
	if err != nil && !fault.Is(err, fault.SCASessionRequired) {
		t.Fatal(err)
	}
	return err == nil
}

func TestLogin_CodeOpensASessionOnce(t *testing.T) {
	t.Parallel()
	// The code that was sent last opens a session of 180 days, once. A second start replaces the challenge of the first.
	e := newEnv(t)
	first, second := e.startLogin(t, sca.SMSOTP), e.startLogin(t, sca.SMSOTP)
	_, err := e.login(t, first, sca.Proof{Code: "123456"})
	apptest.WantFault(t, "a replaced challenge", err, fault.InvalidInput, "challengeId")
	opened, err := e.login(t, second, sca.Proof{Code: "123456"})
	if err != nil || !opened.ExpiresAt.Equal(e.Clock.Now().Add(180*24*time.Hour)) || !e.hasSession(t) {
		t.Fatalf("%+v, %v", opened, err)
	}
	_, err = e.login(t, second, sca.Proof{Code: "123456"})
	apptest.WantFault(t, "twice", err, fault.InvalidInput, "challengeId")

	e.Clock.Advance(180 * 24 * time.Hour)
	if e.hasSession(t) {
		t.Error("the session does not end")
	}
}

func TestLogin_LatestChallengeCountsWhateverTheClock(t *testing.T) {
	t.Parallel()
	// A process whose clock is behind replaces the challenge of one whose clock is ahead.
	e := newEnv(t)
	first := e.startLogin(t, sca.SMSOTP)
	e.Clock.Advance(-2 * time.Second)
	second := e.startLogin(t, sca.SMSOTP)
	_, err := e.login(t, first, sca.Proof{Code: "123456"})
	apptest.WantFault(t, "a replaced challenge", err, fault.InvalidInput, "challengeId")
	if _, err := e.login(t, second, sca.Proof{Code: "123456"}); err != nil {
		t.Errorf("the latest challenge: %v", err)
	}
}

func TestLogin_NeedsItsRegion(t *testing.T) {
	t.Parallel()
	// A customer of another region has nothing to do with it, and neither has one that is deleted or does not exist.
	e := newEnv(t)
	bob := e.newCustomer("Bob", "US")
	_, err := e.StartLogin(t.Context(), e.Platform.ID, nil, bob.ID, sca.SMSOTP)
	apptest.WantFault(t, "another region", err, fault.Conflict)
	_, err = e.Factors(t.Context(), e.Platform.ID, bob.ID)
	apptest.WantFault(t, "factors", err, fault.Conflict)
	_, err = e.Factors(t.Context(), e.Platform.ID, ident.NewCustomer(e.IDs.New, apptest.Noon))
	apptest.WantFault(t, "unknown", err, fault.UserNotFound)
	_, err = e.StartLogin(t.Context(), e.Platform.ID, nil, e.ana.ID, sca.Passkey)
	apptest.WantFault(t, "a factor that is not enrolled", err, fault.Conflict)
}

func TestLogin_WrongCodesLockAtTheSameTime(t *testing.T) {
	t.Parallel()
	// Of many wrong codes at the same time five are judged, and the fifth locks for 15 minutes: also the right code is not accepted then.
	e := newEnv(t)
	asked := e.startLogin(t, sca.SMSOTP)
	var judged, locked atomic.Int32
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			switch _, err := e.login(t, asked, sca.Proof{Code: fmt.Sprintf("%06d", i)}); {
			case fault.Is(err, fault.InvalidInput):
				judged.Add(1)
			case fault.Is(err, fault.AccountLocked):
				locked.Add(1)
			default:
				t.Errorf("code %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	if judged.Load() != 5 || locked.Load() != 7 {
		t.Errorf("%d judged, %d locked", judged.Load(), locked.Load())
	}
	_, err := e.login(t, e.startLogin(t, sca.SMSOTP), sca.Proof{Code: "123456"})
	apptest.WantFault(t, "the right code", err, fault.AccountLocked)
	e.Clock.Advance(15 * time.Minute)
	if _, err := e.login(t, e.startLogin(t, sca.SMSOTP), sca.Proof{Code: "123456"}); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

func TestRecordEvent_SuspendsUntilTheReset(t *testing.T) {
	t.Parallel()
	// Each failed login that is recorded counts, of a locked customer too. The ninth suspends, until the password is reset or an operator
	// lifts it. A reset ends the sessions.
	e := newEnv(t)
	if _, err := e.login(t, e.startLogin(t, sca.SMSOTP), sca.Proof{Code: "123456"}); err != nil {
		t.Fatal(err)
	}
	record := func(event string) (sca.Account, error) {
		return e.RecordEvent(t.Context(), e.Platform.ID, nil, e.ana.ID, event)
	}
	for i := range 9 {
		counted, err := record(authentication.FailedLogin)
		if i < 5 && (err != nil || counted.Failures.Total() != i+1) || i >= 5 && !fault.Is(err, fault.AccountLocked) {
			t.Errorf("failure %d: %+v, %v", i+1, counted, err)
		}
		if refused, _ := fault.As(err); i == 8 && refused.Details["suspended"] != true {
			t.Errorf("the ninth: %+v", refused.Details)
		}
	}
	e.Clock.Advance(1000 * time.Hour)
	_, err := e.login(t, e.startLogin(t, sca.SMSOTP), sca.Proof{Code: "123456"})
	apptest.WantFault(t, "suspended", err, fault.AccountLocked)
	if !e.hasSession(t) {
		t.Error("the lock has ended the session")
	}
	if cleared, err := record(authentication.PasswordReset); err != nil || cleared.Failures.Total() != 0 || e.hasSession(t) {
		t.Errorf("reset: %+v, %v, session %t", cleared, err, e.hasSession(t))
	}
	for range 9 {
		_, _ = record(authentication.FailedLogin)
	}
	if err := e.Unlock(t.Context(), e.Platform.ID, e.ana.ID, platform.Author{Actor: "ana"}); err != nil {
		t.Fatal(err)
	}
	if counted, err := record(authentication.FailedLogin); err != nil || counted.Failures.Total() != 1 {
		t.Errorf("after the operator: %+v, %v", counted, err)
	}
	if got := e.QueryStrings(`SELECT action || ' ' || subject FROM operator_actions WHERE action = 'DECIDE_SCA'`); len(got) != 1 ||
		got[0] != "DECIDE_SCA unlocked" {
		t.Errorf("recorded %q", got)
	}
}

func TestTOTP_EnrollAndUse(t *testing.T) {
	t.Parallel()
	// Only the secret that was made last can be confirmed, with a code of it. Its codes and recovery codes open sessions, each once. A
	// second one is refused until the first is deleted, which ends its sessions.
	e := newEnv(t)
	ctx, p, id := t.Context(), e.Platform.ID, e.ana.ID
	start := func() authentication.Enrollment {
		t.Helper()
		started, err := e.Enroll(ctx, p, nil, id, sca.TOTP)
		if err != nil {
			t.Fatal(err)
		}
		return started
	}
	code := func(secret string) string {
		t.Helper()
		text, err := totp.GenerateCode(secret, e.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	confirm := func(secret, code string) (authentication.Enrolled, error) {
		return e.Confirm(ctx, p, nil, id, authentication.Confirmation{Factor: sca.TOTP, Secret: secret, Code: code})
	}
	replaced, started := start(), start()
	_, err := confirm(replaced.TOTPSecret, code(replaced.TOTPSecret))
	apptest.WantFault(t, "a replaced secret", err, fault.InvalidInput, "secret")
	_, err = confirm(started.TOTPSecret, "000000")
	apptest.WantFault(t, "a wrong code", err, fault.InvalidInput, "code")
	enrolled, err := confirm(started.TOTPSecret, code(started.TOTPSecret))
	if err != nil || len(enrolled.RecoveryCodes) != 10 {
		t.Fatalf("%+v, %v", enrolled, err)
	}
	_, err = e.Enroll(ctx, p, nil, id, sca.TOTP)
	apptest.WantFault(t, "a second one", err, fault.Conflict)

	asked := e.startLogin(t, sca.TOTP)
	_, err = e.login(t, asked, sca.Proof{Code: code(started.TOTPSecret)})
	apptest.WantFault(t, "the code of the enrollment", err, fault.InvalidInput, "code")
	e.Clock.Advance(time.Minute)
	for _, text := range []string{code(started.TOTPSecret), enrolled.RecoveryCodes[3]} {
		if _, err := e.login(t, asked, sca.Proof{Code: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		_, err := e.login(t, asked, sca.Proof{Code: text})
		apptest.WantFault(t, "twice", err, fault.InvalidInput, "code")
	}
	if err := e.DeleteFactor(ctx, p, nil, id, enrolled.ID); err != nil || e.hasSession(t) {
		t.Errorf("%v, session %t", err, e.hasSession(t))
	}
	apptest.WantFault(t, "again", e.DeleteFactor(ctx, p, nil, id, enrolled.ID), fault.CredentialNotFound)
}

func TestPasskey_EnrollAndUse(t *testing.T) {
	t.Parallel()
	// A passkey is enrolled once, for the challenge that was made for it, and signs the challenge of a login.
	e := newEnv(t)
	ctx, p, id := t.Context(), e.Platform.ID, e.ana.ID
	started, err := e.Enroll(ctx, p, nil, id, sca.Passkey)
	if err != nil {
		t.Fatal(err)
	}
	origin := started.Passkey.Origins[0]
	data := func(ceremony wallet.Ceremony, options map[string]any) string {
		return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":%q}`, ceremony, options["challenge"],
			origin))
	}
	made := authentication.Confirmation{Factor: sca.Passkey, Origin: origin, Attestation: wallet.Attestation{CredentialID: "KEbWNCc7",
		ClientDataJSON: data(wallet.CreatePasskey, started.Passkey.Options)}}
	elsewhere := made
	elsewhere.Origin = "https://elsewhere.example"
	_, err = e.Confirm(ctx, p, nil, id, elsewhere)
	apptest.WantFault(t, "another origin", err, fault.InvalidInput, "origin")
	if _, err := e.Confirm(ctx, p, nil, id, made); err != nil {
		t.Fatal(err)
	}
	_, err = e.Enroll(ctx, p, nil, id, sca.Passkey)
	apptest.WantFault(t, "a second one", err, fault.PasskeyAlreadyEnrolled)

	asked := e.startLogin(t, sca.Passkey)
	signed := sca.Proof{Origin: origin, Assertion: wallet.Assertion{CredentialID: "KEbWNCc7", Signature: "sandbox-valid-passkey-signature",
		ClientDataJSON: data(wallet.GetPasskey, asked.Passkey.Options)}}
	wrong := signed
	wrong.Assertion.Signature = "AA"
	_, err = e.login(t, asked, wrong)
	apptest.WantFault(t, "another signature", err, fault.InvalidInput, "passkeyAssertion")
	if _, err := e.login(t, asked, signed); err != nil || !e.hasSession(t) {
		t.Errorf("%v", err)
	}
}

func TestReset_PassesChangesThePhoneAndEndsSessions(t *testing.T) {
	t.Parallel()
	// A reset is completed once the customer has passed the check. That of SMS_OTP needs the new number, which the customer then verifies;
	// all sessions end. The sixth in 24 hours is refused.
	e := newEnv(t)
	ctx, p, id := t.Context(), e.Platform.ID, e.ana.ID
	if _, err := e.login(t, e.startLogin(t, sca.SMSOTP), sca.Proof{Code: "123456"}); err != nil {
		t.Fatal(err)
	}
	started, err := e.StartReset(ctx, p, nil, id, sca.SMSOTP)
	if err != nil || started.Status != sca.ResetInitiated {
		t.Fatalf("%+v, %v", started, err)
	}
	complete := func(number string) error { return e.CompleteReset(ctx, p, nil, id, started.ID, number) }
	apptest.WantFault(t, "before the check", complete("+491709999999"), fault.InvalidInput)
	e.Clock.Advance(5 * time.Second)
	if read, err := e.Reset(ctx, p, id, started.ID); err != nil || read.Status != sca.ResetLivenessPassed {
		t.Errorf("%+v, %v", read, err)
	}
	apptest.WantFault(t, "without a number", complete(""), fault.InvalidInput, "mobile")
	apptest.WantFault(t, "with a bad number", complete("+4"), fault.InvalidInput, "mobile.number")
	if err := complete("+491709999999"); err != nil || e.hasSession(t) {
		t.Fatalf("%v, session %t", err, e.hasSession(t))
	}
	apptest.WantFault(t, "twice", complete("+491709999999"), fault.Conflict)
	if read, err := e.Reset(ctx, p, id, started.ID); err != nil || read.Status != sca.ResetCompleted || read.Enrolled {
		t.Errorf("%+v, %v", read, err)
	}
	if changed, err := e.Store.Customer(ctx, p, id); err != nil || changed.PhoneNumber != "+491709999999" || changed.VerifiedPhone() != "" {
		t.Errorf("%+v, %v", changed, err)
	}
	for range 4 {
		if _, err := e.StartReset(ctx, p, nil, id, sca.TOTP); err != nil {
			t.Fatal(err)
		}
	}
	_, err = e.StartReset(ctx, p, nil, id, sca.TOTP)
	apptest.WantFault(t, "the sixth", err, fault.RateLimited)
	bob := e.newCustomer("Bob", "DE")
	_, err = e.Reset(ctx, p, bob.ID, started.ID)
	apptest.WantFault(t, "that of another customer", err, fault.ReferenceNotFound)
}

func TestReset_EndsWhatTheFactorOfBeforeCouldDo(t *testing.T) {
	t.Parallel()
	// A reset of SMS_OTP with the number of before asks for its verification all the same. It ends a login that was started and another reset
	// that had passed, and clears the failures of the factor, but not those of others.
	e := newEnv(t)
	ctx, p, id := t.Context(), e.Platform.ID, e.ana.ID
	begun := e.startLogin(t, sca.SMSOTP)
	if _, err := e.login(t, begun, sca.Proof{Code: "000000"}); !fault.Is(err, fault.InvalidInput) {
		t.Fatal(err)
	}
	if _, err := e.RecordEvent(ctx, p, nil, id, authentication.FailedLogin); err != nil {
		t.Fatal(err)
	}
	first, err := e.StartReset(ctx, p, nil, id, sca.SMSOTP)
	second, errSecond := e.StartReset(ctx, p, nil, id, sca.SMSOTP)
	if err != nil || errSecond != nil {
		t.Fatal(err, errSecond)
	}
	e.Clock.Advance(5 * time.Second)
	if err := e.CompleteReset(ctx, p, nil, id, first.ID, e.ana.PhoneNumber); err != nil {
		t.Fatal(err)
	}

	if changed, err := e.Store.Customer(ctx, p, id); err != nil || changed.VerifiedPhone() != "" {
		t.Errorf("still verified: %+v, %v", changed.Contacts, err)
	}
	apptest.WantFault(t, "the other reset", e.CompleteReset(ctx, p, nil, id, second.ID, e.ana.PhoneNumber), fault.Conflict)
	if _, err := e.login(t, begun, sca.Proof{Code: "123456"}); err == nil || e.hasSession(t) {
		t.Errorf("the login that was started: %v", err)
	}
	if counted, err := e.RecordEvent(ctx, p, nil, id, authentication.FailedLogin); err != nil || counted.Failures.SMS != 0 ||
		counted.Failures.Logins != 2 {
		t.Errorf("counted %+v, %v", counted.Failures, err)
	}
}

func TestRecordEvent_ResetEndsALoginThatWasStarted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	begun := e.startLogin(t, sca.SMSOTP)
	if _, err := e.RecordEvent(t.Context(), e.Platform.ID, nil, e.ana.ID, authentication.PasswordReset); err != nil {
		t.Fatal(err)
	}
	if _, err := e.login(t, begun, sca.Proof{Code: "123456"}); !fault.Is(err, fault.InvalidInput) || e.hasSession(t) {
		t.Errorf("%v, session %t", err, e.hasSession(t))
	}
}

func TestReset_WaitsForAnOperator(t *testing.T) {
	t.Parallel()
	// What waits for a review is listed, and an operator decides it once.
	e := newEnv(t)
	ctx, p := t.Context(), e.Platform.ID
	carl, by := e.newCustomer("Carl 001", "DE"), platform.Author{Actor: "ana"}
	started, err := e.StartReset(ctx, p, nil, carl.ID, sca.TOTP)
	if err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(5 * time.Second)
	if waiting, err := e.ResetsToDecide(ctx, p); err != nil || len(waiting) != 1 || waiting[0].ID != started.ID {
		t.Errorf("%+v, %v", waiting, err)
	}
	if decided, err := e.DecideReset(ctx, p, started.ID, true, by); err != nil || decided.Status != sca.ResetLivenessPassed {
		t.Errorf("%+v, %v", decided, err)
	}
	_, err = e.DecideReset(ctx, p, started.ID, false, by)
	apptest.WantFault(t, "again", err, fault.Conflict)
	if waiting, err := e.ResetsToDecide(ctx, p); err != nil || len(waiting) != 0 {
		t.Errorf("%+v, %v", waiting, err)
	}
}
