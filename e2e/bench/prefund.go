package main

import (
	"context"
	"fmt"
	"strings"
)

// deposit is what each account is funded with, in cents: the most that a simulated
// deposit can bring, and more than any run pays out.
const deposit = 100_000_000_000

// prefund gives each customer a bank account, and money in their account in dollars.
func (r *rig) prefund(ctx context.Context, customers []customer) error {
	accounts, err := r.dollars(ctx)
	if err != nil {
		return err
	}
	of := make(map[string]string, len(accounts))
	for _, a := range accounts {
		of[a.CustomerID] = a.ID
	}
	return r.each(ctx, len(customers), func(c *client, i int) error {
		owner := &customers[i]
		bank, err := r.addBank(c, owner.id, i)
		if err != nil {
			return err
		}
		owner.funds = newFunds(*owner, of[owner.id], bank)
		owner.deposited.Add(deposit)
		return c.call(r.target, "POST", "/sandbox/internal-accounts/"+owner.account+"/fund", map[string]any{"amount": int64(deposit)}, nil)
	})
}

// addBank adds a bank account that money can be sent to and pulled from.
func (r *rig) addBank(c *client, owner string, number int) (string, error) {
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

// holding is an internal account of a customer as the service lists it.
type holding struct {
	ID, CustomerID string
	Balance        struct{ Amount int64 }
}

// dollars lists the accounts in dollars of all customers, page by page.
func (r *rig) dollars(ctx context.Context) ([]holding, error) {
	c, err := dial(ctx, r.target.address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	const first = "/customers/internal-accounts?currency=USD&limit=100"
	var all []holding
	for path := first; path != ""; {
		var page struct {
			Data       []holding
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

// checkFunds holds every account to what was paid in and out of it, and tells how
// many there are.
func (b *bench) checkFunds(ctx context.Context) (int, error) {
	accounts, err := b.rig.dollars(ctx)
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
		want := c.deposited.Load() + c.moved.Load()
		if got, listed := balances[c.account]; !listed || got != want {
			wrong = append(wrong, fmt.Sprintf("%s holds %d cents instead of %d", c.account, got, want))
		}
	}
	if len(wrong) > 0 {
		return 0, fmt.Errorf("%d of %d accounts hold something else than was paid in less what was paid out: %s", len(wrong), len(b.customers),
			strings.Join(wrong[:min(len(wrong), 5)], "; "))
	}
	return len(b.customers), nil
}
