package main

import (
	"context"
	"fmt"
	"sync"
)

// setupConnections is how many connections customers are made over.
const setupConnections = 16

// setUp points the platform's webhooks at the receiver and makes customers, each
// with a bitcoin wallet.
func (r *rig) setUp(ctx context.Context, customers int) ([]customer, error) {
	c, err := dial(ctx, r.target.address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.call(r.target, "PATCH", "/config", map[string]any{"webhookEndpoint": r.receiver.url()}, nil); err != nil {
		return nil, err
	}

	made := make([]customer, customers)
	return made, r.each(ctx, customers, func(c *client, i int) (err error) {
		made[i], err = r.makeCustomer(c, i)
		return err
	})
}

// each does something n times, over several connections at once.
func (r *rig) each(ctx context.Context, n int, do func(c *client, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for first := range setupConnections {
		all.Go(func() {
			c, err := dial(ctx, r.target.address)
			if err != nil {
				cancel(err)
				return
			}
			defer c.close()
			for i := first; i < n && ctx.Err() == nil; i += setupConnections {
				if err := do(c, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (r *rig) makeCustomer(c *client, number int) (customer, error) {
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
