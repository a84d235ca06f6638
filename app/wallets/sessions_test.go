package wallets_test

import (
	"testing"

	"causeway/app/wallets"
	"causeway/core/fault"
	"causeway/core/wallet"
)

func TestService_DefaultCredentialOpensSession(t *testing.T) {
	t.Parallel()
	// A wallet has a credential for the e-mail address of its owner without any row. A code opens a session,
	// whose certificate is its statement; the credential keeps its id and is stored then.
	env := newEnv(t)
	before := env.credentials(env.wallet)
	if len(before) != 1 || before[0].Type != wallet.EmailOTP || before[0].Nickname != "ana@example.com" ||
		before[0].ID != wallet.DefaultCredentialID(env.wallet.ID) {
		t.Fatalf("credentials %+v", before)
	}
	if rows := env.QueryStrings(`SELECT id::text FROM wallet_credentials`); len(rows) != 0 {
		t.Errorf("stored %v", rows)
	}

	opened, _, err := env.wallets.Verify(t.Context(), env.Admin, wallet.Call{}, nil, before[0].ID,
		wallets.Verification{Type: wallet.EmailOTP, Code: "000000",
			ClientKey: clientKey(t)})
	if err != nil {
		t.Fatal(err)
	}

	sessions := env.sessions(env.wallet)
	if len(sessions) != 1 || sessions[0].ID != opened.ID || sessions[0].Nickname != "ana@example.com" ||
		sessions[0].Certificate.Statement != sessions[0].Statement() {
		t.Errorf("sessions %+v", sessions)
	}
	if after := env.credentials(env.wallet); len(after) != 1 || after[0].ID != before[0].ID || after[0].VerifiedAt.IsZero() {
		t.Errorf("credentials %+v", after)
	}
	if _, _, err := env.wallets.Verify(t.Context(), env.Admin, wallet.Call{}, nil, before[0].ID,
		wallets.Verification{Type: wallet.EmailOTP, Code: "000001",
			ClientKey: clientKey(t)}); err == nil {
		t.Error("a wrong code opens a session")
	} else {
		wantReason(t, "a wrong code", err, "Invalid OTP code")
	}
}

func TestService_SignedRequestsInProduction(t *testing.T) {
	t.Parallel()
	// A session of the default credential adds an identity. Only a session of the other credential can revoke
	// one, whose sessions end with it; the last one stays.
	env := newEnv(t)
	session := env.liveSession()
	added := env.addIdentity(session, "google bo-1")
	id := wallet.DefaultCredentialID(env.liveWallet.ID)

	call := newCall("/auth/credentials/" + id.String())
	toSign, err := env.wallets.RevokeCredential(t.Context(), env.live, call, id)
	if err != nil {
		t.Fatal(err)
	}
	_, err = env.wallets.RevokeCredential(t.Context(), env.live, env.signedBy(session, call, toSign), id)
	wantReason(t, "signed by its own session", err, "Signed by the revoked credential")

	other, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, added.ID,
		wallets.Verification{Type: wallet.OAuth, Token: "google bo-1 again",
			ClientKey: clientKey(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.wallets.RevokeCredential(t.Context(), env.live, env.signedBy(other.Session, call, toSign), id); err != nil {
		t.Fatal(err)
	}
	if credentials, sessions := env.credentials(env.liveWallet), env.sessions(env.liveWallet); len(credentials) != 1 ||
		credentials[0].ID != added.ID || len(sessions) != 1 || sessions[0].ID != other.ID {
		t.Errorf("left: %+v, %+v", credentials, sessions)
	}
	_, err = env.wallets.RevokeCredential(t.Context(), env.live, env.signedBy(other.Session, call, toSign), id)
	wantReason(t, "again", err, "Request-Id already used")
	if _, err := env.wallets.RevokeCredential(t.Context(), env.live, newCall("/last"), added.ID); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("the last credential: %v", err)
	}
}
