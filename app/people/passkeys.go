package people

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Passkeys speaks WebAuthn with browsers. What it asks for and is answered is JSON, as WebAuthn level 3 writes it. The challenge is that
// of the answer: who calls has given it, and takes it once.
type Passkeys interface {
	// AskToCreate returns what a browser needs to make a passkey of a person, other than the existing ones.
	AskToCreate(p person.Person, challenge string, existing []person.Passkey) ([]byte, error)
	// AskToSign returns what a browser needs to sign a challenge: with one of these passkeys, or with any that it has.
	AskToSign(challenge string, with []person.Passkey) ([]byte, error)
	// Read returns the challenge and the id of the passkey of an answer, of which nothing was checked.
	Read(answer []byte) (challenge string, id []byte, err error)
	// Created returns the passkey that an answer has made, whose authenticator has verified the person.
	Created(p person.Person, answer []byte) (person.Passkey, error)
	// Check returns the counter of an answer that a passkey has signed, whose authenticator has verified the person.
	Check(key person.Passkey, answer []byte) (counter uint32, err error)
}

// HasPasskeys reports whether the service can use passkeys.
func (s *Service) HasPasskeys() bool { return s.Passkeys != nil }

// PasskeysOf returns the passkeys of a person, the oldest first.
func (s *Service) PasskeysOf(ctx context.Context, p person.Person) ([]person.Passkey, error) {
	return s.Store.PasskeysOf(ports.ForAllPlatforms(ctx), p.ID)
}

// AskForSignIn returns what a browser needs to sign in with a passkey, whosever it is.
func (s *Service) AskForSignIn(ctx context.Context) ([]byte, error) {
	if !s.HasPasskeys() {
		return nil, person.ErrNoPasskeys
	}
	challenge, err := s.challenge(ctx, person.PasskeySignIn, SignedIn{}, "")
	if err != nil {
		return nil, err
	}
	return s.Passkeys.AskToSign(challenge, nil)
}

// AskForConfirmation returns what a browser needs to confirm, with a passkey of the person of a session, the form of one page. Fault:
// CONFLICT for a person without passkeys.
func (s *Service) AskForConfirmation(ctx context.Context, in SignedIn, action string) ([]byte, error) {
	keys, err := s.PasskeysOf(ctx, in.Person)
	if err != nil {
		return nil, err
	}
	if !s.HasPasskeys() || len(keys) == 0 {
		return nil, person.ErrNoPasskeys
	}
	challenge, err := s.challenge(ctx, person.PasskeyConfirmation, in, action)
	if err != nil {
		return nil, err
	}
	return s.Passkeys.AskToSign(challenge, keys)
}

// AskForPasskey returns what a browser needs to make a passkey of the person of a session, who confirms that it is the one. Faults: those
// of Confirm; CONFLICT for one who has too many.
func (s *Service) AskForPasskey(ctx context.Context, in SignedIn, by Confirmation) ([]byte, error) {
	existing, err := s.PasskeysOf(ctx, in.Person)
	switch {
	case err != nil:
		return nil, err
	case !s.HasPasskeys():
		return nil, person.ErrNoPasskeys
	}
	if err := person.CheckAddPasskey(existing); err != nil {
		return nil, err
	}
	if err := s.Confirm(ctx, in, by); err != nil {
		return nil, err
	}
	challenge, err := s.challenge(ctx, person.PasskeyRegistration, in, "")
	if err != nil {
		return nil, err
	}
	return s.Passkeys.AskToCreate(in.Person, challenge, existing)
}

