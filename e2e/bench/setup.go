package main

import (
	"context"
	"fmt"
	"sync"
)

// maxSetupConnections is how many connections customers are made over.
const maxSetupConnections = 16

// createCustomers points the platform's webhooks at the receiver and makes customers, each
// with a bitcoin wallet.
func (r *benchEnv) createCustomers(ctx context.Context, customers int) ([]customer, error) {
	c, err := dial(ctx, r.target.address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.call(r.target, "PATCH", "/config", map[string]any{"webhookEndpoint": r.receiver.url()}, nil); err != nil {
		return nil, err
	}

	made := make([]customer, customers)
	return made, r.forEach(ctx, customers, func(c *client, i int) (err error) {
		made[i], err = r.createCustomer(c, i)
		return err
	})
}

// forEach does something n times, over several connections at once.
func (r *benchEnv) forEach(ctx context.Context, n int, do func(c *client, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for first := range maxSetupConnections {
		all.Go(func() {
			c, err := dial(ctx, r.target.address)
			if err != nil {
				cancel(err)
				return
			}
			defer c.close()
			for i := first; i < n && ctx.Err() == nil; i += maxSetupConnections {
				if err := do(c, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (r *benchEnv) createCustomer(c *client, number int) (customer, error) {
	var person, account struct{ ID string }
	err := c.call(r.target, "POST", "/customers", map[string]any{
		"platformCustomerId": fmt.Sprintf("bench-%05d", number), "customerType": "INDIVIDUAL", "region": "US",
		"fullName": "Bea Benchmark", "birthDate": "1990-04-12", "nationality": "US",
		"address": map[string]any{"line1": "1 Main Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"},
	}, &person)
	if err != nil {
		return customer{}, err
	}
	// The address ends in no digits: those would ask the sandbox for a mishap.
	err = c.call(r.target, "POST", "/customers/external-accounts", map[string]any{
		"customerId": person.ID, "currency": "BTC",
		"accountInfo": map[string]any{"accountType": "LAYER2_WALLET", "address": fmt.Sprintf("layer2wallet1bench%05dqxyz", number)},
	}, &account)
	if err != nil {
		return customer{}, err
	}
	return newCustomer(person.ID, account.ID), nil
}
