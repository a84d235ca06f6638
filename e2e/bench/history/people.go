package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// customers is how many there are. Each has an account in every currency of balances.
const customers = 300

var balances = []money.Currency{money.USD, money.USDC, money.BTC}

// holding is an internal account with what it holds.
type holding struct {
	id       ident.InternalAccount
	customer ident.Customer
	path     string
	currency money.Currency
	minor    int64
}

// settle makes the customers of the platform with their accounts, which must have no books
// yet: its clock does not go back to the first month.
func (w *writer) settle(ctx context.Context, db *postgres.DB) error {
	platform, err := db.Platform(ctx, w.Platform)
	if err != nil {
		return err
	}
	page, err := db.Finance().Postings(ctx, ports.PostingFilter{Platform: w.Platform, Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Postings) > 0 {
		return fmt.Errorf("there is something in the books of %s already; a history is for a platform that nothing was posted for", w.Platform)
	}
	own, err := db.InternalAccountsOf(ctx, w.Platform, []ident.Customer{{}})
	if err != nil {
		return err
	}
	for _, a := range slices.SortedFunc(slices.Values(own[ident.Customer{}]), func(a, b account.Internal) int { return cmp.Compare(a.Currency, b.Currency) }) {
		w.hold(a)
	}
	people, opened, err := w.people(platform.UMADomain)
	if err != nil {
		return err
	}
	return db.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		for _, c := range people {
			if err := tx.CreateCustomer(ctx, c); err != nil {
				return err
			}
		}
		return tx.OpenInternalAccounts(ctx, opened)
	})
}

func (w *writer) people(domain string) (people []customer.Customer, opened []account.Internal, err error) {
	for i := range customers {
		name := fmt.Sprintf("history-%03d", i+1)
		c := customer.Customer{ID: ident.NewCustomer(w.ids.New, w.from), Platform: w.Platform, PlatformCustomerID: name, Type: customer.Individual,
			Region: "US", FullName: fmt.Sprintf("Customer %d", i+1), UMAAddress: "$" + name + "@" + domain, Status: customer.Approved,
			CreatedAt: w.from, UpdatedAt: w.from}
		people = append(people, c)
		for _, currency := range balances {
			a, err := account.NewInternal(ident.NewInternalAccount(w.ids.New, w.from), w.Platform, c.ID, currency, w.from)
			if err != nil {
				return nil, nil, err
			}
			opened = append(opened, a)
			w.hold(a)
		}
	}
	return people, opened, nil
}

// hold takes an account in among those that money is paid to and from.
func (w *writer) hold(a account.Internal) {
	if !slices.Contains(balances, a.Currency) {
		return
	}
	path := ledger.CustomerAccount(a.ID)
	if a.Customer.IsZero() {
		path = ledger.PlatformAccount(a.ID)
	}
	h := &holding{id: a.ID, customer: a.Customer, path: path, currency: a.Currency}
	w.holdings, w.held[path] = append(w.holdings, h), h
}

// someone is an account: some are used often, most now and then.
func (w *writer) someone() *holding {
	return w.holdings[w.rand.IntN(1+w.rand.IntN(len(w.holdings)))]
}

// solvent is one that can pay something, if that is found soon.
func (w *writer) solvent() (*holding, bool) {
	for range 4 {
		if h := w.someone(); h.minor >= 10*some[h.currency] {
			return h, true
		}
	}
	return nil, false
}

// amount is from ten dollars' worth to some thousands.
func (w *writer) amount(of money.Currency) int64 {
	least := some[of] << w.rand.IntN(9)
	return least + w.rand.Int64N(least)
}
