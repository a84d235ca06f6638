// Package people invites the people who work with the service, gives them roles, and signs them in.
//
// It knows no page and no cookie: a session is a secret that the caller keeps. What people may see is decided by core/person.
package people

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Verifier makes and checks what people sign in with.
type Verifier interface {
	// HashPassword returns the hash of a password. It takes time and memory on purpose.
	HashPassword(password string) (string, error)
	// CheckPassword reports whether a hash is that of a password. For an empty hash it takes as long, and reports false.
	CheckPassword(hash, password string) (bool, error)
	// IsGuessable reports whether a password is one that many people choose, or that is tried early.
	IsGuessable(password string) bool
	// NewTOTPSecret returns a secret for the second factor, in base32.
	NewTOTPSecret() string
	// TOTPStep returns the step of time of a code, or false if it is the code of no step near now.
	TOTPStep(secret, code string, now time.Time) (int64, bool)
}

// Config holds what the use cases need. Those of the last three fields that are nil are not offered.
type Config struct {
	Store    Store
	Verifier Verifier
	Clock    ports.Clock
	IDs      ports.IDs

	Passkeys Passkeys
	Provider Provider
	// RoleMapping gives those who sign in at the provider their roles; nil if the invitation does.
	RoleMapping person.RoleMapping
}

// Service implements the use cases.
type Service struct {
	Config
	hashing chan struct{}
}

// maxHashing is the number of passwords that are hashed at the same time, each with 19 MiB of memory.
const maxHashing = 2

// New returns the use cases.
func New(c Config) *Service { return &Service{Config: c, hashing: make(chan struct{}, maxHashing)} }

// IssuedLink is a new link with its token, which is not stored.
type IssuedLink struct {
	person.Link
	Person person.Person
	Token  string
}

// Invite creates a person, and a link with which it chooses its password. by is who invites. Faults: INVALID_INPUT, CONFLICT
// for an address that is invited.
func (s *Service) Invite(ctx context.Context, email, name string, grants []person.Grant, by platform.Author) (IssuedLink, error) {
	now := s.Clock.Now()
	invited, err := person.New(ident.NewPerson(s.IDs.New, now), email, name, grants, now)
	if err = s.checkPlatforms(ctx, grants, err); err != nil {
		return IssuedLink{}, err
	}
	return s.create(ctx, invited, false, by)
}

// checkPlatforms adds the roles for platforms that do not exist to what else is invalid.
func (s *Service) checkPlatforms(ctx context.Context, grants []person.Grant, invalid error) error {
	f, isFault := fault.As(invalid)
	if invalid != nil && (!isFault || f.Code != fault.InvalidInput) {
		return invalid
	}
	var bad party.Problems
	if isFault {
		bad.Fields = slices.Clone(f.Fields)
	}
	for _, g := range grants {
		if g.Platform.IsZero() {
			continue
		}
		switch _, err := s.Store.Platform(ports.ForAllPlatforms(ctx), g.Platform); {
		case fault.Is(err, fault.NotFound):
			bad.Add("roles", g.String()+" is of no platform; list them with `causeway platform list`")
		case err != nil:
			return err
		}
	}
	return bad.Err()
}

func (s *Service) create(ctx context.Context, p person.Person, signsIn bool, by platform.Author) (issued IssuedLink, err error) {
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		if err := tx.CreatePerson(ctx, p); err != nil {
			return err
		}
		if issued, err = s.newLink(ctx, tx, p, signsIn); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.OperatorInvitedPerson, p, "as "+person.GrantTexts(p.Grants), by,
			person.Changed(person.Person{}, p)...)
	})
	return issued, err
}

