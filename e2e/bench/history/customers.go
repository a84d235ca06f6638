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

// customerCount is the number of customers. Each has an account in every currency.
const customerCount = 300

var balanceCurrencies = []money.Currency{money.USD, money.USDC, money.BTC}

// accountBalance is an internal account with its balance.
type accountBalance struct {
	id       ident.InternalAccount
	customer ident.Customer
	path     string
	currency money.Currency
	minor    int64
}

// createCustomers creates the customers of the platform with their accounts. The ledger of the
// platform must be empty: its clock does not go back to the first month.
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
		return fmt.Errorf("the ledger of %s already has postings; use a platform without postings", w.Platform)
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

// addAccount adds an account to those that payments use.
func (w *writer) addAccount(a account.Internal) {
	if !slices.Contains(balanceCurrencies, a.Currency) {
		return
	}
	path := ledger.CustomerAccount(a.ID)
	if a.Customer.IsZero() {
		path = ledger.PlatformAccount(a.ID)
	}
	balance := &accountBalance{id: a.ID, customer: a.Customer, path: path, currency: a.Currency}
	w.accounts, w.accountsByPath[path] = append(w.accounts, balance), balance
}

// randomAccount returns an account: some often, most rarely.
func (w *writer) randomAccount() *accountBalance {
	return w.accounts[w.rand.IntN(1+w.rand.IntN(len(w.accounts)))]
}

// randomFundedAccount returns an account that can pay, if one is found in a few tries.
func (w *writer) randomFundedAccount() (*accountBalance, bool) {
	for range 4 {
		if h := w.randomAccount(); h.minor >= 10*baseAmounts[h.currency] {
			return h, true
		}
	}
	return nil, false
}

// randomAmount returns an amount from about ten dollars to some thousands.
func (w *writer) randomAmount(currency money.Currency) int64 {
	minimum := baseAmounts[currency] << w.rand.IntN(9)
	return minimum + w.rand.Int64N(minimum)
}
