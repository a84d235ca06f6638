package people

import (
	"context"
	"crypto/sha256"
	"encoding/base64"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Provider is a provider of single sign-on.
type Provider interface {
	// URL returns where a browser is sent to sign in. anew: the person has to sign in also if the provider knows it already.
	URL(ctx context.Context, f ProviderFlow, anew bool) (string, error)
	// Claims returns what the provider says in exchange for the code with which the browser has come back. Faults: UNAUTHORIZED for an
	// answer that proves nothing, SERVICE_UNAVAILABLE.
	Claims(ctx context.Context, f ProviderFlow, code string) (person.Claims, error)
}

// ProviderFlow is one time that a browser is sent to the provider. All of it is derived from the secret of the browser and the state, so
// nothing of it is stored.
type ProviderFlow struct {
	// State comes back with the browser, Nonce in the token of the provider; Verifier proves to it who exchanges the code (RFC 7636).
	State, Nonce, Verifier string
}

func newFlow(browser, state string) ProviderFlow {
	derive := func(what string) string {
		sum := sha256.Sum256([]byte(what + " " + browser + " " + state))
		return base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return ProviderFlow{State: state, Nonce: derive("nonce"), Verifier: derive("verifier")}
}

// HasSingleSignOn reports whether people can sign in at a provider.
func (s *Service) HasSingleSignOn() bool { return s.Provider != nil }

// NewBrowserSecret returns a secret by which a browser that comes back from the provider is known.
func (s *Service) NewBrowserSecret() string {
	secret, _ := newSecret()
	return secret
}

// BeginSingleSignOn returns the address at which the person in a browser signs in. next is the page that it is led to then.
func (s *Service) BeginSingleSignOn(ctx context.Context, browser, next string) (string, error) {
	return s.beginAtProvider(ctx, person.SingleSignOn, ident.Person{}, browser, next, false)
}

// BeginProviderConfirmation returns the address at which the person of a session signs in again, to confirm the form of a page.
func (s *Service) BeginProviderConfirmation(ctx context.Context, in SignedIn, browser, action string) (string, error) {
	return s.beginAtProvider(ctx, person.ProviderConfirms, in.Person.ID, browser, action, true)
}

func (s *Service) beginAtProvider(ctx context.Context, purpose person.Purpose, of ident.Person, browser, action string,
	anew bool) (string, error) {
	holder, ok := person.ParseSecret(browser)
	if !ok || !s.HasSingleSignOn() {
		return "", person.ErrChallenge
	}
	state, err := s.challengeOf(ctx, purpose, of, holder, action)
	if err != nil {
		return "", err
	}
	return s.Provider.URL(ctx, newFlow(browser, state), anew)
}

// Returned is what a browser that has come back from the provider goes on with.
type Returned struct {
	// SignedIn is the session that begins; nil if the provider has confirmed who the person of a session is.
	SignedIn *SignedIn
	// To is the page that it is led to: the one that was asked for, or whose form is confirmed.
	To string
}

// ReturnFromProvider begins the session of the person who has signed in at the provider, or keeps with the session of in that its person
// has signed in there again, which confirms the form of one page, once and for a few minutes. in is zero without a session. One whom
// nobody has invited is created if the claim with roles gives it one. Faults: UNAUTHORIZED, CONFLICT, SERVICE_UNAVAILABLE.
func (s *Service) ReturnFromProvider(ctx context.Context, in SignedIn, browser, state, code string) (r Returned, err error) {
	holder, ok := person.ParseSecret(browser)
	if !ok || !s.HasSingleSignOn() {
		return r, person.ErrChallenge
	}
	asked, err := s.takeChallenge(ctx, state)
	if err != nil {
		return r, err
	}
	of, finish := ident.Person{}, s.signInAtProvider
	if asked.Purpose == person.ProviderConfirms {
		of, finish = in.Person.ID, func(ctx context.Context, c person.Claims) (*SignedIn, error) {
			return nil, s.confirmAtProvider(ctx, in, c, asked)
		}
	} else if asked.Purpose != person.SingleSignOn {
		return r, person.ErrChallenge
	}
	if err := asked.Answer(asked.Purpose, of, holder, s.Clock.Now()); err != nil {
		return r, err
	}
	c, err := s.Provider.Claims(ctx, newFlow(browser, state), code)
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return r, err
	}
	begun, err := finish(ctx, c)
	return Returned{begun, asked.Action}, err
}

func (s *Service) signInAtProvider(ctx context.Context, c person.Claims) (*SignedIn, error) {
	known, err := s.findBy(ctx, c)
	if err != nil {
		return nil, err
	}
	secret, hash := newSecret()
	var begun SignedIn
	var refused error
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := tx.LockPerson(ctx, known)
		if err != nil {
			return err
		}
		identity, err := tx.LockIdentityOf(ctx, p.ID)
		if err != nil {
			return err
		}
		admitted, err := p.Admit(identity, c, s.RoleMapping, s.Clock.Now())
		if refused = err; refused != nil {
			return s.refuseAtProvider(ctx, tx, p, err)
		}
		if identity == (person.Identity{}) {
			if err := tx.CreateIdentity(ctx, c.Identity, p.ID); err != nil {
				return err
			}
		}
		if err := s.saveAdmitted(ctx, tx, p, admitted); err != nil {
			return err
		}
		begun = SignedIn{person.NewSession(hash, p.ID, s.Clock.Now()), admitted, secret}
		begun.SingleSignOn = true
		if err := tx.CreatePersonSession(ctx, begun.Session); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonSignedIn, p, "with single sign-on", itself(p))
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	return &begun, nil
}

