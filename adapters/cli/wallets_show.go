package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"causeway/adapters/cli/table"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

type walletsShowCommand struct {
	tableFlags
	Account string `arg:"" help:"Id of the internal account." placeholder:"ACCOUNT"`
	actorFlag
}

// Run records the action before it prints anything of the customer.
func (c walletsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseInternalAccount(c.Account)
	if err != nil {
		return fmt.Errorf("ACCOUNT %w", err)
	}
	return c.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		store := services.Store()
		opened, err := store.InternalAccount(ctx, p, id)
		if err != nil {
			return err
		}
		if opened.Type != account.EmbeddedWallet {
			return fmt.Errorf("the account %s is %s and not an EMBEDDED_WALLET", id, opened.Type)
		}
		action, err := c.action(env, platform.OperatorOpenedWallet, p, id.String())
		if err != nil {
			return err
		}
		action.Subject = id.UUID()
		if err := store.RecordOperatorAction(ctx, action); err != nil {
			return err
		}
		page, err := walletPage(ctx, env, store, opened)
		if err != nil {
			return err
		}
		return c.print(env, page)
	})
}

// walletPage shows who can sign for a wallet, and when its words were exported.
func walletPage(ctx context.Context, env *Env, store Store, opened account.Internal) (*table.Page, error) {
	id := ports.WalletID{Platform: opened.Platform, Account: opened.ID}
	owner, err := store.Customer(ctx, opened.Platform, opened.Customer)
	if err != nil {
		return nil, err
	}
	key, err := store.WalletKey(ctx, id)
	if err != nil {
		return nil, err
	}
	found, err := store.Wallet(ctx, id, env.Clock.Now())
	if err != nil {
		return nil, err
	}
	found = found.WithDefault(owner.Email, opened.CreatedAt)
	exports, err := store.WalletExports(ctx, id)
	if err != nil {
		return nil, err
	}
	publicKey := "" // is made when it is first needed
	if key != (wallet.Key{}) {
		publicKey = fmt.Sprintf("%x", key)
	}
	credentials := table.New("credential", "type", "name", "created", "first verified")
	for _, c := range found.Credentials {
		credentials.Add(c.ID, c.Type, quoted(c.Nickname), c.CreatedAt, c.VerifiedAt)
	}
	sessions := table.New("session", "credential", "opened", "ends")
	for _, s := range found.Sessions {
		sessions.Add(s.ID, s.Credential, s.CreatedAt, s.ExpiresAt)
	}
	exported := table.New("exported", "session", "credential", "request", "token")
	for _, e := range exports {
		exported.Add(e.At, table.OrDash(e.Session.String()), table.OrDash(e.Credential.String()), e.Request, e.Token)
	}
	page := new(table.Page)
	page.Line("%s of %s\nstatus %s, private %t\npublic key %s\n", opened.ID, owner.ID, opened.Status, opened.PrivateEnabled,
		cmp.Or(publicKey, "-"))
	shown := table.NewRecord("account", opened.ID)
	shown.Add("customer", owner.ID)
	shown.Add("status", opened.Status)
	shown.Add("private", opened.PrivateEnabled)
	shown.Add("public key", table.OrDash(publicKey))
	page.DataRecord("wallet", shown)
	page.Table("credentials", credentials, "No credentials.")
	page.Table("sessions", sessions, "No active sessions.")
	page.Table("exports", exported, "The words were never exported.")
	return page, nil
}

// quoted is a text that people read in quotation marks, also if it is empty.
func quoted(text string) table.Cell { return table.Cell{Text: strconv.Quote(text), Value: text} }
