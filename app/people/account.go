package people

import (
	"context"
	"crypto/rand"
	"strings"

	"causeway/core/fault"
	"causeway/core/party"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Account returns how the person of a session signs in, and its sessions. The last sign-in is not read.
func (s *Service) Account(ctx context.Context, in SignedIn) (a person.Account, err error) {
	if a, err = s.account(ctx, in.Person); err != nil {
		return a, err
	}
	sessions, err := s.Store.SessionsOf(ports.ForAllPlatforms(ctx), in.Person.ID)
	for _, session := range sessions {
		a = a.WithSession(session, s.Clock.Now())
	}
	return a, err
}

// account returns how a person signs in.
func (s *Service) account(ctx context.Context, p person.Person) (a person.Account, err error) {
	ctx = ports.ForAllPlatforms(ctx)
	factors, err := s.Store.FactorsOf(ctx, p.ID)
	if err != nil {
		return a, err
	}
	passkeys, err := s.Store.PasskeysOf(ctx, p.ID)
	if err != nil {
		return a, err
	}
	identity, err := s.Store.IdentityOf(ctx, p.ID)
	return accountOf(p, factors, passkeys, identity), err
}

// lockAccount is account for a person that is locked.
func lockAccount(ctx context.Context, tx Tx, p person.Person) (a person.Account, err error) {
	factors, err := tx.LockFactors(ctx, p.ID)
	if err != nil {
		return a, err
	}
	passkeys, err := tx.LockPasskeysOf(ctx, p.ID)
	if err != nil {
		return a, err
	}
	identity, err := tx.LockIdentityOf(ctx, p.ID)
	return accountOf(p, factors, passkeys, identity), err
}

func accountOf(p person.Person, f person.Factors, passkeys []person.Passkey, i person.Identity) person.Account {
	return person.Account{Person: p, Passkeys: len(passkeys), HasProvider: i != (person.Identity{})}.WithFactors(f)
}

// Accounts returns how everybody signs in, in the order of the addresses.
func (s *Service) Accounts(ctx context.Context) ([]person.Account, error) {
	ctx = ports.ForAllPlatforms(ctx)
	everybody, err := s.Store.People(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.PeopleSignIns(ctx)
	if err != nil {
		return nil, err
	}
	factors, err := s.Store.PeopleFactors(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range factors {
		found[f.Person] = found[f.Person].WithFactors(f)
	}
	sessions, err := s.Store.PeopleSessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		found[session.Person] = found[session.Person].WithSession(session, s.Clock.Now())
	}
	all := make([]person.Account, len(everybody))
	for i, p := range everybody {
		all[i] = found[p.ID]
		all[i].Person = p
	}
	return all, nil
}

// NameDevice stores what the browser of a session that has just begun says of itself.
func (s *Service) NameDevice(ctx context.Context, in SignedIn, device string) error {
	return s.do(ctx, func(ctx context.Context, tx Tx) error { return tx.NamePersonSessionDevice(ctx, in.On(device)) })
}

// EndSession ends another session of the person of a session, which has confirmed it. NOT_FOUND: it is none of its own.
func (s *Service) EndSession(ctx context.Context, in SignedIn, token person.SecretHash) error {
	return s.ofItself(ctx, in, platform.PersonEndedSessions, func(ctx context.Context, tx Tx, p person.Person) (string, error) {
		ended, err := tx.LockPersonSession(ctx, token)
		if fault.Is(err, fault.Unauthorized) || err == nil && ended.Person != p.ID {
			err = person.ErrNoSuchSession
		}
		if err != nil {
			return "", err
		}
		return strings.TrimSpace("one " + ended.Device), tx.DeletePersonSession(ctx, token)
	})
}

// EndOtherSessions ends all sessions of the person of a session but this one. The person has confirmed it.
func (s *Service) EndOtherSessions(ctx context.Context, in SignedIn) error {
	return s.ofItself(ctx, in, platform.PersonEndedSessions, func(ctx context.Context, tx Tx, p person.Person) (string, error) {
		return "all others", tx.DeleteOtherPersonSessions(ctx, p.ID, in.TokenHash)
	})
}

// ChangePassword replaces the password of the person of a session, which has confirmed it, and ends its other sessions. Faults:
// INVALID_INPUT with every invalid field, CONFLICT for a person without a password.
func (s *Service) ChangePassword(ctx context.Context, in SignedIn, current, password string) error {
	present, err := s.Store.FactorsOf(ports.ForAllPlatforms(ctx), in.Person.ID)
	if err != nil {
		return err
	}
	if present.PasswordHash == "" {
		return person.ErrNoPassword
	}
	var bad party.Problems
	var hash string
	if err := s.hash(ctx, func() error {
		right, err := s.Verifier.CheckPassword(present.PasswordHash, current)
		if err == nil && !right {
			bad.Add("current", "is not your password")
		}
		if s.checkPassword(&bad, in.Person, password); err != nil || bad.Err() != nil {
			return err
		}
		hash, err = s.Verifier.HashPassword(password)
		return err
	}); err != nil {
		return err
	}
	if bad.Err() != nil {
		return bad.Err()
	}
	change := func(ctx context.Context, tx Tx, f person.Factors) (person.Factors, error) {
		if f.PasswordHash != present.PasswordHash { // it was changed meanwhile
			return f, person.ErrChallenge
		}
		if err := tx.DeleteOtherPersonSessions(ctx, in.Person.ID, in.TokenHash); err != nil {
			return f, err
		}
		return f.WithPassword(hash, s.Clock.Now())
	}
	return s.changeFactors(ctx, in, platform.PersonChangedPassword, change)
}

// ReplaceAuthenticator replaces the application for codes of the person of a session, which has confirmed it. secret is from
// NewTOTPSecret, and code one of it. Faults: INVALID_INPUT, CONFLICT for a person without one.
func (s *Service) ReplaceAuthenticator(ctx context.Context, in SignedIn, secret, code string) error {
	step, ok := s.Verifier.TOTPStep(secret, code, s.Clock.Now())
	if !ok {
		return fault.Invalid(fault.Field{Field: "new-code", Message: notTheCode})
	}
	change := func(_ context.Context, _ Tx, f person.Factors) (person.Factors, error) {
		return f.WithTOTP(secret, step, s.Clock.Now())
	}
	return s.changeFactors(ctx, in, platform.PersonReplacedAuthenticator, change)
}

// RenewRecoveryCodes replaces the recovery codes of the person of a session, which has confirmed it, and returns the new ones, which are
// shown once. Fault: CONFLICT for a person without an application for codes.
func (s *Service) RenewRecoveryCodes(ctx context.Context, in SignedIn) ([]string, error) {
	codes := newRecoveryCodes()
	change := func(_ context.Context, _ Tx, f person.Factors) (person.Factors, error) {
		return f.WithRecoveryCodes(codes, s.Clock.Now())
	}
	return codes, s.changeFactors(ctx, in, platform.PersonRenewedRecoveryCodes, change)
}

// changeFactors stores what change makes of the factors of the person of a session.
func (s *Service) changeFactors(ctx context.Context, in SignedIn, kind platform.OperatorActionKind,
	change func(context.Context, Tx, person.Factors) (person.Factors, error)) error {
	return s.ofItself(ctx, in, kind, func(ctx context.Context, tx Tx, p person.Person) (string, error) {
		factors, err := tx.LockFactors(ctx, p.ID)
		if err != nil {
			return "", err
		}
		if factors, err = change(ctx, tx, factors); err != nil {
			return "", err
		}
		return "", tx.SaveFactors(ctx, factors)
	})
}

// ofItself runs and records what the person of a session does to its own account. do returns what is recorded beside its address.
func (s *Service) ofItself(ctx context.Context, in SignedIn, kind platform.OperatorActionKind,
	do func(context.Context, Tx, person.Person) (string, error)) error {
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := s.lockWorking(ctx, tx, in)
		if err != nil {
			return err
		}
		what, err := do(ctx, tx, p)
		if err != nil {
			return err
		}
		return s.record(ctx, tx, kind, p, what, itself(p))
	})
}

// notTheCode is what is wrong with a code of an application that is not that of its key.
const notTheCode = "must be the code that your application shows now"

// checkPassword adds what is wrong with a password that a person chooses.
func (s *Service) checkPassword(bad *party.Problems, p person.Person, password string) {
	if problem := person.CheckPassword(password, p.Email, p.Name); problem != "" {
		bad.Add("password", problem)
	} else if s.Verifier.IsGuessable(password) {
		bad.Add("password", person.GuessablePassword)
	}
}

func newRecoveryCodes() []string {
	var random [person.RecoveryCodes * 10]byte
	_, _ = rand.Read(random[:]) // never fails
	return person.NewRecoveryCodes(random)
}
