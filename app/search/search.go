// Package search finds what a person looks for on a platform by any of its names: an id, a reference, an amount, the id that a partner
// has given it, the name of a customer or the number of an account. It decides nothing about them.
package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/search"
	"causeway/core/transaction"
	"causeway/ports"
)

// By is the name by which something was found.
type By string

// The names.
const (
	ByReference  By = "REFERENCE"
	ByUMA        By = "UMA"
	ByAmount     By = "AMOUNT"
	ByPartnerID  By = "PARTNER_ID"
	ByPlatformID By = "PLATFORM_ID"
	ByName       By = "NAME"
)

// Payments are those that were found by a name, newest first. More: there are others.
type Payments struct {
	By    By
	Items []transaction.Transaction
	More  bool
}

// Customers are those that were found by a name.
type Customers struct {
	By    By
	Items []customer.Customer
	More  bool
}

// Found is everything that a text names.
type Found struct {
	Query search.Query
	// Hits have the id that was looked for; each with its type, such as Customer:<uuid>.
	Hits      []string
	Payments  []Payments
	Customers []Customers
	// Accounts were found by their number or its last four characters. MoreAccounts: there are others.
	Accounts     []account.External
	MoreAccounts bool
	// NotSearched: names of customers and numbers of accounts were not looked for, because the person may not see personal data.
	NotSearched bool
}

// MaxFound is how many things of a kind are found by a name.
const MaxFound = 20