// Developer returns a link that signs in the administrator of a service on the machine of a developer, who is created if there
// is nobody yet. Fault: CONFLICT if there are others and no such administrator, or it is disabled.
func (s *Service) Developer(ctx context.Context) (IssuedLink, error) {
	const email = "administrator@sandbox.test"
	everybody, err := s.List(ctx)
	if err != nil {
		return IssuedLink{}, err
	}
	if slices.ContainsFunc(everybody, func(p person.Person) bool { return p.Email == email }) {
		return s.link(ctx, email, platform.Author{Actor: email}, true)
	}
	if len(everybody) > 0 {
		return IssuedLink{}, &fault.Error{Code: fault.Conflict, Reason: "Not a database of a developer", Message: "People work with this " +
			"database already, so nobody is signed in without a password. Invite yourself with `causeway people invite`."}
	}
	now := s.Clock.Now()
	administrator, err := person.New(ident.NewPerson(s.IDs.New, now), email, "Administrator",
		[]person.Grant{{Role: person.Administrator}}, now)
	if err == nil {
		administrator, err = administrator.Activate(now)
	}
	if err != nil {
		return IssuedLink{}, err
	}
	issued, err := s.create(ctx, administrator, true, platform.Author{Actor: email})
	if fault.Is(err, fault.Conflict) { // another process has created it meanwhile
		return s.link(ctx, email, platform.Author{Actor: email}, true)
	}
	return issued, err
}

// NewLink returns a link with which a person chooses its password again, and ends what it signs in with until now. It also
// enables a person who is disabled. Fault: NOT_FOUND.
func (s *Service) NewLink(ctx context.Context, email string, by platform.Author) (IssuedLink, error) {
	return s.link(ctx, email, by, false)
}

func (s *Service) link(ctx context.Context, email string, by platform.Author, signsIn bool) (issued IssuedLink, err error) {
	err = s.change(ctx, email, func(ctx context.Context, tx Tx, p person.Person) error {
		now, before := s.Clock.Now(), p
		if !signsIn {
			p = p.Enable(now) // also one who signs in at the provider, which may be why it needs a link
			if err := s.signOutEverywhere(ctx, tx, p); err != nil {
				return err
			}
		} else if p, err = p.Activate(now); err != nil {
			return err
		}
		if err := tx.UpdatePerson(ctx, p); err != nil {
			return err
		}
		if issued, err = s.newLink(ctx, tx, p, signsIn); err != nil || signsIn {
			return err
		}
		return s.record(ctx, tx, platform.OperatorLinkedPerson, p, "who was "+string(before.Status), by, person.Changed(before, p)...)
	})
	return issued, err
}

func (s *Service) signOutEverywhere(ctx context.Context, tx Tx, p person.Person) error {
	if err := tx.DeleteFactors(ctx, p.ID); err != nil {
		return err
	}
	return tx.DeletePersonSessions(ctx, p.ID)
}

func (s *Service) newLink(ctx context.Context, tx Tx, p person.Person, signsIn bool) (IssuedLink, error) {
	token, hash := newSecret()
	link, err := person.NewLink(p, hash, signsIn, s.Clock.Now())
	if err != nil {
		return IssuedLink{}, err
	}
	return IssuedLink{link, p, token}, tx.CreatePersonLink(ctx, link)
}

// SetGrants replaces the roles of a person, from its next request on. Faults: NOT_FOUND, INVALID_INPUT without a role.
func (s *Service) SetGrants(ctx context.Context, email string, grants []person.Grant, by platform.Author) (changed person.Person,
	err error) {
	if err := s.checkPlatforms(ctx, grants, nil); err != nil {
		return person.Person{}, err
	}
	err = s.change(ctx, email, func(ctx context.Context, tx Tx, p person.Person) error {
		if changed, err = p.WithGrants(grants, s.Clock.Now()); err != nil {
			return err
		}
		if err := tx.UpdatePerson(ctx, changed); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.OperatorChangedRoles, changed, "from "+person.GrantTexts(p.Grants)+" to "+
			person.GrantTexts(changed.Grants), by, person.Changed(p, changed)...)
	})
	return changed, err
}

