package people

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// SignedIn is a person with its session.
type SignedIn struct {
	person.Session
	Person person.Person
	// Secret continues the session. Only what begins one returns it; it is not stored.
	Secret string
}

// Linked returns whose link a token opens, without opening it. Fault: CONFLICT if it cannot be opened.
func (s *Service) Linked(ctx context.Context, token string) (person.Person, error) {
	hash, ok := person.ParseSecret(token)
	if !ok {
		return person.Person{}, person.ErrLink
	}
	link, p, err := s.Store.LinkedPerson(ports.ForAllPlatforms(ctx), hash)
	if err == nil {
		_, err = link.Open(s.Clock.Now())
	}
	if err != nil {
		return person.Person{}, err
	}
	return p, nil
}

// OpenLink begins the session of a link, which is opened once. Fault: CONFLICT if it cannot be opened.
func (s *Service) OpenLink(ctx context.Context, token string) (in SignedIn, err error) {
	hash, ok := person.ParseSecret(token)
	if !ok {
		return in, person.ErrLink
	}
	now := s.Clock.Now()
	secret, sessionHash := newSecret()
	_, linked, err := s.Store.LinkedPerson(ports.ForAllPlatforms(ctx), hash)
	if err != nil {
		return in, err
	}
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		// The person first, as what ends its links does.
		p, err := tx.LockPerson(ctx, linked.ID)
		if err != nil {
			return err
		}
		link, err := tx.LockPersonLink(ctx, hash)
		if err != nil {
			return err
		}
		if link, err = link.Open(now); err != nil {
			return err
		}
		if p.Status == person.Disabled {
			return person.ErrLink
		}
		in = SignedIn{person.NewSessionOfLink(sessionHash, link, now), p, secret}
		if err := tx.UpdatePersonLink(ctx, link); err != nil {
			return err
		}
		if err := tx.CreatePersonSession(ctx, in.Session); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonSignedIn, p, "with a link", itself(p))
	})
	return in, err
}

// Setup is what a person chooses.
type Setup struct {
	Password string
	// TOTPSecret is the secret that the person has entered in its application, from NewTOTPSecret, and Code a code of it.
	TOTPSecret, Code string
}

// NewTOTPSecret returns a secret for the second factor of a person, which it has to give back with a code.
func (s *Service) NewTOTPSecret() string { return s.Verifier.NewTOTPSecret() }

// SetUp stores what the person of a session of a link chooses, ends its sessions, and begins one in which it may work. It
// returns the recovery codes, which are shown once. Faults: UNAUTHORIZED without a session, CONFLICT for a person who signs in already,
// INVALID_INPUT with every invalid field.
func (s *Service) SetUp(ctx context.Context, secret string, r Setup) (in SignedIn, recovery []string, err error) {
	now := s.Clock.Now()
	current, err := s.Session(ctx, secret)
	if err != nil {
		return in, nil, err
	}
	var bad party.Problems
	s.checkPassword(&bad, current.Person, r.Password)
	step, ok := s.Verifier.TOTPStep(r.TOTPSecret, r.Code, now)
	if !ok {
		bad.Add("code", notTheCode)
	}
	if bad.Err() != nil {
		return in, nil, bad.Err()
	}
	factors := person.Factors{Person: current.Person.ID, TOTPSecret: r.TOTPSecret, TOTPStep: step, UpdatedAt: now}
	if err := s.hash(ctx, func() (err error) {
		factors.PasswordHash, err = s.Verifier.HashPassword(r.Password)
		return err
	}); err != nil {
		return in, nil, err
	}
	factors.RecoveryCodes = newRecoveryCodes()
	newText, newHash := newSecret()
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := tx.LockPerson(ctx, current.Person.ID)
		if err != nil {
			return err
		}
		present, err := lockAccount(ctx, tx, p)
		if err != nil {
			return err
		}
		if err := present.CheckSetUp(current.Session); err != nil {
			return err
		}
		// A new link, or who has disabled the person, may have ended the session since it was read.
		if _, err := tx.LockPersonSession(ctx, current.TokenHash); err != nil {
			return err
		}
		if p, err = p.Activate(now); err != nil {
			return err
		}
		if err := tx.UpdatePerson(ctx, p); err != nil {
			return err
		}
		if err := tx.SaveFactors(ctx, factors); err != nil {
			return err
		}
		if err := tx.DeletePersonSessions(ctx, p.ID); err != nil {
			return err
		}
		in = SignedIn{person.NewSession(newHash, p.ID, now), p, newText}
		if err := tx.CreatePersonSession(ctx, in.Session); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonSetUp, p, "", itself(p))
	})
	return in, factors.RecoveryCodes, err
}

