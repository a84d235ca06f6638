package wallets_test

import (
	"slices"
	"testing"
	"time"

	"causeway/app/wallets"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
)

func TestService_StolenSessionTakesTheWallet(t *testing.T) {
	t.Parallel()
	// Who has the key of a session, and somebody who sends requests, has the wallet: it renews itself beyond its
	// own end, exports the words, adds a credential, and revokes the customer's. The customer gets a mail about
	// each of these but the first.
	env := newEnv(t)
	stolen := env.liveSession()
	env.Clock.Advance(wallet.SessionLifetime - time.Second)

	call := newCall("/refresh")
	_, toSign, err := env.wallets.RefreshSession(t.Context(), env.live, call, nil, stolen.ID, clientKey(t))
	if err != nil {
		t.Fatal(err)
	}
	renewed, _, err := env.wallets.RefreshSession(t.Context(), env.live, env.signedBy(stolen, call, toSign), nil, stolen.ID, clientKey(t))
	if err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(time.Minute)
	if err := env.exportOf(env.liveWallet, renewed.Session); err != nil {
		t.Errorf("export: %v", err)
	}
	thief := env.addIdentity(renewed.Session, "google thief-1")
	own, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, thief.ID,
		wallets.Verification{Type: wallet.OAuth, Token: "google thief-1 now",
			ClientKey: clientKey(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := env.revoke(own.Session, stolen.Credential); err != nil {
		t.Errorf("revoke the customer's credential: %v", err)
	}

	if left := env.credentials(env.liveWallet); len(left) != 1 || left[0].ID != thief.ID {
		t.Errorf("credentials %+v", left)
	}
	kinds := env.QueryStrings(`SELECT kind FROM mails WHERE content LIKE '%bo@example.com%' ORDER BY id`)
	if !slices.Equal(kinds, []string{"CODE", "WALLET_EXPORTED", "CREDENTIAL_ADDED", "CREDENTIAL_REMOVED"}) {
		t.Errorf("mails %v", kinds)
	}
}

func TestService_StolenSessionEndsAndCannotEndItsCredential(t *testing.T) {
	t.Parallel()
	// A stolen session signs nothing for another wallet, and nothing once it has ended: by time, because the
	// customer ended it, or with its credential. It cannot revoke its credential, so the customer gets in.
	env := newEnv(t)
	stolen := env.liveSession()
	added := env.addIdentity(stolen, "google bo-1")
	wantReason(t, "its own credential", env.revoke(stolen, stolen.Credential), "Signed by the revoked credential")
	other := env.NewCustomer("cy", func(c *customer.Customer) { c.Platform, c.Email = env.live.Platform, "cy@example.com" })
	wantReason(t, "another wallet", env.exportOf(env.NewInternalAccountOn(env.live.Platform, other.ID, "USDB", 0), stolen),
		"Invalid Service-Wallet-Signature")

	env.Clock.Advance(wallet.SessionLifetime)
	wantReason(t, "expired", env.exportOf(env.liveWallet, stolen), "Invalid Service-Wallet-Signature")
	if _, _, err := env.wallets.RefreshSession(t.Context(), env.live, newCall("/refresh"), nil, stolen.ID, clientKey(t)); !fault.Is(err,
		fault.SessionNotFound) {
		t.Errorf("refresh of an expired session: %v", err)
	}

	stolen = env.liveSession()
	env.endSession(env.liveSession(), stolen.ID)
	wantReason(t, "ended by the customer", env.exportOf(env.liveWallet, stolen), "Invalid Service-Wallet-Signature")

	stolen = env.liveSession()
	own, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, added.ID,
		wallets.Verification{Type: wallet.OAuth, Token: "google bo-1 now",
			ClientKey: clientKey(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := env.revoke(own.Session, stolen.Credential); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "its credential was revoked", env.exportOf(env.liveWallet, stolen), "Invalid Service-Wallet-Signature")
}

// exportOf exports a wallet by a request that a session signs.
func (e *env) exportOf(w account.Internal, by wallet.Session) error {
	e.t.Helper()
	client, call := clientKey(e.t), newCall("/export")
	_, toSign, err := e.wallets.Export(e.t.Context(), e.live, call, nil, w.ID, client)
	if err != nil {
		e.t.Fatal(err)
	}
	_, _, err = e.wallets.Export(e.t.Context(), e.live, e.signedBy(by, call, toSign), nil, w.ID, client)
	return err
}

// revoke revokes a credential of the production wallet by a request that a session signs.
func (e *env) revoke(by wallet.Session, id ident.AuthMethod) error {
	e.t.Helper()
	call := newCall("/auth/credentials/" + id.String())
	toSign, err := e.wallets.RevokeCredential(e.t.Context(), e.live, call, id)
	if err != nil {
		e.t.Fatal(err)
	}
	_, err = e.wallets.RevokeCredential(e.t.Context(), e.live, e.signedBy(by, call, toSign), id)
	return err
}
