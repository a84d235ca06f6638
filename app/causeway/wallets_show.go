package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

type walletsShowCommand struct {
	databaseFlags
	Account  string `arg:"" help:"Id of the internal account." placeholder:"ACCOUNT"`
	Platform string `help:"Platform id, as printed by causeway platform list. Required if there are several platforms." placeholder:"PLATFORM"`
	actorFlag
}

// Run records the action before it prints anything of the customer.
func (c walletsShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseInternalAccount(c.Account)
	if err != nil {
		return fmt.Errorf("ACCOUNT %w", err)
	}
	return c.withWritableDatabase(ctx, func(db *postgres.DB, _ ports.IDs) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		opened, err := db.InternalAccount(ctx, p, id)
		if err != nil {
			return err
		}
		if opened.Type != account.EmbeddedWallet {
			return fmt.Errorf("the account %s is %s and not an EMBEDDED_WALLET", id, opened.Type)
		}
		action, err := c.action(platform.OperatorOpenedWallet, p, id.String())
		if err != nil {
			return err
		}
		action.Subject = id.UUID()
		if err := db.RecordOperatorAction(ctx, action); err != nil {
			return err
		}
		return showWallet(ctx, out, db, opened)
	})
}

// showWallet prints who can sign for a wallet, and when its words were exported.
func showWallet(ctx context.Context, out io.Writer, db *postgres.DB, opened account.Internal) error {
	id := ports.WalletID{Platform: opened.Platform, Account: opened.ID}
	owner, err := db.Customer(ctx, opened.Platform, opened.Customer)
	if err != nil {
		return err
	}
	key, err := db.WalletKey(ctx, id)
	if err != nil {
		return err
	}
	found, err := db.Wallet(ctx, id, systemClock{}.Now())
	if err != nil {
		return err
	}
	found = found.WithDefault(owner.Email, opened.CreatedAt)
	exports, err := db.WalletExports(ctx, id)
	if err != nil {
		return err
	}
	publicKey := "-" // is made when it is first needed
	if key != (wallet.Key{}) {
		publicKey = fmt.Sprintf("%x", key)
	}
	if _, err := fmt.Fprintf(out, "%s of %s\nstatus %s, private %t\npublic key %s\n\n", opened.ID, owner.ID, opened.Status, opened.PrivateEnabled, publicKey); err != nil {
		return err
	}
	var credentials, sessions, exported table
	for _, c := range found.Credentials {
		credentials.add(c.ID.String(), string(c.Type), strconv.Quote(c.Nickname), timeOrDash(c.CreatedAt), timeOrDash(c.VerifiedAt))
	}
	for _, s := range found.Sessions {
		sessions.add(s.ID.String(), s.Credential.String(), timeOrDash(s.CreatedAt), timeOrDash(s.ExpiresAt))
	}
	for _, e := range exports {
		exported.add(timeOrDash(e.At), orDash(e.Session.String()), orDash(e.Credential.String()), e.Request.String(), e.Token.String())
	}
	for _, part := range []struct {
		rows   table
		none   string
		header []string
	}{
		{credentials, "No credentials.", []string{"credential", "type", "name", "created", "first verified"}},
		{sessions, "No active sessions.", []string{"session", "credential", "opened", "ends"}},
		{exported, "The words were never exported.", []string{"exported", "session", "credential", "request", "token"}},
	} {
		if len(part.rows.rows) == 0 {
			if _, err := fmt.Fprintln(out, part.none); err != nil {
				return err
			}
			continue
		}
		if err := part.rows.write(out, part.header...); err != nil {
			return err
		}
	}
	return nil
}

func timeOrDash(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Format(time.RFC3339)
}
