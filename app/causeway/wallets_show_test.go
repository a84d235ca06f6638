package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports/portstest"
)

func TestWalletsShow(t *testing.T) {
	t.Parallel()
	// The credentials, active sessions and exports of a wallet are shown, also the credential that is not
	// stored. Who looked is recorded; an account that is no wallet is refused, and recorded as nothing.
	url, idGenerator, now := pgtest.New(t), ids.New(), systemClock{}.Now()
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: systemClock{},
		IDs: idGenerator, TxOf: newTx})
	p := portstest.SandboxPlatform(t, idGenerator, now)
	owner := portstest.ApprovedCustomer(idGenerator, now, p.ID, "maya")
	owner.Email = "maya\x1b@example.com"
	stablecoins, err := account.NewInternal(ident.NewInternalAccount(idGenerator.New, now), p.ID, owner.ID, "USDB", now)
	if err != nil {
		t.Fatal(err)
	}
	other, err := account.NewRefundAccount(ident.NewInternalAccount(idGenerator.New, now), p.ID, owner.ID, "USDB", now)
	if err != nil {
		t.Fatal(err)
	}
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePlatform(ctx, p); err != nil {
			return err
		}
		if err := tx.CreateCustomer(ctx, owner); err != nil {
			return err
		}
		return tx.OpenInternalAccounts(ctx, []account.Internal{stablecoins, other})
	})
	show := func(id ident.InternalAccount) (string, int) {
		var out, errOut strings.Builder
		status := run(t.Context(), []string{"wallets", "show", id.String(), "--actor", "ana", "--database-url", url}, &out, &errOut)
		return out.String() + errOut.String(), status
	}

	if out, status := show(stablecoins.ID); status != 0 || !strings.Contains(out, `"maya\x1b@example.com"`) ||
		!strings.Contains(out, "No active sessions.\nThe words were never exported.\n") || !strings.Contains(out, "public key -") {
		t.Errorf("a new wallet: %d\n%s", status, out)
	}

	credential := wallet.Credential{ID: ident.NewAuthMethod(idGenerator.New, now), Platform: p.ID, Account: stablecoins.ID,
		Type: wallet.Passkey, Nickname: "Phone", Passkey: &wallet.PasskeyKey{}, VerifiedAt: now, CreatedAt: now, UpdatedAt: now}
	session := wallet.Session{ID: ident.NewSession(idGenerator.New, now), Platform: p.ID, Account: stablecoins.ID, Credential: credential.ID,
		Type: wallet.Passkey, CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(wallet.SessionLifetime)}
	request := ident.NewSignedRequest(idGenerator.New, now)
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{credential},
			Sessions: []wallet.Session{session}}); err != nil {
			return err
		}
		return tx.RecordExport(ctx, wallet.Export{ID: idGenerator.New(now), Platform: p.ID, Account: stablecoins.ID, Session: session.ID,
			Credential: credential.ID, Request: request, At: now})
	})
	out, status := show(stablecoins.ID)
	for _, want := range []string{credential.ID.String() + ` +PASSKEY +"Phone"`, session.ID.String() + " +" + credential.ID.String(),
		session.ID.String() + " +" + credential.ID.String() + " +" + request.String()} {
		if status != 0 || !regexp.MustCompile(want).MatchString(out) || strings.Contains(out, "maya") {
			t.Errorf("%d: no %s in\n%s", status, want, out)
		}
	}
	if out, status := show(other.ID); status != 1 || !strings.Contains(out, "not an EMBEDDED_WALLET") {
		t.Errorf("another account: %d\n%s", status, out)
	}
	var n int
	if err := db.Pool().QueryRow(t.Context(),
		`SELECT count(*) FROM operator_actions WHERE action = 'OPEN_WALLET' AND subject_id = $1 AND actor = 'ana'`,
		stablecoins.ID.UUID()).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d looks are recorded, %v", n, err)
	}
}
