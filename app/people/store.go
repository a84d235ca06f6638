package people

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Store reads people.
type Store interface {
	ports.UnitsOfWork
	// Platform returns a platform, or NOT_FOUND.
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// People returns everybody, in the order of the addresses.
	People(ctx context.Context) ([]person.Person, error)
	// PersonByEmail returns the person with a normalized address, or NOT_FOUND.
	PersonByEmail(ctx context.Context, email string) (person.Person, error)
	// PersonByIdentity returns the person with an identity at a provider, or NOT_FOUND.
	PersonByIdentity(ctx context.Context, i person.Identity) (person.Person, error)
	// IdentityOf returns who a person is for a provider; zero if it has signed in at none.
	IdentityOf(ctx context.Context, id ident.Person) (person.Identity, error)
	// PasskeysOf returns the passkeys of a person, the oldest first.
	PasskeysOf(ctx context.Context, id ident.Person) ([]person.Passkey, error)
	// Passkey returns the passkey with an id, or person.ErrPasskey.
	Passkey(ctx context.Context, id []byte) (person.Passkey, error)
	// FactorsOf returns what a person signs in with; zero if it has chosen nothing yet.
	FactorsOf(ctx context.Context, id ident.Person) (person.Factors, error)
	// SessionWithPerson returns the session with the hash of a secret and its person, or person.ErrNoSession.
	SessionWithPerson(ctx context.Context, secret person.SecretHash) (person.Session, person.Person, error)
	// SignInRequest returns the request of the command line with a code, or person.ErrSignInRequest.
	SignInRequest(ctx context.Context, code string) (person.SignInRequest, error)
	// PeopleInProduction reports whether there is a production platform, and whether somebody can sign in.
	PeopleInProduction(ctx context.Context) (isProduction, canSignIn bool, err error)
	// SessionsOf returns the sessions of a person, the last used first, also those that have ended and were not deleted yet.
	SessionsOf(ctx context.Context, id ident.Person) ([]person.Session, error)
	// PeopleSessions and PeopleFactors return those of everybody, in the order of SessionsOf.
	PeopleSessions(ctx context.Context) ([]person.Session, error)
	PeopleFactors(ctx context.Context) ([]person.Factors, error)
	// PeopleSignIns returns of everybody the passkeys, whether a provider knows it, and the last sign-in.
	PeopleSignIns(ctx context.Context) (map[ident.Person]person.Account, error)
	// LinkedPerson returns the link with the hash of a token and its person, or person.ErrLink.
	LinkedPerson(ctx context.Context, token person.SecretHash) (person.Link, person.Person, error)
}

// Tx changes people.
type Tx interface {
	// CreatePerson inserts a person, or returns person.Exists.
	CreatePerson(ctx context.Context, p person.Person) error
	// LockPerson returns a person, locked for an update, or NOT_FOUND.
	LockPerson(ctx context.Context, id ident.Person) (person.Person, error)
	// LockPersonByEmail is LockPerson by the normalized address.
	LockPersonByEmail(ctx context.Context, email string) (person.Person, error)
	UpdatePerson(ctx context.Context, p person.Person) error
	// LockFactors returns what a person signs in with, locked; zero if it has chosen nothing yet.
	LockFactors(ctx context.Context, id ident.Person) (person.Factors, error)
	SaveFactors(ctx context.Context, f person.Factors) error
	// DeleteFactors deletes what a person signs in with, also its passkeys and identity, and its links and challenges that were not used.
	DeleteFactors(ctx context.Context, id ident.Person) error
	CreatePersonLink(ctx context.Context, l person.Link) error
	// LockPersonLink returns a link, locked, or person.ErrLink.
	LockPersonLink(ctx context.Context, token person.SecretHash) (person.Link, error)
	UpdatePersonLink(ctx context.Context, l person.Link) error
	CreateSignInRequest(ctx context.Context, r person.SignInRequest) error
	// LockSignInRequest returns a request of the command line, locked, or person.ErrSignInRequest.
	LockSignInRequest(ctx context.Context, code string) (person.SignInRequest, error)
	DeleteSignInRequest(ctx context.Context, code string) error
	CreatePersonSession(ctx context.Context, s person.Session) error
	// LockPersonSession returns a session, locked, or person.ErrNoSession.
	LockPersonSession(ctx context.Context, secret person.SecretHash) (person.Session, error)
	UpdatePersonSession(ctx context.Context, s person.Session) error
	// ConfirmPersonSession updates what the provider has confirmed in a session.
	ConfirmPersonSession(ctx context.Context, s person.Session) error
	// NamePersonSessionDevice updates what the browser of a session says of itself.
	NamePersonSessionDevice(ctx context.Context, s person.Session) error
	// LockIdentityOf is IdentityOf for a person that is locked.
	LockIdentityOf(ctx context.Context, id ident.Person) (person.Identity, error)
	// CreateIdentity inserts an identity, or returns person.ErrProvider if there is another one of it or of the person.
	CreateIdentity(ctx context.Context, i person.Identity, of ident.Person) error
	// LockPasskeysOf is PasskeysOf, locked.
	LockPasskeysOf(ctx context.Context, id ident.Person) ([]person.Passkey, error)
	// LockPasskey is Passkey, locked.
	LockPasskey(ctx context.Context, id []byte) (person.Passkey, error)
	// CreatePasskey inserts a passkey, or returns person.ErrPasskey if there is one with its id.
	CreatePasskey(ctx context.Context, k person.Passkey) error
	UpdatePasskey(ctx context.Context, k person.Passkey) error
	DeletePasskey(ctx context.Context, id []byte) error
	CreateChallenge(ctx context.Context, c person.Challenge) error
	// LockChallenge returns a challenge, locked, or person.ErrChallenge.
	LockChallenge(ctx context.Context, hash person.SecretHash) (person.Challenge, error)
	DeleteChallenge(ctx context.Context, hash person.SecretHash) error
	// DeletePersonSession deletes one session; none is no error.
	DeletePersonSession(ctx context.Context, secret person.SecretHash) error
	// DeletePersonSessions deletes all sessions of a person.
	DeletePersonSessions(ctx context.Context, id ident.Person) error
	// DeleteOtherPersonSessions deletes all sessions of a person but one.
	DeleteOtherPersonSessions(ctx context.Context, id ident.Person, kept person.SecretHash) error
	// LockSignInAttempts returns the attempts that are counted by a hash, such as that of an address, locked also if there were none.
	LockSignInAttempts(ctx context.Context, address person.SecretHash) (person.Attempts, error)
	SaveSignInAttempts(ctx context.Context, address person.SecretHash, a person.Attempts) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
	// RecordOperatorRefusal records why an action was refused that was recorded before, or in the same unit of work.
	RecordOperatorRefusal(ctx context.Context, p ident.Platform, action uuid.UUID, reason string, at time.Time) error
}
