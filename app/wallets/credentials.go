package wallets

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"causeway/app/internal/mails"
	"causeway/app/internal/signedrequests"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// NewCredential is a request to add a credential.
type NewCredential struct {
	Account ident.InternalAccount
	Type    wallet.CredentialType
	// Nickname, Challenge and Attestation are for a passkey. The platform has made the challenge.
	Nickname    string
	Challenge   []byte
	Attestation wallet.Attestation
	// Token is an ID token, for OAUTH.
	Token string
}

const (
	// challengeMemory is how long a challenge of a new passkey is not accepted again.
	challengeMemory = 90 * 24 * time.Hour
	// tokenMemory is far more than the minute for which an ID token is accepted.
	tokenMemory = 24 * time.Hour
)

// CreateCredential adds a credential: the first one of a wallet at once, others by a signed request. Faults:
// INTERNAL_ACCOUNT_NOT_FOUND, CUSTOMER_DELETED, INVALID_INPUT, EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS,
// SMS_OTP_CREDENTIAL_ALREADY_EXISTS, PASSKEY_CREDENTIAL_ALREADY_EXISTS; UNAUTHORIZED for an ID token or a signature; CONFLICT.
func (s *Service) CreateCredential(ctx context.Context, principal platform.Principal, call wallet.Call, request *ports.IdempotentRequest,
	r NewCredential) (_ Challenged, _ *wallet.SignedRequest, err error) {
	defer func() { err = s.replayed(ctx, request, err) }()
	w, err := s.read(ctx, principal.Platform, r.Account, "accountId")
	if err != nil {
		return Challenged{}, nil, err
	}
	operation := signedrequests.Operation{Action: w.action(wallet.AddCredential, r.Type), Environment: principal.Environment,
		Refused: w.CheckAdd(r.Type)}
	signed := w.NeedsSignature()
	checkedAt := s.now()
	if signed && !call.Unsigned() {
		authorized, err := s.signed.Check(ctx, operation, call, w.Wallet)
		if err != nil {
			return Challenged{}, nil, err
		}
		checkedAt = authorized.Request.CreatedAt // an ID token was fresh on the first leg
	}
	if operation.Refused != nil {
		return Challenged{}, nil, operation.Refused
	}
	created, err := s.prepare(ctx, principal, w, r, checkedAt)
	if err != nil {
		return Challenged{}, nil, err
	}
	if _, err := w.Add(created.Credential); err != nil {
		return Challenged{}, nil, err
	}
	if signed && call.Unsigned() {
		issued, err := s.signed.Issue(ctx, request, operation, call)
		return Challenged{}, issued, err
	}
	result := Challenged{Credential: created.Credential, OTPTarget: created.code.target}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, result, nil); err != nil {
			return err
		}
		now := s.now()
		locked, err := s.lock(ctx, tx, w, now)
		if err != nil {
			return err
		}
		if signed {
			operation.Refused = locked.CheckAdd(r.Type)
			if _, err := s.signed.Use(ctx, tx, operation, call, locked.Wallet); err != nil {
				return err
			}
		}
		if locked.NeedsSignature() != signed || locked.owner.Email != w.owner.Email || locked.owner.PhoneNumber != w.owner.PhoneNumber {
			return &fault.Error{Code: fault.Conflict, Reason: "Wallet changed meanwhile", Message: "The credentials of the wallet changed " +
				"meanwhile. Send the request again without a signature."}
		}
		if err := created.once.use(ctx, tx, principal.Platform, now); err != nil {
			return err
		}
		change, err := locked.Add(created.Credential)
		if err != nil {
			return err
		}
		if err := tx.SaveWallet(ctx, change); err != nil {
			return err
		}
		if signed {
			if err := s.notify(ctx, tx, created.settings, locked, mails.CredentialAdded(created.Credential, now), now); err != nil {
				return err
			}
		}
		if !created.Type.HasCodes() {
			return nil
		}
		return s.queueCode(ctx, tx, created.settings, created.Credential, created.code, now)
	})
	return result, nil, err
}

// preparedCredential is a credential to be added.
type preparedCredential struct {
	wallet.Credential
	settings platform.Platform
	once     usedOnce // what must not be used for another one
	code     newCode  // is sent, if the type has codes
}