// Store reads what is searched.
type Store interface {
	ports.UnitsOfWork
	Transactions(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error)
	TransactionsByKey(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
	Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
	// FindByID returns the typed ids of what has an id, or of what something with it belongs to: the payment of a quote, the customer of
	// an agent or of a beneficial owner.
	FindByID(ctx context.Context, p ident.Platform, id uuid.UUID) ([]string, error)
	// FindByPartnerID returns the payments that a partner, a chain or a node has named so, at most limit.
	FindByPartnerID(ctx context.Context, p ident.Platform, names []string, limit int) ([]ident.Transaction, error)
	// FindCustomersByKeys returns the customers that have all keys, and FindAccountsByKey the accounts that have one, also deleted
	// ones, at most limit.
	FindCustomersByKeys(ctx context.Context, p ident.Platform, keys []search.Key, limit int) ([]customer.Customer, error)
	FindAccountsByKey(ctx context.Context, p ident.Platform, key search.Key, limit int) ([]account.External, error)
}

// Service holds the use cases.
type Service struct {
	store Store
	clock ports.Clock
	ids   ports.IDs
}

// New returns a Service.
func New(store Store, clock ports.Clock, ids ports.IDs) *Service { return &Service{store, clock, ids} }

// Find returns what a text names. Without personal, nothing is looked for by a name or a number that is personal data.
func (s *Service) Find(ctx context.Context, p ident.Platform, text string, personal bool) (found Found, err error) {
	q := search.Parse(text)
	found.Query = q
	if q.Text == "" {
		return found, nil
	}
	if q.ID != uuid.Nil {
		if found.Hits, err = s.store.FindByID(ctx, p, q.ID); err != nil || q.Prefix != "" {
			return found, err
		}
	}
	if err := s.findPayments(ctx, p, q, &found); err != nil {
		return found, err
	}
	if err := s.findCustomers(ctx, p, q, &found); err != nil {
		return found, err
	}
	names, number := q.NameKeys(p), q.NumberKey(p)
	if !personal {
		found.NotSearched = len(names) > 0 || number != ""
		return found, nil
	}
	if len(names) > 0 {
		customers, err := s.store.FindCustomersByKeys(ctx, p, names, MaxFound+1)
		if err != nil {
			return found, err
		}
		found.add(Customers{By: ByName, Items: customers[:min(len(customers), MaxFound)], More: len(customers) > MaxFound})
	}
	if number != "" {
		if found.Accounts, err = s.store.FindAccountsByKey(ctx, p, number, MaxFound+1); err != nil {
			return found, err
		}
		found.MoreAccounts = len(found.Accounts) > MaxFound
		found.Accounts = found.Accounts[:min(len(found.Accounts), MaxFound)]
	}
	return found, nil
}

// add adds customers that were not found by another name before.
func (f *Found) add(c Customers) {
	c.Items = slices.DeleteFunc(c.Items, func(item customer.Customer) bool {
		return slices.ContainsFunc(f.Customers, func(earlier Customers) bool {
			return slices.ContainsFunc(earlier.Items, func(e customer.Customer) bool { return e.ID == item.ID })
		})
	})
	if len(c.Items) > 0 {
		f.Customers = append(f.Customers, c)
	}
}

// findPayments adds the payments that a text names otherwise than by their ids.
func (s *Service) findPayments(ctx context.Context, p ident.Platform, q search.Query, found *Found) error {
	if q.UMA != "" {
		if _, err := s.addPayments(ctx, p, ByUMA, found, ports.TransactionFilter{Account: q.UMA}); err != nil {
			return err
		}
	} else {
		// A reference is entered in other letters than it has, which are capitals in those of the service.
		for _, reference := range slices.Compact([]string{q.Text, strings.ToUpper(q.Text), strings.ToLower(q.Text)}) {
			if has, err := s.addPayments(ctx, p, ByReference, found, ports.TransactionFilter{Reference: reference}); has || err != nil {
				if err != nil {
					return err
				}
				break
			}
		}
	}
	var amounts []ports.TransactionFilter
	for minor, currencies := range q.CurrenciesByMinor() {
		amounts = append(amounts, ports.TransactionFilter{Amounts: ports.AmountFilter{Min: minor, Max: minor, Currencies: currencies}})
	}
	if len(amounts) > 0 {
		if _, err := s.addPayments(ctx, p, ByAmount, found, amounts...); err != nil {
			return err
		}
	}
	if len(q.Partner) == 0 {
		return nil
	}
	ids, err := s.store.FindByPartnerID(ctx, p, q.Partner, MaxFound+1)
	if err != nil || len(ids) == 0 {
		return err
	}
	keys := make([]ports.TransactionKey, min(len(ids), MaxFound))
	for i := range keys {
		keys[i] = ports.TransactionKey{Platform: p, ID: ids[i]}
	}
	read, err := s.store.TransactionsByKey(ctx, keys)
	named := Payments{By: ByPartnerID, More: len(ids) > MaxFound}
	for _, key := range keys {
		if t, is := read[key]; is {
			named.Items = append(named.Items, t)
		}
	}
	if len(named.Items) > 0 {
		found.Payments = append(found.Payments, named)
	}
	return err
}

// addPayments adds the payments of any of the filters, the newest ones, and reports whether there are some.
func (s *Service) addPayments(ctx context.Context, p ident.Platform, by By, found *Found,
	filters ...ports.TransactionFilter) (bool, error) {
	all := Payments{By: by}
	for _, f := range filters {
		f.Paging = ports.Paging{Limit: MaxFound, WithoutTotal: true}
		page, err := s.store.Transactions(ctx, p, f)
		if err != nil {
			return false, err
		}
		all.Items, all.More = append(all.Items, page.Items...), all.More || page.More
	}
	slices.SortFunc(all.Items, func(a, b transaction.Transaction) int { return b.ID.Compare(a.ID) })
	all.Items = slices.CompactFunc(all.Items, func(a, b transaction.Transaction) bool { return a.ID == b.ID })
	if all.More = all.More || len(all.Items) > MaxFound; len(all.Items) > 0 {
		all.Items = all.Items[:min(len(all.Items), MaxFound)]
		found.Payments = append(found.Payments, all)
	}
	return len(all.Items) > 0, nil
}

// findCustomers adds the customers that a text names as no personal data does.
func (s *Service) findCustomers(ctx context.Context, p ident.Platform, q search.Query, found *Found) error {
	by, f := ByPlatformID, ports.CustomerFilter{PlatformCustomerID: q.Text}
	if q.UMA != "" {
		by, f = ByUMA, ports.CustomerFilter{UMAAddress: q.UMA}
	}
	f.Paging, f.IncludeDeleted = ports.Paging{Limit: MaxFound, WithoutTotal: true}, true
	page, err := s.store.Customers(ctx, p, f)
	if err == nil {
		found.add(Customers{by, page.Items, page.More})
	}
	return err
}

// Tx is a unit of work.
type Tx interface {
	// TakeSearchQueue takes rows of the queue that nobody has locked, at most limit, of all platforms.
	TakeSearchQueue(ctx context.Context, limit int) ([]ports.SearchItem, error)
	// QueueAllForSearch queues the next ones of all that follow an id, at most limit, and those after them.
	QueueAllForSearch(ctx context.Context, all ports.SearchItem, limit int) error
	// CustomersToIndex and AccountsToIndex return those that exist, also deleted ones.
	CustomersToIndex(ctx context.Context, p ident.Platform, ids []uuid.UUID) ([]customer.Customer, error)
	AccountsToIndex(ctx context.Context, p ident.Platform, ids []uuid.UUID) ([]account.External, error)
	// SaveSearchKeys stores the keys of something in place of those that it had.
	SaveSearchKeys(ctx context.Context, keys []ports.SearchKeys, newID func() uuid.UUID) error
}

// The limits of one unit of work, and of one call of Index, which leaves the rest to the next one.
const (
	maxIndexed   = 500
	maxIndexTime = 2 * time.Second
)

// Index makes the keys of what is queued. Several processes may call it at once.
func (s *Service) Index(ctx context.Context) error {
	for began := s.clock.Now(); s.clock.Now().Sub(began) < maxIndexTime; {
		taken := 0
		if err := ports.Do(ctx, s.store, func(ctx context.Context, tx Tx) (err error) {
			taken, err = s.indexSome(ctx, tx)
			return err
		}); err != nil || taken == 0 {
			return err
		}
	}
	return nil
}

func (s *Service) indexSome(ctx context.Context, tx Tx) (taken int, err error) {
	queue, err := tx.TakeSearchQueue(ctx, maxIndexed)
	if err != nil {
		return 0, err
	}
	type group struct {
		platform ident.Platform
		kind     ports.SearchKind
	}
	ids := map[group][]uuid.UUID{}
	for _, q := range queue {
		if q.IsAll {
			if err := tx.QueueAllForSearch(ctx, q, maxIndexed); err != nil {
				return 0, err
			}
			continue
		}
		g := group{q.Platform, q.Kind}
		ids[g] = append(ids[g], q.ID)
	}
	var all []ports.SearchKeys
	for g, of := range ids {
		switch g.kind {
		case ports.FoundCustomer:
			customers, err := tx.CustomersToIndex(ctx, g.platform, of)
			if err != nil {
				return 0, err
			}
			for _, c := range customers {
				all = append(all, ports.SearchKeys{Platform: g.platform, SearchHit: ports.SearchHit{Kind: g.kind, ID: c.ID.UUID()},
					Keys: search.KeysOfCustomer(c)})
			}
		case ports.FoundExternalAccount:
			accounts, err := tx.AccountsToIndex(ctx, g.platform, of)
			if err != nil {
				return 0, err
			}
			for _, a := range accounts {
				all = append(all, ports.SearchKeys{Platform: g.platform, SearchHit: ports.SearchHit{Kind: g.kind, ID: a.ID.UUID()},
					Keys: search.KeysOfAccount(a)})
			}
		default: // is found without keys
		}
	}
	return len(queue), tx.SaveSearchKeys(ctx, all, func() uuid.UUID { return s.ids.New(s.clock.Now()) })
}
