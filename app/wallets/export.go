package wallets

import (
	"context"

	"causeway/app/internal/mails"
	"causeway/app/internal/signedrequests"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// Exported are the words of a wallet, sealed to the client's key.
type Exported struct {
	Account ident.InternalAccount
	// Encrypted is the JSON text of the export envelope.
	Encrypted string
}

// Export returns the words of a wallet, by a signed request. It is recorded for ever. Faults:
// INTERNAL_ACCOUNT_NOT_FOUND; INVALID_INPUT if the account is no wallet; CUSTOMER_DELETED, UNAUTHORIZED.
func (s *Service) Export(ctx context.Context, principal platform.Principal, call wallet.Call, request *ports.IdempotentRequest,
	id ident.InternalAccount, client wallet.ClientKey) (_ Exported, _ *wallet.SignedRequest, err error) {
	defer func() { err = s.replayed(ctx, request, err) }()
	w, err := s.read(ctx, principal.Platform, id, "id")
	if err != nil {
		return Exported{}, nil, err
	}
	operation := signedrequests.Operation{Action: w.action(wallet.ExportWallet, ""), Environment: principal.Environment}
	if call.Unsigned() {
		issued, err := s.signed.Issue(ctx, request, operation, call)
		return Exported{}, issued, err
	}
	if _, err := s.signed.Check(ctx, operation, call, w.Wallet); err != nil {
		return Exported{}, nil, err
	}
	settings, err := s.Store.Platform(ctx, principal.Platform)
	if err != nil {
		return Exported{}, nil, err
	}
	exported := Exported{Account: id}
	if exported.Encrypted, err = s.Custody.Export(ctx, w.id(), client); err != nil {
		return Exported{}, nil, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, exported, nil); err != nil {
			return err
		}
		now := s.now()
		locked, err := s.lock(ctx, tx, w, now)
		if err != nil {
			return err
		}
		authorized, err := s.signed.Use(ctx, tx, operation, call, locked.Wallet)
		if err != nil {
			return err
		}
		if err := tx.RecordExport(ctx, wallet.Export{
			ID: s.IDs.New(now), Platform: principal.Platform, Account: id, Session: authorized.Session.ID, Credential: authorized.Session.Credential,
			Request: authorized.Request.ID, Token: principal.Token, At: now,
		}); err != nil {
			return err
		}
		return s.notify(ctx, tx, settings, locked, mails.WalletExported(now), now)
	})
	if err != nil {
		return Exported{}, nil, err
	}
	return exported, nil, nil
}