// AddPasskey stores the passkey that a browser has made for the person of a session. Faults: INVALID_INPUT for the name, CONFLICT,
// UNAUTHORIZED.
func (s *Service) AddPasskey(ctx context.Context, in SignedIn, name string, answer []byte) (k person.Passkey, err error) {
	if name, err = person.ParsePasskeyName(name); err != nil {
		return k, err
	}
	if _, err = s.takeAnswer(ctx, person.PasskeyRegistration, in, answer); err != nil {
		return k, err
	}
	if k, err = s.Passkeys.Created(in.Person, answer); err != nil {
		return k, err
	}
	k.Person, k.Name, k.CreatedAt = in.Person.ID, name, s.Clock.Now()
	return k, s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := s.lockWorking(ctx, tx, in)
		if err != nil {
			return err
		}
		existing, err := tx.LockPasskeysOf(ctx, p.ID)
		if err != nil {
			return err
		}
		if err := person.CheckAddPasskey(existing); err != nil {
			return err
		}
		if err := tx.CreatePasskey(ctx, k); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonAddedPasskey, p, k.Name, itself(p))
	})
}

// RemovePasskey removes a passkey of the person of a session, which has confirmed it. NOT_FOUND: it is none of its own.
func (s *Service) RemovePasskey(ctx context.Context, in SignedIn, id []byte) error {
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := s.lockWorking(ctx, tx, in)
		if err != nil {
			return err
		}
		existing, err := tx.LockPasskeysOf(ctx, p.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(existing, func(k person.Passkey) bool { return bytes.Equal(k.ID, id) })
		if i < 0 {
			return person.ErrNoSuchPasskey
		}
		if err := tx.DeletePasskey(ctx, id); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonRemovedPasskey, p, existing[i].Name, itself(p))
	})
}

// lockWorking locks the person of a session, which may have ended since it was read.
func (s *Service) lockWorking(ctx context.Context, tx Tx, in SignedIn) (person.Person, error) {
	p, err := tx.LockPerson(ctx, in.Person.ID)
	if err != nil {
		return p, err
	}
	if _, err := tx.LockPersonSession(ctx, in.TokenHash); err != nil {
		return p, err
	}
	if p.Status != person.Active || in.Setup {
		return p, person.ErrNoSession
	}
	return p, nil
}

// SignInWithPasskey begins a session of the person whose passkey has answered. Faults: UNAUTHORIZED, which does not say whether there is
// such a passkey; CONFLICT for an answer too late; RATE_LIMITED after many failures with the same passkey.
func (s *Service) SignInWithPasskey(ctx context.Context, answer []byte) (in SignedIn, err error) {
	id, err := s.takeAnswer(ctx, person.PasskeySignIn, SignedIn{}, answer)
	if err != nil {
		return in, err
	}
	attempts, err := s.countAttempt(ctx, passkeyAttempts(id))
	if err != nil {
		return in, err
	}
	found, err := s.Store.Passkey(ports.ForAllPlatforms(ctx), id)
	if err != nil {
		return in, err
	}
	secret, hash := newSecret()
	var refused error
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := tx.LockPerson(ctx, found.Person)
		if err != nil {
			return err
		}
		if p.Status != person.Active {
			return person.ErrPasskey
		}
		if refused, err = s.usePasskey(ctx, tx, p, id, answer); err != nil || refused != nil {
			return err
		}
		if err := s.checkLocal(ctx, tx, p); err != nil {
			return err
		}
		if err := tx.SaveSignInAttempts(ctx, attempts, person.Attempts{LastAt: s.Clock.Now()}); err != nil {
			return err
		}
		in = SignedIn{person.NewSession(hash, p.ID, s.Clock.Now()), p, secret}
		if err := tx.CreatePersonSession(ctx, in.Session); err != nil {
			return err
		}
		return s.record(ctx, tx, platform.PersonSignedIn, p, "with a passkey", itself(p))
	})
	if err == nil {
		err = refused
	}
	return in, err
}

