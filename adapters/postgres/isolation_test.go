package postgres_test

import (
	"context"
	"testing"

	"causeway/adapters/postgres"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

func TestDB_PlatformIsolation(t *testing.T) {
	t.Parallel()
	// For the resources of another platform, every method returns the same as for an unknown id,
	// and changes nothing.
	c := newEnv(t)
	token, _ := newToken(t, c.platform, "token", platform.Manage)
	ana := newCustomer(c.platform, "ana")
	wallet, own := newWallet(c.platform, ana.ID, "spark1"), newWallet(c.platform, ident.Customer{}, "spark1")
	c.createCustomers(t, ana)
	c.createAccounts(t, wallet, own)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateToken(ctx, token) })
	robot := newAgent(ana)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, robot) })
	imported := c.createImport(t, newImport(c.platform, customer.ImportPending))
	change := func(fn func(context.Context, *postgres.Unit) error) func(ident.Platform) error {
		return func(ident.Platform) error { return c.Do(t.Context(), fn) }
	}

	there, none := c.otherPlatform.ID, ident.NewPlatform(generator.New, noon)
	for name, test := range map[string]struct {
		ask  func(p ident.Platform) error
		want fault.Code
	}{
		"Token":    {func(p ident.Platform) error { _, err := c.Token(t.Context(), p, token.ID); return err }, fault.TokenNotFound},
		"Customer": {func(p ident.Platform) error { _, err := c.Customer(t.Context(), p, ana.ID); return err }, fault.UserNotFound},
		"ExternalAccount": {func(p ident.Platform) error { _, err := c.ExternalAccount(t.Context(), p, wallet.ID); return err },
			fault.ExternalAccountNotFound},
		"Agent": {func(p ident.Platform) error { _, err := c.Agent(t.Context(), p, robot.ID); return err }, fault.AgentNotFound},
		"CustomerImport": {func(p ident.Platform) error { _, err := c.CustomerImport(t.Context(), p, imported.ID); return err },
			fault.BulkUploadJobNotFound},
		"DeleteToken": {change(func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteToken(ctx, there, token.ID) }),
			fault.TokenNotFound},
		"LockAgent": {change(func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockAgent(ctx, there, robot.ID)
			return err
		}),
			fault.AgentNotFound},
		"DeleteAgent": {change(func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteAgent(ctx, there, robot.ID) }),
			fault.AgentNotFound},
		"DeleteExternalAccount": {change(func(ctx context.Context, tx *postgres.Unit) error {
			return tx.DeleteExternalAccount(ctx, there, wallet.ID, noon)
		}), fault.ExternalAccountNotFound},
	} {
		foreign, unknown := test.ask(there), test.ask(none)
		if !fault.Is(foreign, test.want) || unknown == nil || foreign.Error() != unknown.Error() {
			t.Errorf("%s: %v\nfor an unknown id: %v", name, foreign, unknown)
		}
	}

	// Lists of the other platform are empty, with any filter.
	ten := ports.Paging{Limit: 10}
	for name, total := range map[string]func() (int64, error){
		"Tokens": func() (int64, error) {
			page, err := c.Tokens(t.Context(), there, ports.TokenFilter{Paging: ten})
			return page.Total + int64(len(page.Items)), err
		},
		"Customers": func() (int64, error) {
			page, err := c.Customers(t.Context(), there, ports.CustomerFilter{Paging: ten, PlatformCustomerID: "ana", IncludeDeleted: true})
			return page.Total + int64(len(page.Items)), err
		},
		"Agents": func() (int64, error) {
			page, err := c.Agents(t.Context(), there, ports.AgentFilter{Paging: ten})
			return page.Total + int64(len(page.Items)), err
		},
		"ExternalAccounts": func() (int64, error) {
			page, err := c.ExternalAccounts(t.Context(), there, ports.ExternalAccountFilter{Paging: ten})
			return page.Total + int64(len(page.Items)), err
		},
		"ExternalAccounts of a customer": func() (int64, error) {
			page, err := c.ExternalAccounts(t.Context(), there, ports.ExternalAccountFilter{Paging: ten, Customer: ana.ID})
			return page.Total + int64(len(page.Items)), err
		},
		"ExternalAccounts of the platform": func() (int64, error) {
			page, err := c.ExternalAccounts(t.Context(), there, ports.ExternalAccountFilter{Paging: ten, PlatformOwned: true})
			return page.Total + int64(len(page.Items)), err
		},
		"LockTokens": func() (n int64, err error) {
			err = c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				tokens, err := tx.LockTokens(ctx, there)
				n = int64(len(tokens))
				return err
			})
			return n, err
		},
	} {
		if n, err := total(); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}

	// Another platform can neither delete the agents of a customer nor create one for it.
	theirs := newAgent(ana)
	theirs.Platform = there
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteAgentsOf(ctx, there, ana.ID) })
	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, theirs) }); err == nil {
		t.Error("another platform created an agent for a customer")
	}

	// Another platform cannot create an account for a customer.
	err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateExternalAccount(ctx, newWallet(c.otherPlatform, ana.ID, "spark1theirs"))
	})
	if err == nil {
		t.Error("another platform created an account for a customer")
	}

	// The resources still exist for their own platform.
	if _, err := c.Token(t.Context(), c.platform.ID, token.ID); err != nil {
		t.Error(err)
	}
	if _, err := c.Agent(t.Context(), c.platform.ID, robot.ID); err != nil {
		t.Error(err)
	}
	if _, err := c.ExternalAccount(t.Context(), c.platform.ID, wallet.ID); err != nil {
		t.Error(err)
	}
}
