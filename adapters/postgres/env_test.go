package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

// env is a database with two platforms.
type env struct {
	*postgres.DB
	url           string
	clock         *portstest.FakeClock
	platform      platform.Platform
	otherPlatform platform.Platform
}

// noon is the time of the fake clock.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// generator generates the ids of all tests of the package: of noon, whatever the time is said to be. It
// never goes back, so an id of a later time would give those of other tests that time too.
var generator = noonIDs{ids.New()}

type noonIDs struct{ ids *ids.Generator }

func (g noonIDs) New(time.Time) uuid.UUID { return g.ids.New(noon) }

func newEnv(t testing.TB) *env {
	t.Helper()
	url := pgtest.SimulateClock(t, pgtest.New(t))
	clock := portstest.NewFakeClock(noon)
	c := &env{DB: openDBAt(t, url, clock), url: url, clock: clock}
	c.platform, c.otherPlatform = newPlatform(t, "Here"), newPlatform(t, "There")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePlatform(ctx, c.platform); err != nil {
			return err
		}
		return tx.CreatePlatform(ctx, c.otherPlatform)
	})
	return c
}

// at sets the clock.
func (c *env) at(now time.Time) { c.clock.Advance(now.Sub(c.clock.Now())) }

func openDB(t testing.TB, url string) *postgres.DB {
	t.Helper()
	return openDBAt(t, url, portstest.NewFakeClock(noon))
}

func openDBAt(t testing.TB, url string, clock ports.Clock) *postgres.DB {
	t.Helper()
	return openWith(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 8, Clock: clock, IDs: generator,
		Tracer: statements.Trace(t, url)})
}

// openWith opens a database until the end of the test.
func openWith(t testing.TB, o postgres.Options) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// mustDo runs a unit of work and fails the test on an error.
func (c *env) mustDo(t testing.TB, fn func(context.Context, *postgres.Unit) error) {
	t.Helper()
	if err := c.Do(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func newPlatform(t testing.TB, name string) platform.Platform {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(generator.New, noon), name, platform.Sandbox, false, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newToken(t *testing.T, p platform.Platform, name string, permissions ...platform.Permission) (platform.Token, string) {
	t.Helper()
	id := ident.NewToken(generator.New, noon)
	token, secret, err := platform.NewToken(id, p.ID, name, permissions, id.UUID(), [32]byte{1}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return token, secret
}

// newCustomer returns an approved individual with unique ids.
func newCustomer(p platform.Platform, name string) customer.Customer {
	return customer.Customer{
		ID: ident.NewCustomer(generator.New, noon), Platform: p.ID, PlatformCustomerID: name, Type: customer.Individual,
		UMAAddress: "$" + name + "@uma.test", Status: customer.Approved, FullName: "Ana Silva", CreatedAt: noon, UpdatedAt: noon,
	}
}

// newWallet returns a wallet of a customer, or of the platform if customer is zero.
func newWallet(p platform.Platform, owner ident.Customer, address string) account.External {
	return account.External{
		ID: ident.NewExternalAccount(generator.New, noon), Platform: p.ID, Customer: owner, Currency: money.BTC,
		Type: account.Layer2Wallet, Fields: map[string]string{"address": address}, Rails: []corridor.Rail{"LAYER2"},
		Status: account.Active, CreatedAt: noon, UpdatedAt: noon,
	}
}

func (c *env) createCustomers(t *testing.T, customers ...customer.Customer) {
	t.Helper()
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, one := range customers {
			if err := tx.CreateCustomer(ctx, one); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *env) createAccounts(t *testing.T, accounts ...account.External) {
	t.Helper()
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, one := range accounts {
			if err := tx.CreateExternalAccount(ctx, one); err != nil {
				return err
			}
		}
		return nil
	})
}

// readAllPages reads a list page by page and returns the ids in order, and the totals of the
// pages.
func readAllPages[T any](t *testing.T, p ports.Paging, read func(ports.Paging) (ports.Page[T], error),
	id func(T) uuid.UUID) (order []uuid.UUID, totals map[int64]bool) {
	t.Helper()
	totals = map[int64]bool{}
	for {
		page, err := read(p)
		if err != nil {
			t.Fatal(err)
		}
		totals[page.Total] = true
		for _, item := range page.Items {
			order = append(order, id(item))
		}
		if !page.More {
			return order, totals
		}
		if len(page.Items) != p.Limit {
			t.Fatalf("a page of %d with more to come, want %d", len(page.Items), p.Limit)
		}
		p.After = order[len(order)-1]
	}
}

func numberedName(prefix string, n int) string { return fmt.Sprintf("%s-%04d", prefix, n) }