// prepare checks what a new credential is made of.
func (s *Service) prepare(ctx context.Context, principal platform.Principal, w openedWallet, r NewCredential,
	checkedAt time.Time) (c preparedCredential, err error) {
	proofs, settings, err := s.proofs(ctx, principal)
	if err != nil {
		return c, err
	}
	now := s.now()
	c.settings = settings
	c.Credential = wallet.Credential{ID: ident.NewAuthMethod(s.IDs.New, now), Platform: principal.Platform, Account: w.account.ID,
		Type: r.Type, CreatedAt: now, UpdatedAt: now}
	switch r.Type {
	case wallet.EmailOTP, wallet.SMSOTP:
		sentTo, what := w.owner.Email, "an e-mail address"
		if r.Type == wallet.SMSOTP {
			sentTo, what = w.owner.PhoneNumber, "a phone number"
		}
		if sentTo == "" {
			return c, fault.Invalid(fault.Field{Field: "accountId", Message: "is of a customer without " + what + "; set one with PATCH " +
				"/customers/" + w.owner.ID.String()})
		}
		c.SentTo, c.Nickname = sentTo, sentTo
		c.code, err = s.newCode(ctx, proofs, settings, c.Credential)
		return c, err
	case wallet.Passkey:
		if err := wallet.CheckNickname(r.Nickname); err != nil {
			return c, err
		}
		key, err := proofs.RegisterPasskey(ctx, settings, r.Challenge, r.Attestation)
		if err != nil {
			return c, err
		}
		c.Nickname, c.Passkey = r.Nickname, &key
		c.once = usedOnce{hash: sha256.Sum256(append([]byte("passkey challenge "), r.Challenge...)), memory: challengeMemory,
			again: fault.Invalid(fault.Field{Field: "challenge", Message: "was used for another passkey; make a new one for each passkey"})}
	case wallet.OAuth:
		identity, err := proofs.RegisterIdentity(ctx, settings, r.Token, checkedAt)
		if err != nil {
			return c, err
		}
		c.Identity, c.Nickname = &identity, identity.Email
		if c.Nickname == "" {
			c.Nickname = identity.Subject
		}
		c.once = tokenOnce(proofs, r.Token)
	default:
		return c, fault.Invalid(fault.Field{Field: "type", Message: "must be EMAIL_OTP, SMS_OTP, PASSKEY or OAUTH"})
	}
	return c, c.once.check(ctx, s.Store, principal.Platform)
}

// usedOnce is a challenge or token that must not be used again; the zero value is none.
type usedOnce struct {
	hash   [sha256.Size]byte
	memory time.Duration
	again  *fault.Error // for a second use
}

// tokenOnce makes an ID token single-use by what is signed: who has one signature of ECDSA can make another
// that is as valid.
func tokenOnce(proofs ports.WalletProofs, token string) usedOnce {
	if !proofs.TokensAreSingleUse() {
		return usedOnce{}
	}
	if end := strings.LastIndexByte(token, '.'); end >= 0 {
		token = token[:end]
	}
	return usedOnce{hash: sha256.Sum256([]byte("ID token " + token)), memory: tokenMemory,
		again: wallet.InvalidIdentity("The ID token was used before. Get a new one from the provider.")}
}

func (o usedOnce) check(ctx context.Context, store Store, p ident.Platform) error {
	if o.again == nil {
		return nil
	}
	used, err := store.WasUsed(ctx, p, o.hash)
	if err == nil && used {
		err = o.again
	}
	return err
}

func (o usedOnce) use(ctx context.Context, tx Tx, p ident.Platform, now time.Time) error {
	if o.again == nil {
		return nil
	}
	first, err := tx.UseOnce(ctx, p, o.hash, now.Add(o.memory))
	if err == nil && !first {
		err = o.again
	}
	return err
}

// ListCredentials returns the active credentials of a wallet, oldest first; none for an account that the
// platform does not have. Fault: INVALID_INPUT for an account that is no wallet.
func (s *Service) ListCredentials(ctx context.Context, p ident.Platform, id ident.InternalAccount) ([]wallet.Credential, error) {
	w, err := s.list(ctx, p, id)
	return w.Credentials, err
}

// ListSessions returns the active sessions of a wallet, oldest first; none for an account that the platform
// does not have. Fault: INVALID_INPUT for an account that is no wallet.
func (s *Service) ListSessions(ctx context.Context, p ident.Platform, id ident.InternalAccount) ([]wallet.Session, error) {
	w, err := s.list(ctx, p, id)
	return w.Sessions, err
}

