package main

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"causeway/e2e/kit"
)

// customer is a customer with a bitcoin wallet, and if payments need one an account with money.
type customer struct {
	id, walletID string

	accountID, bankID string       // its account in dollars here, and its bank account
	netMoved          atomic.Int64 // cents, by payouts and transfers
}

const (
	// fundingAmount is what each account is funded with, in cents: the maximum of a simulated
	// deposit, and more than any run pays out.
	fundingAmount = 100_000_000_000

	maxSetupConnections = 16
)

// createCustomers sets the platform's webhook endpoint and creates the customers, each with a
// wallet. If payments need it, each gets a bank account and money in its account in dollars.
func (b *bench) createCustomers(ctx context.Context) {
	logf("creating %d customers", b.customerCount)
	p := b.platform
	var created struct{ Secret string }
	p.call(ctx, "POST", "/webhook-secrets", nil, &created)
	b.webhookSecret = created.Secret
	p.call(ctx, "PATCH", "/config", kit.Object{"webhookEndpoint": b.receiver.url()}, nil)
	b.customers = make([]customer, b.customerCount)
	forEach(ctx, b.customerCount, func(ctx context.Context, i int) {
		c := &b.customers[i]
		c.id = p.create(ctx, "/customers", kit.CustomerBody())
		c.walletID = p.create(ctx, "/customers/external-accounts", kit.WalletBody(c.id, ""))
	})
	if !b.needsFundedAccounts() {
		return
	}
	accounts := p.usdAccounts(ctx)
	forEach(ctx, b.customerCount, func(ctx context.Context, i int) {
		c := &b.customers[i]
		c.accountID = accounts[c.id].ID
		c.bankID = p.create(ctx, "/customers/external-accounts", kit.USAccountBody(c.id, "555"))
		p.fund(ctx, c.accountID, fundingAmount)
	})
}

// forEach calls do n times, over several connections.
func forEach(ctx context.Context, n int, do func(ctx context.Context, i int)) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxSetupConnections)
	for i := range n {
		group.Go(func() error { return try(func() { do(ctx, i) }) })
	}
	check(group.Wait())
}

// create makes a resource and returns its id.
func (p platform) create(ctx context.Context, path string, body any) string {
	var created struct{ ID string }
	p.call(ctx, "POST", path, body, &created)
	return created.ID
}

func (p platform) fund(ctx context.Context, accountID string, cents int64) {
	p.call(ctx, "POST", "/sandbox/internal-accounts/"+accountID+"/fund", kit.Object{"amount": cents}, nil)
}

// internalAccount is an internal account as the service lists it.
type internalAccount struct {
	ID, CustomerID string
	Balance        struct{ Amount int64 }
}

// usdAccounts returns the accounts in dollars by customer.
func (p platform) usdAccounts(ctx context.Context) map[string]internalAccount {
	accounts := map[string]internalAccount{}
	for cursor := ""; ; {
		var page struct {
			Data       []internalAccount
			NextCursor string
		}
		p.call(ctx, "GET", "/customers/internal-accounts?currency=USD&limit=100"+cursor, nil, &page)
		for _, account := range page.Data {
			accounts[account.CustomerID] = account
		}
		if page.NextCursor == "" {
			return accounts
		}
		cursor = "&cursor=" + page.NextCursor
	}
}
