package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"causeway/adapters/cli/table"
	"causeway/app/wallets"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
)

type walletsShowCommand struct {
	tableFlags
	Account string `arg:"" help:"Id of the internal account." placeholder:"ACCOUNT"`
	actorFlag
}

// Run records the action before it prints anything of the customer.
func (c walletsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseInternalAccount(c.Account)
	return c.show(ctx, env, AsRequest, argumentError("ACCOUNT", err), func(services Services, p ident.Platform) (*table.Page, error) {
		shown, err := services.Wallets().Show(ctx, p, id)
		if err != nil {
			return nil, err
		}
		if kind := shown.Account.Type; kind != account.EmbeddedWallet {
			return nil, fmt.Errorf("the account %s is %s and not an EMBEDDED_WALLET", id, kind)
		}
		return walletPage(shown), c.record(ctx, env, services, platform.OperatorOpenedWallet, p, id.String(), id.UUID())
	})
}

// walletPage shows who can sign for a wallet, and when its words were exported.
func walletPage(w wallets.Shown) *table.Page {
	opened, publicKey := w.Account, "" // is made when it is first needed
	if w.Key != (wallet.Key{}) {
		publicKey = fmt.Sprintf("%x", w.Key)
	}
	credentials := table.New("credential", "type", "name", "created", "first verified")
	for _, c := range w.Credentials {
		credentials.Add(c.ID, c.Type, quoted(c.Nickname), c.CreatedAt, c.VerifiedAt)
	}
	sessions := table.New("session", "credential", "opened", "ends")
	for _, s := range w.Sessions {
		sessions.Add(s.ID, s.Credential, s.CreatedAt, s.ExpiresAt)
	}
	exported := table.New("exported", "session", "credential", "request", "token")
	for _, e := range w.Exports {
		exported.Add(e.At, table.OrDash(e.Session.String()), table.OrDash(e.Credential.String()), e.Request, e.Token)
	}
	page := new(table.Page)
	page.Line("%s of %s\nstatus %s, private %t\npublic key %s\n", opened.ID, opened.Customer, opened.Status, opened.PrivateEnabled,
		cmp.Or(publicKey, "-"))
	shown := table.NewRecord("account", opened.ID)
	shown.Add("customer", opened.Customer)
	shown.Add("status", opened.Status)
	shown.Add("private", opened.PrivateEnabled)
	shown.Add("public key", table.OrDash(publicKey))
	page.DataRecord("wallet", shown)
	page.Table("credentials", credentials, "No credentials.")
	page.Table("sessions", sessions, "No active sessions.")
	page.Table("exports", exported, "The words were never exported.")
	return page
}

// quoted is a text that people read in quotation marks, also if it is empty.
func quoted(text string) table.Cell { return table.Cell{Text: strconv.Quote(text), Value: text} }