func (s *Service) list(ctx context.Context, p ident.Platform, id ident.InternalAccount) (openedWallet, error) {
	w, err := s.read(ctx, p, id, "accountId")
	if fault.Is(err, fault.InternalAccountNotFound) || fault.Is(err, fault.CustomerDeleted) {
		return openedWallet{}, nil
	}
	return w, err
}

// RevokeCredential revokes a credential and ends its sessions, by a request that a session of another
// credential signs. Faults: CREDENTIAL_NOT_FOUND; INVALID_INPUT for the last credential; UNAUTHORIZED.
func (s *Service) RevokeCredential(ctx context.Context, principal platform.Principal, call wallet.Call,
	id ident.AuthMethod) (*wallet.SignedRequest, error) {
	c, w, err := s.readCredential(ctx, principal.Platform, id)
	if err != nil {
		return nil, err
	}
	operation := signedrequests.Operation{Action: w.action(wallet.RevokeCredential, c.Type), Environment: principal.Environment, Revoked: id}
	settings, err := s.Store.Platform(ctx, principal.Platform)
	if err != nil {
		return nil, err
	}
	return s.carryOut(ctx, operation, call, w, func(w openedWallet, now time.Time) (wallet.Change, error) { return w.Revoke(id, now) },
		func(ctx context.Context, tx Tx, w openedWallet, now time.Time) error {
			err := s.notify(ctx, tx, settings, w, mails.CredentialRemoved(c, now), now)
			if fault.Is(err, fault.RateLimited) {
				return nil // who removes a stolen credential must not wait for the next hour
			}
			return err
		})
}

// carryOut runs a leg of an operation that only changes the wallet. after runs in its unit of work.
func (s *Service) carryOut(ctx context.Context, o signedrequests.Operation, call wallet.Call, w openedWallet,
	decide func(openedWallet, time.Time) (wallet.Change, error), after func(context.Context, Tx, openedWallet, time.Time) error) (
	*wallet.SignedRequest, error) {
	if call.Unsigned() {
		_, o.Refused = decide(w, s.now())
		return s.signed.Issue(ctx, nil, o, call)
	}
	return nil, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		now := s.now()
		locked, err := s.lock(ctx, tx, w, now)
		if err != nil {
			return err
		}
		change, refused := decide(locked, now)
		o.Refused = refused
		if _, err := s.signed.Use(ctx, tx, o, call, locked.Wallet); err != nil {
			return err
		}
		if err := tx.SaveWallet(ctx, change); err != nil || after == nil {
			return err
		}
		return after(ctx, tx, locked, now)
	})
}

// UpdateAccount changes the settings of an internal account: the privacy of a wallet by a signed request.
// Faults: INTERNAL_ACCOUNT_NOT_FOUND; INVALID_INPUT for a setting that the account does not have;
// CUSTOMER_DELETED, UNAUTHORIZED.
func (s *Service) UpdateAccount(ctx context.Context, principal platform.Principal, call wallet.Call, id ident.InternalAccount,
	change account.InternalChange) (account.WithBalance, *wallet.SignedRequest, error) {
	found, err := s.Store.InternalAccount(ctx, principal.Platform, id)
	if err != nil {
		return account.WithBalance{}, nil, err
	}
	if err := found.CheckChange(change); err != nil {
		return account.WithBalance{}, nil, err
	}
	if change.PrivateEnabled != nil {
		w, err := s.read(ctx, principal.Platform, id, "id")
		if err != nil {
			return account.WithBalance{}, nil, err
		}
		operation := signedrequests.Operation{Action: w.action(wallet.UpdateAccount, ""), Environment: principal.Environment}
		if call.Unsigned() {
			issued, err := s.signed.Issue(ctx, nil, operation, call)
			return account.WithBalance{}, issued, err
		}
		err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			now := s.now()
			locked, err := s.lock(ctx, tx, w, now)
			if err != nil {
				return err
			}
			if _, err := s.signed.Use(ctx, tx, operation, call, locked.Wallet); err != nil {
				return err
			}
			found.PrivateEnabled, found.UpdatedAt = *change.PrivateEnabled, now
			return tx.UpdateInternalAccount(ctx, found)
		})
		if err != nil {
			return account.WithBalance{}, nil, err
		}
	}
	balances, err := s.Ledger.Balances(ctx, []ledger.Account{found.LedgerAccount()})
	return account.WithBalance{Internal: found, Balance: balances[found.LedgerAccount()]}, nil, err
}