// SignIn begins a session. code is one of the second factor or a recovery code. Faults: UNAUTHORIZED, which says not what was
// wrong; RATE_LIMITED after many failures with the same address.
func (s *Service) SignIn(ctx context.Context, email, password, code string) (in SignedIn, err error) {
	if email = person.NormalizeEmail(email); !person.IsEmail(email) {
		return in, person.ErrSignIn // nobody can have it, so that there is nothing to count
	}
	address, err := s.countAttempt(ctx, sha256.Sum256([]byte(email)))
	if err != nil {
		return in, err
	}
	found, err := s.Store.PersonByEmail(ports.ForAllPlatforms(ctx), email)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return in, err
	}
	factors, err := s.Store.FactorsOf(ports.ForAllPlatforms(ctx), found.ID)
	if err != nil {
		return in, err
	}
	var right bool
	if err := s.hash(ctx, func() (err error) {
		right, err = s.Verifier.CheckPassword(factors.PasswordHash, password)
		return err
	}); err != nil {
		return in, err
	}
	if !right {
		return in, person.ErrSignIn
	}
	secret, hash := newSecret()
	var isWrongCode bool
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := tx.LockPerson(ctx, found.ID)
		if err != nil {
			return err
		}
		locked, err := tx.LockFactors(ctx, p.ID)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if p.Status != person.Active || locked.PasswordHash != factors.PasswordHash {
			return person.ErrSignIn
		}
		used, how, ok := s.useCode(locked, code)
		if isWrongCode = !ok; isWrongCode { // somebody else may know the password
			if err := s.record(ctx, tx, platform.PersonFailedSignIn, p, "with a wrong code", itself(p)); err != nil {
				return err
			}
			return s.countWrongCode(ctx, tx, p, locked)
		}
		if err := tx.SaveFactors(ctx, used); err != nil {
			return err
		}
		if err := s.checkLocal(ctx, tx, p); err != nil {
			return err
		}
		if err := tx.SaveSignInAttempts(ctx, address, person.Attempts{LastAt: now}); err != nil {
			return err
		}
		in = SignedIn{person.NewSession(hash, p.ID, now), p, secret}
		if err := tx.CreatePersonSession(ctx, in.Session); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonSignedIn, p, how, itself(p))
	})
	if err == nil && isWrongCode {
		err = person.ErrSignIn
	}
	return in, err
}

// countAttempt counts an attempt with an address or passkey, or to confirm with a code, before it is known whether it succeeds, in a commit
// of its own. of is what the attempts are counted by, which it returns. Fault: RATE_LIMITED.
func (s *Service) countAttempt(ctx context.Context, of person.SecretHash) (person.SecretHash, error) {
	return of, s.do(ctx, func(ctx context.Context, tx Tx) error {
		attempts, err := tx.LockSignInAttempts(ctx, of)
		if err != nil {
			return err
		}
		if attempts, err = attempts.Count(s.Clock.Now()); err != nil {
			return err
		}
		return tx.SaveSignInAttempts(ctx, of, attempts)
	})
}

// Confirmation is with what a person confirms that it is still the one who works.
type Confirmation struct {
	// Action is the path of the page whose form is confirmed. What a passkey or the provider confirms holds for no other one.
	Action string
	// Code is one of the second factor or a recovery code.
	Code string
	// Passkey is what a browser has answered to AskForConfirmation; empty for none.
	Passkey []byte
}

// NeedsNoCode reports whether Confirm takes no code, see person.Account.
func (s *Service) NeedsNoCode(ctx context.Context, in SignedIn) (bool, error) {
	a, err := s.account(ctx, in.Person)
	return err == nil && a.NeedsNoCode(in.Session), err
}

