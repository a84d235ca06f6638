package wallets

import (
	"context"
	"time"

	"causeway/app/internal/signedrequests"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// OpenedSession is a new session with its private key, sealed to the client's key; or without one that the client has.
type OpenedSession struct {
	wallet.Session
	EncryptedKey string
}

// newSession makes a session of a credential, whose key is that of the client itself if it has shown that it has it. It is stored
// later, in one unit of work with the use of what proved the credential: making keys takes too long for locks.
func (s *Service) newSession(ctx context.Context, w openedWallet, c wallet.Credential, client wallet.ClientKey,
	itself bool) (OpenedSession, error) {
	key := ports.SealedSessionKey{Public: client.SessionKey()}
	if !itself {
		var err error
		if key, err = s.Custody.NewSessionKey(ctx, client); err != nil {
			return OpenedSession{}, err
		}
	}
	now := s.now()
	session := wallet.Session{
		ID: ident.NewSession(s.IDs.New, now), Platform: c.Platform, Account: c.Account, Credential: c.ID, Type: c.Type,
		PublicKey: key.Public, CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(wallet.SessionLifetime),
	}.Of(c)
	certificate, err := s.Custody.Sign(ctx, w.id(), session.Statement())
	session.Certificate = certificate
	return OpenedSession{session, key.Encrypted}, err
}

// readSession returns a session, also one that has ended, with its wallet; or SESSION_NOT_FOUND.
func (s *Service) readSession(ctx context.Context, p ident.Platform, id ident.Session) (wallet.Session, openedWallet, error) {
	session, err := s.Store.WalletSession(ctx, p, id)
	if err != nil {
		return session, openedWallet{}, err
	}
	w, err := s.read(ctx, p, session.Account, "id")
	return session, w, err
}

// RefreshSession opens another session of the same credential, by a request that the session itself signs.
// The session stays as it is. Faults: SESSION_NOT_FOUND, CUSTOMER_DELETED, USER_NOT_READY, UNAUTHORIZED.
func (s *Service) RefreshSession(ctx context.Context, principal platform.Principal, call wallet.Call, request *ports.IdempotentRequest,
	id ident.Session, client wallet.ClientKey) (_ OpenedSession, _ *wallet.SignedRequest, err error) {
	defer func() { err = s.replayed(ctx, request, err) }()
	session, w, err := s.readSession(ctx, principal.Platform, id)
	if err != nil {
		return OpenedSession{}, nil, err
	}
	operation := signedrequests.Operation{Action: w.action(wallet.RefreshSession, session.Type), Environment: principal.Environment, Only: id}
	refused := func(w openedWallet) error {
		if _, err := w.Session(id); err != nil {
			return err
		}
		return w.owner.CheckReady()
	}
	operation.Refused = refused(w)
	if call.Unsigned() {
		issued, err := s.signed.Issue(ctx, request, operation, call)
		return OpenedSession{}, issued, err
	}
	if _, err := s.signed.Check(ctx, operation, call, w.Wallet); err != nil {
		return OpenedSession{}, nil, err
	}
	c, err := w.Credential(session.Credential)
	if err != nil {
		return OpenedSession{}, nil, err
	}
	opened, err := s.newSession(ctx, w, c, client, false)
	if err != nil {
		return OpenedSession{}, nil, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, opened, nil); err != nil {
			return err
		}
		now := s.now()
		locked, err := s.lock(ctx, tx, w, now)
		if err != nil {
			return err
		}
		operation.Refused = refused(locked)
		if _, err := s.signed.Use(ctx, tx, operation, call, locked.Wallet); err != nil {
			return err
		}
		present, err := locked.Credential(c.ID)
		if err != nil {
			return err
		}
		change, err := locked.OpenSession(opened.Session, present, now)
		if err != nil {
			return err
		}
		return tx.SaveWallet(ctx, change)
	})
	return opened, nil, err
}

// RevokeSession ends a session, by a request that it or another session of the wallet signs. Faults:
// SESSION_NOT_FOUND, CUSTOMER_DELETED, UNAUTHORIZED.
func (s *Service) RevokeSession(ctx context.Context, principal platform.Principal, call wallet.Call,
	id ident.Session) (*wallet.SignedRequest, error) {
	session, w, err := s.readSession(ctx, principal.Platform, id)
	if err != nil {
		return nil, err
	}
	operation := signedrequests.Operation{Action: w.action(wallet.RevokeSession, session.Type), Environment: principal.Environment}
	return s.carryOut(ctx, operation, call, w, func(w openedWallet, now time.Time) (wallet.Change, error) { return w.EndSession(id, now) },
		nil)
}
