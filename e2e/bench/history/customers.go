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

// customerCount is how many there are. Each has an account in every currency of balances.
const customerCount = 300

var balanceCurrencies = []money.Currency{money.USD, money.USDC, money.BTC}

// accountBalance is an internal account with what it holds.
type accountBalance struct {
	id       ident.InternalAccount
	customer ident.Customer
	path     string
	currency money.Currency
	minor    int64
}

// createCustomers makes the customers of the platform with their accounts, which must have no books
// yet: its clock does not go back to the first month.
func (w *writer) createCustomers(ctx context.Context, db *postgres.DB) error {
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
		w.addAccount(a)
	}
	people, opened, err := w.newCustomers(platform.UMADomain)
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

func (w *writer) newCustomers(domain string) (people []customer.Customer, opened []account.Internal, err error) {
	for i := range customerCount {
		name := fmt.Sprintf("history-%03d", i+1)
		c := customer.Customer{ID: ident.NewCustomer(w.ids.New, w.from), Platform: w.Platform, PlatformCustomerID: name, Type: customer.Individual,
			Region: "US", FullName: fmt.Sprintf("Customer %d", i+1), UMAAddress: "$" + name + "@" + domain, Status: customer.Approved,
			CreatedAt: w.from, UpdatedAt: w.from}
		people = append(people, c)
		for _, currency := range balanceCurrencies {
			a, err := account.NewInternal(ident.NewInternalAccount(w.ids.New, w.from), w.Platform, c.ID, currency, w.from)
			if err != nil {
				return nil, nil, err
			}
			opened = append(opened, a)
			w.addAccount(a)
		}
	}
	return people, opened, nil
}

// addAccount takes an account in among those that money is paid to and from.
func (w *writer) addAccount(a account.Internal) {
	if !slices.Contains(balanceCurrencies, a.Currency) {
		return
	}
	path := ledger.CustomerAccount(a.ID)
	if a.Customer.IsZero() {
		path = ledger.PlatformAccount(a.ID)
	}
	h := &accountBalance{id: a.ID, customer: a.Customer, path: path, currency: a.Currency}
	w.accounts, w.accountsByPath[path] = append(w.accounts, h), h
}

// randomAccount is an account: some are used often, most now and then.
func (w *writer) randomAccount() *accountBalance {
	return w.accounts[w.rand.IntN(1+w.rand.IntN(len(w.accounts)))]
}

// randomFundedAccount is one that can pay something, if that is found soon.
func (w *writer) randomFundedAccount() (*accountBalance, bool) {
	for range 4 {
		if h := w.randomAccount(); h.minor >= 10*baseAmounts[h.currency] {
			return h, true
		}
	}
	return nil, false
}

// randomAmount is from ten dollars' worth to some thousands.
func (w *writer) randomAmount(of money.Currency) int64 {
	least := baseAmounts[of] << w.rand.IntN(9)
	return least + w.rand.Int64N(least)
}