// Confirm checks, before a person moves money or gives rights, that it is still the person who works: by the provider that has begun its
// session, with a passkey, or with a code, unless the person has nothing to confirm with. Faults: UNAUTHORIZED, CONFLICT, RATE_LIMITED.
func (s *Service) Confirm(ctx context.Context, in SignedIn, by Confirmation) error {
	if had, err := s.useProviderConfirmation(ctx, in, by.Action); err != nil || had {
		return err
	}
	if len(by.Passkey) > 0 {
		return s.confirmWithPasskey(ctx, in, by.Action, by.Passkey)
	}
	a, err := s.account(ctx, in.Person)
	switch {
	case err != nil:
		return err
	case a.NeedsNoCode(in.Session):
		// Who was given a new link meanwhile has lost its factors and its sessions at once.
		_, _, err := s.Store.SessionWithPerson(ports.ForAllPlatforms(ctx), in.TokenHash)
		return err
	case !a.HasPassword:
		return person.ErrConfirmAtProvider
	}
	attempts, err := s.countAttempt(ctx, confirmationAttempts(in.Person.ID))
	if err != nil {
		return err
	}
	var refused error
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		refused = nil
		locked, err := tx.LockFactors(ctx, in.Person.ID)
		if err != nil {
			return err
		}
		used, _, ok := s.useCode(locked, by.Code)
		if !ok {
			if refused = person.ErrCode; !locked.AcceptsCodes(s.Clock.Now()) {
				refused = person.ErrCodesLocked
			}
			return s.countWrongCode(ctx, tx, in.Person, locked)
		}
		if err := tx.SaveFactors(ctx, used); err != nil {
			return err
		}
		return tx.SaveSignInAttempts(ctx, attempts, person.Attempts{LastAt: s.Clock.Now()})
	})
	return cmp.Or(err, refused)
}

// confirmationAttempts is what the codes are counted by with which a person confirms. It is no e-mail address, so that nobody who tries
// passwords delays a confirmation, and a confirmation gives nobody more of those attempts.
func confirmationAttempts(p ident.Person) person.SecretHash {
	return sha256.Sum256([]byte("confirmation " + p.String()))
}

// countWrongCode stores that a code of a person was wrong.
func (s *Service) countWrongCode(ctx context.Context, tx Tx, p person.Person, f person.Factors) error {
	if f.PasswordHash == "" { // a new link was made meanwhile
		return nil
	}
	counted, isLast := f.CountWrongCode(s.Clock.Now())
	if err := tx.SaveFactors(ctx, counted); err != nil || !isLast {
		return err
	}
	return s.record(ctx, tx, platform.PersonLockedCodes, p, fmt.Sprintf("after %d wrong codes", counted.WrongCodes), itself(p))
}

// useCode returns the factors after a code was used, what kind of code it was, and whether it is right.
func (s *Service) useCode(f person.Factors, code string) (used person.Factors, how string, ok bool) {
	now := s.Clock.Now()
	if person.IsRecoveryCode(code) {
		used, ok = f.UseRecoveryCode(code, now)
		return used, "with a recovery code", ok
	}
	step, ok := s.Verifier.TOTPStep(f.TOTPSecret, code, now)
	if !ok || !f.AcceptsCodes(now) {
		return f, "", false
	}
	used, ok = f.UseTOTPStep(step, now)
	return used, "", ok
}

// hash runs what hashes a password when few others do, so that many attempts at once do not take all memory.
func (s *Service) hash(ctx context.Context, do func() error) error {
	select {
	case s.hashing <- struct{}{}:
	case <-ctx.Done():
		return fault.New(fault.ServiceUnavailable, "Many people sign in just now. Try again.")
	}
	defer func() { <-s.hashing }()
	return do()
}

// Session returns the session of a browser with a secret, and its person. Fault: UNAUTHORIZED if it has ended.
func (s *Service) Session(ctx context.Context, secret string) (SignedIn, error) {
	return s.session(ctx, secret, false)
}

func (s *Service) session(ctx context.Context, secret string, commandLine bool) (SignedIn, error) {
	hash, ok := person.ParseSecret(secret)
	if !ok {
		return SignedIn{}, person.ErrNoSession
	}
	session, p, err := s.Store.SessionWithPerson(ports.ForAllPlatforms(ctx), hash)
	if err != nil {
		return SignedIn{}, err
	}
	used, store, err := session.Use(s.Clock.Now())
	if err == nil && (p.Status == person.Disabled || used.CommandLine != commandLine) {
		err = person.ErrNoSession
	}
	if err == nil && store {
		err = s.do(ctx, func(ctx context.Context, tx Tx) error { return tx.UpdatePersonSession(ctx, used) })
	}
	if err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Session: used, Person: p}, nil
}

// SignOut ends a session. A session that has ended is no error.
func (s *Service) SignOut(ctx context.Context, secret string) error {
	hash, ok := person.ParseSecret(secret)
	if !ok {
		return nil
	}
	return s.do(ctx, func(ctx context.Context, tx Tx) error { return tx.DeletePersonSession(ctx, hash) })
}