// confirmWithPasskey checks that a passkey of the person of a session has signed the challenge for the form of one page.
func (s *Service) confirmWithPasskey(ctx context.Context, in SignedIn, action string, answer []byte) error {
	asked, id, err := s.takeChallengeOf(ctx, person.PasskeyConfirmation, in, answer)
	if err != nil {
		return err
	}
	if asked.Action != action {
		return person.ErrChallenge
	}
	attempts, err := s.countAttempt(ctx, passkeyAttempts(id))
	if err != nil {
		return err
	}
	var refused error
	err = s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := s.lockWorking(ctx, tx, in)
		if err != nil {
			return err
		}
		if refused, err = s.usePasskey(ctx, tx, p, id, answer); err != nil || refused != nil {
			return err
		}
		return tx.SaveSignInAttempts(ctx, attempts, person.Attempts{LastAt: s.Clock.Now()})
	})
	if err == nil {
		err = refused
	}
	return err
}

// usePasskey checks an answer of a passkey of a person. refused is its fault if there is something to be stored about it.
func (s *Service) usePasskey(ctx context.Context, tx Tx, p person.Person, id, answer []byte) (refused, err error) {
	key, err := tx.LockPasskey(ctx, id)
	if err != nil {
		return nil, err
	}
	if key.Person != p.ID {
		return nil, person.ErrPasskey
	}
	counter, err := s.Passkeys.Check(key, answer)
	if err != nil {
		return nil, err
	}
	used, isStopped, err := key.Use(counter, s.Clock.Now())
	if err != nil && !isStopped {
		return nil, err
	}
	if err := tx.UpdatePasskey(ctx, used); err != nil || !isStopped {
		return nil, err
	}
	return person.ErrPasskey, s.record(ctx, tx, platform.PersonStoppedPasskey, p, used.Name, itself(p))
}

// passkeyAttempts is what the attempts with a passkey are counted by, also with one that nobody has. It is no e-mail address, so that
// nobody who tries passwords delays a passkey.
func passkeyAttempts(id []byte) person.SecretHash {
	return sha256.Sum256(append([]byte("passkey "), id...))
}

// challenge stores a new challenge for the person of a session, or for who is not signed in, and returns its secret.
func (s *Service) challenge(ctx context.Context, purpose person.Purpose, in SignedIn, action string) (secret string, err error) {
	return s.challengeOf(ctx, purpose, in.Person.ID, in.TokenHash, action)
}

func (s *Service) challengeOf(ctx context.Context, purpose person.Purpose, of ident.Person, holder person.SecretHash,
	action string) (secret string, err error) {
	secret, hash := newSecret()
	c, err := person.NewChallenge(hash, purpose, of, holder, action, s.Clock.Now())
	if err != nil {
		return "", err
	}
	return secret, s.do(ctx, func(ctx context.Context, tx Tx) error { return tx.CreateChallenge(ctx, c) })
}

// takeAnswer takes the challenge of an answer, and returns the id of its passkey.
func (s *Service) takeAnswer(ctx context.Context, purpose person.Purpose, in SignedIn, answer []byte) (id []byte, err error) {
	_, id, err = s.takeChallengeOf(ctx, purpose, in, answer)
	return id, err
}

func (s *Service) takeChallengeOf(ctx context.Context, purpose person.Purpose, in SignedIn, answer []byte) (c person.Challenge, id []byte,
	err error) {
	if !s.HasPasskeys() {
		return c, nil, person.ErrNoPasskeys
	}
	secret, id, err := s.Passkeys.Read(answer)
	if err != nil {
		return c, nil, err
	}
	if c, err = s.takeChallenge(ctx, secret); err != nil {
		return c, nil, err
	}
	return c, id, c.Answer(purpose, in.Person.ID, in.TokenHash, s.Clock.Now())
}

// takeChallenge deletes the challenge of a secret, in a commit of its own before anything is checked: it is answered once, rightly or not.
func (s *Service) takeChallenge(ctx context.Context, secret string) (c person.Challenge, err error) {
	hash, ok := person.ParseSecret(secret)
	if !ok {
		return c, person.ErrChallenge
	}
	return c, s.do(ctx, func(ctx context.Context, tx Tx) error {
		if c, err = tx.LockChallenge(ctx, hash); err != nil {
			return err
		}
		return tx.DeleteChallenge(ctx, hash)
	})
}
