package main

import (
	"context"
	"fmt"
	"strings"
)

// fundingAmount is what each account is funded with, in cents: the most that a simulated
// deposit can bring, and more than any run pays out.
const fundingAmount = 100_000_000_000

// fundCustomers gives each customer a bank account, and money in their account in dollars.
func (r *benchEnv) fundCustomers(ctx context.Context, customers []customer) error {
	accounts, err := r.usdAccounts(ctx)
	if err != nil {
		return err
	}
	of := make(map[string]string, len(accounts))
	for _, a := range accounts {
		of[a.CustomerID] = a.ID
	}
	return r.forEach(ctx, len(customers), func(c *client, i int) error {
		owner := &customers[i]
		bank, err := r.createBankAccount(c, owner.id, i)
		if err != nil {
			return err
		}
		owner.fundedAccount = newFundedAccount(*owner, of[owner.id], bank)
		owner.deposited.Add(fundingAmount)
		return c.call(r.target, "POST", "/sandbox/internal-accounts/"+owner.accountID+"/fund", map[string]any{"amount": int64(fundingAmount)}, nil)
	})
}

// createBankAccount adds a bank account that money can be sent to and pulled from.
func (r *benchEnv) createBankAccount(c *client, owner string, number int) (string, error) {
	var account struct{ ID string }
	err := c.call(r.target, "POST", "/customers/external-accounts", map[string]any{
		"customerId": owner, "currency": "USD",
		"accountInfo": map[string]any{
			// The number ends in digits that ask the sandbox for nothing.
			"accountType": "US_ACCOUNT", "accountNumber": fmt.Sprintf("55%07d555", number), "routingNumber": "021000021",
			"beneficiary": map[string]any{"beneficiaryType": "INDIVIDUAL", "fullName": "Bea Benchmark", "birthDate": "1990-04-12", "nationality": "US",
				"address": map[string]any{"line1": "1 Main Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}},
		},
	}, &account)
	return account.ID, err
}

// internalAccount is an internal account of a customer as the service lists it.
type internalAccount struct {
	ID, CustomerID string
	Balance        struct{ Amount int64 }
}

// usdAccounts lists the accounts in dollars of all customers, page by page.
func (r *benchEnv) usdAccounts(ctx context.Context) ([]internalAccount, error) {
	c, err := dial(ctx, r.target.address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	const first = "/customers/internal-accounts?currency=USD&limit=100"
	var all []internalAccount
	for path := first; path != ""; {
		var page struct {
			Data       []internalAccount
			HasMore    bool
			NextCursor string
		}
		if err := c.call(r.target, "GET", path, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		path = ""
		if page.HasMore {
			path = first + "&cursor=" + page.NextCursor
		}
	}
	return all, nil
}

// checkAccountBalances holds every account to what was paid in and out of it, and tells how
// many there are.
func (b *bench) checkAccountBalances(ctx context.Context) (int, error) {
	accounts, err := b.env.usdAccounts(ctx)
	if err != nil {
		return 0, err
	}
	balances := make(map[string]int64, len(accounts))
	for _, a := range accounts {
		balances[a.ID] = a.Balance.Amount
	}
	var wrong []string
	for i := range b.customers {
		c := &b.customers[i]
		want := c.deposited.Load() + c.netMoved.Load()
		if got, listed := balances[c.accountID]; !listed || got != want {
			wrong = append(wrong, fmt.Sprintf("%s holds %d cents instead of %d", c.accountID, got, want))
		}
	}
	if len(wrong) > 0 {
		return 0, fmt.Errorf("%d of %d accounts hold something else than was paid in less what was paid out: %s", len(wrong), len(b.customers),
			strings.Join(wrong[:min(len(wrong), 5)], "; "))
	}
	return len(b.customers), nil
}
