package people

import (
	"context"
	"crypto/rand"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Requested is a request of the command line with its secret, which is not stored.
type Requested struct {
	person.SignInRequest
	Secret string
}

// RequestSignIn stores a request of the command line, which a person approves in the console.
func (s *Service) RequestSignIn(ctx context.Context, from string) (r Requested, err error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	secret, hash := newSecret()
	r = Requested{person.NewSignInRequest(person.NewSignInCode(random), hash, from, s.Clock.Now()), secret}
	return r, s.do(ctx, func(ctx context.Context, tx Tx) error { return tx.CreateSignInRequest(ctx, r.SignInRequest) })
}

// SignInRequest returns the request with a code that a person has typed. Fault: CONFLICT if there is none that can be approved.
func (s *Service) SignInRequest(ctx context.Context, text string) (r person.SignInRequest, err error) {
	code, err := person.ParseSignInCode(text)
	if err != nil {
		return r, err
	}
	if r, err = s.Store.SignInRequest(ports.ForAllPlatforms(ctx), code); err != nil {
		return r, err
	}
	return r, r.Check(s.Clock.Now())
}

// ApproveSignIn begins the session that a request of the command line waits for, as the person of a session, once. The caller has
// confirmed who the person is. Faults: CONFLICT, UNAUTHORIZED.
func (s *Service) ApproveSignIn(ctx context.Context, in SignedIn, text string) error {
	return s.endSignInRequest(ctx, text, func(ctx context.Context, tx Tx, r person.SignInRequest) error {
		p, err := tx.LockPerson(ctx, in.Person.ID)
		if err != nil {
			return err
		}
		if _, err := tx.LockPersonSession(ctx, in.TokenHash); err != nil { // it may have ended since
			return err
		}
		if p.Status != person.Active || in.Setup {
			return person.ErrNoSession
		}
		if err := tx.CreatePersonSession(ctx, r.Approve(p.ID, s.Clock.Now())); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonSignedIn, p, "on the command line of "+r.From, itself(p))
	})
}

// RefuseSignIn ends a request of the command line. Fault: CONFLICT if there is none.
func (s *Service) RefuseSignIn(ctx context.Context, text string) error {
	return s.endSignInRequest(ctx, text, func(context.Context, Tx, person.SignInRequest) error { return nil })
}

func (s *Service) endSignInRequest(ctx context.Context, text string, end func(context.Context, Tx, person.SignInRequest) error) error {
	code, err := person.ParseSignInCode(text)
	if err != nil {
		return err
	}
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		r, err := tx.LockSignInRequest(ctx, code)
		if err != nil {
			return err
		}
		if err := r.Check(s.Clock.Now()); err != nil {
			return err
		}
		if err := end(ctx, tx, r); err != nil {
			return err
		}
		return tx.DeleteSignInRequest(ctx, code)
	})
}

// AwaitSignIn returns the session of a request, or false while nobody has decided about it. Fault: CONFLICT if it was refused or has
// expired.
func (s *Service) AwaitSignIn(ctx context.Context, r Requested) (in SignedIn, signedIn bool, err error) {
	// The request first: one that is approved is deleted in the commit that begins the session.
	_, err = s.SignInRequest(ctx, r.Code)
	if err == nil {
		return in, false, nil
	}
	if !fault.Is(err, fault.Conflict) {
		return in, false, err
	}
	in, sessionErr := s.CommandLine(ctx, r.Secret)
	if fault.Is(sessionErr, fault.Unauthorized) {
		return in, false, err
	}
	return in, sessionErr == nil, sessionErr
}

// CommandLine returns the session of the command line with a secret, and its person. Fault: UNAUTHORIZED if it has ended.
func (s *Service) CommandLine(ctx context.Context, secret string) (SignedIn, error) {
	return s.session(ctx, secret, true)
}

// Command is a command that changes something, or shows personal data.
type Command struct {
	// Name is the words of the command, such as "rails set".
	Name string
	// Actor is the name that the operator gives, or has on the machine. IsNamed: the operator gives it.
	Actor   string
	IsNamed bool
	// Secret is that of the session of the command line; empty without.
	Secret string
	// Platform is the one that the command names; zero for none.
	Platform ident.Platform
}

// Acting returns who runs a command: the person who has signed in on the command line or, without, the name that the operator gives.
// On a service with a production platform somebody has to have signed in, from when one person can; the others are those of
// person.CommandsWithoutPerson, and each is recorded. Faults: UNAUTHORIZED, CONFLICT, INVALID_INPUT for the name, FORBIDDEN for a person
// whose roles do not allow the command.
func (s *Service) Acting(ctx context.Context, c Command) (platform.Author, error) {
	if c.Secret != "" {
		by, err := s.actingPerson(ctx, c)
		if !fault.Is(err, fault.Unauthorized) { // a session that has ended is none
			return by, err
		}
	}
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return platform.Author{}, err
	}
	by := platform.Author{Actor: actor}
	isProduction, canSignIn, err := s.Store.PeopleInProduction(ports.ForAllPlatforms(ctx))
	switch {
	case err != nil:
		return by, err
	case !isProduction:
		return by, nil
	case canSignIn && person.NeedsPerson(c.Name):
		return by, person.ErrNotSignedIn
	}
	return by, s.recordActedAlone(ctx, c, by)
}

// recordActedAlone records a command that nobody would have been allowed to run if it were not one of person.CommandsWithoutPerson.
func (s *Service) recordActedAlone(ctx context.Context, c Command, by platform.Author) error {
	now := s.Clock.Now()
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Kind: platform.OperatorActedAlone, Name: c.Name,
			Actor: by.Actor, Person: by.Person, At: now})
	})
}

func (s *Service) actingPerson(ctx context.Context, c Command) (by platform.Author, err error) {
	in, err := s.CommandLine(ctx, c.Secret)
	if err != nil {
		return by, err
	}
	if c.IsNamed && person.NormalizeEmail(c.Actor) != in.Person.Email {
		return by, fault.Invalid(fault.Field{Field: "actor", Message: "must be left out: you have signed in as " + in.Person.Email +
			", which is recorded. Sign out with `causeway logout`"})
	}
	if person.NeedsRecentSignIn(c.Name) {
		if err := in.CheckRecent(s.Clock.Now()); err != nil {
			return by, err
		}
	}
	by = platform.Author{Actor: in.Person.Email, Person: in.Person.ID}
	if err = in.Person.CheckCommand(c.Name, c.Platform); err != nil && !person.NeedsPerson(c.Name) {
		return by, s.recordActedAlone(ctx, c, by) // one who signs out runs it too
	}
	return by, err
}
