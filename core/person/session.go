package person

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Link is a link that a person opens once: to choose a password and a second factor or, if it signs in, to work at once.
type Link struct {
	TokenHash SecretHash
	Person    ident.Person
	// SignsIn: its session needs no password. Only the service on the machine of a developer makes such links.
	SignsIn   bool
	CreatedAt time.Time
	ExpiresAt time.Time
	OpenedAt  time.Time // zero until it is opened
}

// LinkLifetime is how long a link can be opened.
const LinkLifetime = 24 * time.Hour

// NewLink returns a link for a person. Fault: CONFLICT for one who is disabled.
func NewLink(p Person, token SecretHash, signsIn bool, now time.Time) (Link, error) {
	if p.Status == Disabled {
		return Link{}, errDisabled
	}
	return Link{TokenHash: token, Person: p.ID, SignsIn: signsIn, CreatedAt: now, ExpiresAt: now.Add(LinkLifetime)}, nil
}

// Open returns the link after it was opened. Fault: CONFLICT for one that was opened or has expired.
func (l Link) Open(now time.Time) (Link, error) {
	if !l.OpenedAt.IsZero() || !now.Before(l.ExpiresAt) {
		return l, ErrLink
	}
	l.OpenedAt = now
	return l, nil
}

// ErrLink is the fault of a link that cannot be opened, for whatever reason.
var ErrLink = &fault.Error{Code: fault.Conflict, Reason: "Link not valid", Message: "This link was opened already, has expired or never " +
	"existed. Ask an administrator for a new one."}

// Session is the time that a person works after it has signed in, with one browser.
type Session struct {
	TokenHash SecretHash
	Person    ident.Person
	// Setup: the person may do nothing but choose its password and second factor.
	Setup bool
	// CommandLine: the session is that of the command line, and no browser continues it.
	CommandLine bool
	// SingleSignOn: the provider of single sign-on has begun it.
	SingleSignOn bool
	// Device is what the browser or the command line says of itself; empty if it says nothing.
	Device string
	// ConfirmedAction is the page whose form the provider of single sign-on has confirmed the person for, once, until ConfirmedUntil.
	ConfirmedAction string
	ConfirmedUntil  time.Time
	CreatedAt       time.Time
	LastUsedAt      time.Time // correct to a minute
	ExpiresAt       time.Time
}

const (
	// IdleLifetime is how long a session lives without a request.
	IdleLifetime = 12 * time.Hour
	// SessionLifetime is how long a session lives at most.
	SessionLifetime = 7 * 24 * time.Hour
	// SetupLifetime is how long a session of a link that does not sign in lives.
	SetupLifetime = time.Hour
	// useInterval is how exactly the last use of a session is kept.
	useInterval = time.Minute
)

// NewSession returns the session of a person who has signed in with its factors.
func NewSession(token SecretHash, p ident.Person, now time.Time) Session {
	return Session{TokenHash: token, Person: p, CreatedAt: now, LastUsedAt: now, ExpiresAt: now.Add(SessionLifetime)}
}

// NewSessionOfLink returns the session of a person who has opened a link.
func NewSessionOfLink(token SecretHash, l Link, now time.Time) Session {
	s := NewSession(token, l.Person, now)
	if !l.SignsIn {
		s.Setup, s.ExpiresAt = true, now.Add(SetupLifetime)
	}
	return s
}

// Use returns the session after a request, and whether its last use is to be stored. Fault: UNAUTHORIZED if it has ended.
func (s Session) Use(now time.Time) (used Session, store bool, err error) {
	if !s.goesOn(now) {
		return s, false, ErrNoSession
	}
	if now.Sub(s.LastUsedAt) < useInterval {
		return s, false, nil
	}
	s.LastUsedAt = now
	return s, true, nil
}

// goesOn reports whether a session has not ended.
func (s Session) goesOn(now time.Time) bool {
	return now.Before(s.ExpiresAt) && now.Sub(s.LastUsedAt) < IdleLifetime
}

// ErrNoSession is the fault of a request without a session, or with one that has ended.
var ErrNoSession = &fault.Error{
	Code:    fault.Unauthorized,
	Reason:  "Not signed in",
	Message: "You are not signed in, or your session has ended.",
}

// ConfirmFor returns the session after the provider of single sign-on has confirmed the person for the form of a page.
func (s Session) ConfirmFor(action string, now time.Time) Session {
	s.ConfirmedAction, s.ConfirmedUntil = action, now.Add(ConfirmedLifetime)
	return s
}

// IsConfirmedFor reports whether the form of a page needs no further confirmation.
func (s Session) IsConfirmedFor(action string, now time.Time) bool {
	return action != "" && s.ConfirmedAction == action && now.Before(s.ConfirmedUntil)
}

// UseConfirmation returns the session without its confirmation for the form of a page, and whether it had one.
func (s Session) UseConfirmation(action string, now time.Time) (Session, bool) {
	if !s.IsConfirmedFor(action, now) {
		return s, false
	}
	s.ConfirmedAction, s.ConfirmedUntil = "", time.Time{}
	return s, true
}