// refuseAtProvider records who was refused although the provider knows it. One who has no role any more works no longer.
func (s *Service) refuseAtProvider(ctx context.Context, tx Tx, p person.Person, why error) error {
	if why == person.ErrNoRole { //nolint:errorlint // the very fault
		if err := tx.DeletePersonSessions(ctx, p.ID); err != nil {
			return err
		}
	}
	f, _ := fault.As(why)
	return s.record(ctx, tx, platform.PersonFailedSignIn, p, "with single sign-on: "+f.Message, itself(p))
}

func (s *Service) saveAdmitted(ctx context.Context, tx Tx, before, p person.Person) error {
	was, is := person.GrantTexts(before.Grants), person.GrantTexts(p.Grants)
	if was == is && p.Status == before.Status {
		return nil
	}
	if err := tx.UpdatePerson(ctx, p); err != nil {
		return err
	}
	if was != is {
		return s.record(ctx, tx, platform.OperatorChangedRoles, p, "from "+was+" to "+is+" by single sign-on", itself(p),
			person.Changed(before, p)...)
	}
	return nil
}

// findBy returns the person of claims: the one who has signed in so before, or else who was invited by its address, or is created.
func (s *Service) findBy(ctx context.Context, c person.Claims) (ident.Person, error) {
	found, err := s.Store.PersonByIdentity(ports.ForAllPlatforms(ctx), c.Identity)
	if err == nil || !fault.Is(err, fault.NotFound) {
		return found.ID, err
	}
	email, err := c.FindBy()
	if err != nil {
		return ident.Person{}, err
	}
	found, err = s.Store.PersonByEmail(ports.ForAllPlatforms(ctx), email)
	if err == nil || !fault.Is(err, fault.NotFound) {
		return found.ID, err
	}
	if s.RoleMapping == nil {
		return ident.Person{}, person.ErrNotInvited
	}
	return s.createFrom(ctx, c, email)
}

func (s *Service) createFrom(ctx context.Context, c person.Claims, email string) (ident.Person, error) {
	grants := s.RoleMapping.Grants(c.Roles)
	if len(grants) == 0 {
		return ident.Person{}, person.ErrNoRole
	}
	now := s.Clock.Now()
	name := c.Name
	if name == "" {
		name = email
	}
	p, err := person.New(ident.NewPerson(s.IDs.New, now), email, name, grants, now)
	if err != nil {
		return ident.Person{}, err
	}
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		if err := tx.CreatePerson(ctx, p); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.OperatorInvitedPerson, p, "as "+person.GrantTexts(p.Grants)+" by single sign-on", itself(p),
			person.Changed(person.Person{}, p)...)
	})
	if fault.Is(err, fault.Conflict) { // another sign-in has created it meanwhile
		p, err = s.Store.PersonByEmail(ports.ForAllPlatforms(ctx), email)
	}
	return p.ID, err
}

func (s *Service) confirmAtProvider(ctx context.Context, in SignedIn, c person.Claims, asked person.Challenge) error {
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := s.lockWorking(ctx, tx, in)
		if err != nil {
			return err
		}
		identity, err := tx.LockIdentityOf(ctx, p.ID)
		if err != nil {
			return err
		}
		if err := c.CheckConfirmation(identity, asked.CreatedAt); err != nil {
			return err
		}
		return tx.ConfirmPersonSession(ctx, in.ConfirmFor(asked.Action, s.Clock.Now()))
	})
}

// IsConfirmed reports whether the form of a page needs no further confirmation, because the provider has given one.
func (s *Service) IsConfirmed(in SignedIn, action string) bool {
	return in.IsConfirmedFor(action, s.Clock.Now())
}

// useProviderConfirmation takes the confirmation of the provider for the form of a page from a session, and reports whether it had one.
func (s *Service) useProviderConfirmation(ctx context.Context, in SignedIn, action string) (had bool, err error) {
	if in.ConfirmedAction != action { // as it was read with this request
		return false, nil
	}
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockPersonSession(ctx, in.TokenHash)
		if err != nil {
			return err
		}
		if locked, had = locked.UseConfirmation(action, s.Clock.Now()); !had {
			return nil
		}
		return tx.ConfirmPersonSession(ctx, locked)
	})
	return had, err
}

// checkLocal returns UNAUTHORIZED for a person who has to sign in at the provider, as long as there is one.
func (s *Service) checkLocal(ctx context.Context, tx Tx, p person.Person) error {
	if !s.HasSingleSignOn() {
		return nil
	}
	identity, err := tx.LockIdentityOf(ctx, p.ID)
	if err == nil && identity != (person.Identity{}) {
		err = person.ErrSignInAtProvider
	}
	return err
}