// Disable ends all sessions of a person, who cannot sign in until it is given a new link. Fault: NOT_FOUND.
func (s *Service) Disable(ctx context.Context, email string, by platform.Author) (disabled person.Person, err error) {
	err = s.change(ctx, email, func(ctx context.Context, tx Tx, p person.Person) error {
		disabled = p.Disable(s.Clock.Now())
		if err := s.signOutEverywhere(ctx, tx, disabled); err != nil {
			return err
		}
		if err := tx.UpdatePerson(ctx, disabled); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.OperatorDisabledPerson, disabled, "", by, person.Changed(p, disabled)...)
	})
	return disabled, err
}

// List returns everybody.
func (s *Service) List(ctx context.Context) ([]person.Person, error) {
	return s.Store.People(ports.ForAllPlatforms(ctx))
}

// change calls fn with a person, locked.
func (s *Service) change(ctx context.Context, email string, fn func(context.Context, Tx, person.Person) error) error {
	if email = person.NormalizeEmail(email); !person.IsEmail(email) {
		return person.NotFound(email)
	}
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := tx.LockPersonByEmail(ctx, email)
		if err != nil {
			return err
		}
		return fn(ctx, tx, p)
	})
}

// do runs a unit of work. People belong to no platform.
func (s *Service) do(ctx context.Context, fn func(context.Context, Tx) error) error {
	return ports.Do(ports.ForAllPlatforms(ctx), s.Store, fn)
}

func (s *Service) record(ctx context.Context, tx Tx, kind platform.OperatorActionKind, p person.Person, what string,
	by platform.Author, changes ...diff.Field) error {
	by, err := by.Parsed()
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	name := p.Email
	if what != "" {
		name += " " + what
	}
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Kind: kind, Subject: p.ID.UUID(), Name: name,
		Actor: by.Actor, Person: by.Person, At: now, Changes: changes})
}

// itself returns a person as the author of what it does.
func itself(p person.Person) platform.Author { return platform.Author{Actor: p.Email, Person: p.ID} }

// newSecret returns a secret of 256 random bits and its hash.
func newSecret() (text string, hash person.SecretHash) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return person.NewSecret(random)
}

// RecordViewed records that a person is about to see personal data of what is on a platform in full. Fault: FORBIDDEN if it may not.
func (s *Service) RecordViewed(ctx context.Context, p person.Person, of ident.Platform, subject uuid.UUID, what string) error {
	if err := p.Check(person.ViewPersonalData, of); err != nil {
		return err
	}
	_, err := s.RecordAction(ctx, p, platform.OperatorAction{Platform: of, Kind: platform.PersonViewedData, Subject: subject, Name: what})
	return err
}

// RecordAction records that a person is about to do something that records nobody itself, and returns the record.
func (s *Service) RecordAction(ctx context.Context, p person.Person, a platform.OperatorAction) (platform.OperatorAction, error) {
	a = s.actionOf(p, a)
	return a, s.do(ctx, func(ctx context.Context, tx Tx) error { return tx.RecordOperatorAction(ctx, a) })
}

// RecordRefused records that what a person was about to do was refused, and why: an action that RecordAction has recorded, or a new one.
func (s *Service) RecordRefused(ctx context.Context, p person.Person, a platform.OperatorAction, reason string) error {
	isNew := a.ID == uuid.Nil
	if isNew {
		a = s.actionOf(p, a)
	}
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		if isNew {
			if err := tx.RecordOperatorAction(ctx, a); err != nil {
				return err
			}
		}
		return tx.RecordOperatorRefusal(ctx, a.Platform, a.ID, reason, s.Clock.Now())
	})
}

func (s *Service) actionOf(p person.Person, a platform.OperatorAction) platform.OperatorAction {
	a.At, a.Actor, a.Person = s.Clock.Now(), p.Email, p.ID
	a.ID = s.IDs.New(a.At)
	return a
}
