// Package wallets lets the customers of platforms use their embedded wallets: credentials prove who they
// are, open sessions, and sessions sign what changes a wallet or shows its words.
//
// It never moves money, and never sees a private key: ports.Custody keeps those of wallets, and those of
// sessions exist in the customer's client only.
package wallets

import (
	"context"
	"time"

	"causeway/app/internal/mails"
	"causeway/app/internal/signedrequests"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// Config holds what the use cases need.
type Config struct {
	Store   Store
	Ledger  LedgerReader
	Custody ports.Custody
	Proofs  ports.WalletProofsByEnvironment
	Mails   *mails.Queue
	Clock   ports.Clock
	IDs     ports.IDs
}

// Service implements the use cases. A method with a wallet.Call has two legs: it returns the request to sign
// on the first one, and the result on the second.
type Service struct {
	Config
	signed *signedrequests.Requests[Tx]
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{Config: c, signed: signedrequests.New(signedrequests.Config[Tx]{Store: c.Store, Proofs: c.Proofs, Clock: c.Clock,
		IDs: c.IDs})}
}

// now returns the time in the precision in which it is stored, so that what is signed is what is read.
func (s *Service) now() time.Time { return s.Clock.Now().UTC().Truncate(time.Microsecond) }

// openedWallet is a wallet with its account and owner.
type openedWallet struct {
	wallet.Wallet
	account account.Internal
	owner   customer.Customer
}

func (w openedWallet) id() ports.WalletID {
	return ports.WalletID{Platform: w.account.Platform, Account: w.account.ID}
}

// notify adds a notice to the customer to the queue of mails and text messages, if an address is known.
func (s *Service) notify(ctx context.Context, tx Tx, settings platform.Platform, w openedWallet, m mails.Message,
	now time.Time) error {
	to := mails.Recipient{Email: w.owner.Email, Phone: w.owner.PhoneNumber}
	if c, exists := w.First(wallet.EmailOTP); exists {
		to.Email = c.SentTo
	}
	if c, exists := w.First(wallet.SMSOTP); exists {
		to.Phone = c.SentTo
	}
	return s.Mails.AddNotice(ctx, tx, settings, to, m, now)
}

// action returns what a signature on a request for an operation authorises.
func (w openedWallet) action(o wallet.Operation, t wallet.CredentialType) wallet.Action {
	return wallet.Action{Platform: w.account.Platform, Account: w.account.ID, Operation: o, Credential: t}
}

// read returns a wallet without locks. Faults: INTERNAL_ACCOUNT_NOT_FOUND; INVALID_INPUT, which names the
// field, if the account is no wallet; CUSTOMER_DELETED.
func (s *Service) read(ctx context.Context, p ident.Platform, id ident.InternalAccount, field string) (openedWallet, error) {
	found, err := s.Store.InternalAccount(ctx, p, id)
	if err != nil {
		return openedWallet{}, err
	}
	if found.Type != account.EmbeddedWallet {
		return openedWallet{}, fault.Invalid(fault.Field{Field: field, Message: "must be an account of the type EMBEDDED_WALLET; this one is " +
			string(found.Type)})
	}
	read, err := s.readOf(ctx, found)
	if err != nil {
		return openedWallet{}, err
	}
	return read, checkNotDeleted(read.owner)
}

// readOf returns the wallet of an account, also of a deleted customer.
func (s *Service) readOf(ctx context.Context, a account.Internal) (openedWallet, error) {
	owner, err := s.Store.Customer(ctx, a.Platform, a.Customer)
	if err != nil {
		return openedWallet{}, err
	}
	read, err := s.Store.Wallet(ctx, ports.WalletID{Platform: a.Platform, Account: a.ID}, s.now())
	return openedWallet{read.WithDefault(owner.Email, a.CreatedAt), a, owner}, err
}

// Shown is what operators see of a wallet.
type Shown struct {
	Account account.Internal
	wallet.Wallet
	// Key is zero until it is first needed.
	Key wallet.Key
	// Exports say when the words of the wallet were exported, oldest first.
	Exports []wallet.Export
}

// Show returns who can sign for a wallet, also of a deleted customer, and when its words were exported. Of an account that is
// no wallet it returns the account alone. Fault: INTERNAL_ACCOUNT_NOT_FOUND.
func (s *Service) Show(ctx context.Context, p ident.Platform, id ident.InternalAccount) (shown Shown, err error) {
	if shown.Account, err = s.Store.InternalAccount(ctx, p, id); err != nil || shown.Account.Type != account.EmbeddedWallet {
		return shown, err
	}
	read, err := s.readOf(ctx, shown.Account)
	if err != nil {
		return shown, err
	}
	shown.Wallet = read.Wallet
	if shown.Key, err = s.Store.WalletKey(ctx, read.id()); err != nil {
		return shown, err
	}
	shown.Exports, err = s.Store.WalletExports(ctx, read.id())
	return shown, err
}

// lock locks the owner of a wallet and the wallet, and returns them as they are now.
func (s *Service) lock(ctx context.Context, tx Tx, w openedWallet, now time.Time) (openedWallet, error) {
	owner, err := tx.LockCustomer(ctx, w.account.Platform, w.account.Customer)
	if err == nil {
		err = checkNotDeleted(owner)
	}
	if err != nil {
		return openedWallet{}, err
	}
	locked, err := tx.LockWallet(ctx, w.id(), now)
	return openedWallet{locked.WithDefault(owner.Email, w.account.CreatedAt), w.account, owner}, err
}

func checkNotDeleted(owner customer.Customer) error {
	if owner.Deleted() {
		return fault.New(fault.CustomerDeleted, "The customer %s is deleted; the wallet cannot be used.", owner.ID)
	}
	return nil
}

// readCredential returns a credential, also a revoked one, with its wallet; or CREDENTIAL_NOT_FOUND.
func (s *Service) readCredential(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Credential, openedWallet, error) {
	stored, err := s.Store.WalletCredential(ctx, p, id)
	if err == nil {
		w, err := s.read(ctx, p, stored.Account, "id")
		return stored, w, err
	}
	if !fault.Is(err, fault.CredentialNotFound) {
		return wallet.Credential{}, openedWallet{}, err
	}
	w, failed := s.read(ctx, p, wallet.AccountOfDefault(id), "id")
	switch {
	case fault.Is(failed, fault.InternalAccountNotFound), fault.Is(failed, fault.InvalidInput):
		return wallet.Credential{}, openedWallet{}, err
	case failed != nil:
		return wallet.Credential{}, openedWallet{}, failed
	}
	c, err := w.Credential(id)
	return c, w, err
}

// replayed returns the stored response of a request in place of an error. When another process carries out
// the same request at the same time, what this one checks is used up or changed already.
func (s *Service) replayed(ctx context.Context, request *ports.IdempotentRequest, err error) error {
	if err == nil || request == nil {
		return err
	}
	stored, failed := s.Store.StoredResponses(ctx, []ports.IdempotencyKey{request.IdempotencyKey()})
	if failed != nil || stored[0] == nil || stored[0].Fingerprint != request.Fingerprint {
		return err
	}
	return &ports.Replay{Status: stored[0].Status, Body: stored[0].Body}
}

// proofs returns the checks of a platform's environment, and its settings.
func (s *Service) proofs(ctx context.Context, principal platform.Principal) (ports.WalletProofs, platform.Platform, error) {
	proofs, connected := s.Proofs[principal.Environment]
	if !connected {
		return nil, platform.Platform{}, fault.New(fault.NotImplemented, "Wallets of %s platforms cannot be used with this service.",
			principal.Environment)
	}
	settings, err := s.Store.Platform(ctx, principal.Platform)
	return proofs, settings, err
}
