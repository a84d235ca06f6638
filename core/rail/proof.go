package rail

import (
	"cmp"
	"slices"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
)

// ProofState is the result of a proof.
type ProofState string

// The states.
const (
	Proved    ProofState = "PROVED"
	Different ProofState = "DIFFERENT"
	NoBalance ProofState = "NO_BALANCE" // a partner has not said what it holds
)

// Group is connections whose money is in the same ledger accounts, in one currency.
type Group struct {
	Connections []string
	Currency    money.Currency
	Accounts    []LedgerAccount
}

// LedgerAccount is the account of a platform for the money on a rail.
type LedgerAccount struct {
	Platform ident.Platform
	Path     string
}

// Groups returns the groups of connections; platforms are all that connections without platforms serve. Two
// connections are in one group if they share an account, also by way of others.
func Groups(connections []Connection, platforms []ident.Platform) []Group {
	var groups []Group
	for _, currency := range currenciesOf(connections) {
		var found []Group
		for _, c := range connections {
			if !slices.Contains(c.Currencies, currency) {
				continue
			}
			joined := Group{Connections: []string{c.Name}, Currency: currency, Accounts: c.accounts(platforms)}
			found = slices.DeleteFunc(found, func(g Group) bool {
				if !g.shares(joined) {
					return false
				}
				joined.Connections = append(joined.Connections, g.Connections...)
				joined.Accounts = append(joined.Accounts, g.Accounts...)
				return true
			})
			found = append(found, joined)
		}
		for i := range found {
			slices.Sort(found[i].Connections)
			slices.SortFunc(found[i].Accounts, compareLedgerAccounts)
			found[i].Accounts = slices.Compact(found[i].Accounts)
		}
		groups = append(groups, found...)
	}
	return groups
}

func compareLedgerAccounts(a, b LedgerAccount) int {
	return cmp.Or(a.Platform.Compare(b.Platform), cmp.Compare(a.Path, b.Path))
}

func currenciesOf(connections []Connection) []money.Currency {
	var currencies []money.Currency
	for _, c := range connections {
		currencies = append(currencies, c.Currencies...)
	}
	slices.Sort(currencies)
	return slices.Compact(currencies)
}

// Covers reports whether the proof is about what an account holds in a currency, with the connections as they are now.
func (p Proof) Covers(account LedgerAccount, currency money.Currency, connections []Connection) bool {
	return p.Currency == currency && slices.ContainsFunc(connections, func(c Connection) bool {
		return slices.Contains(p.Connections, c.Name) && slices.Contains(c.Currencies, currency) &&
			slices.Contains(c.accounts([]ident.Platform{account.Platform}), account)
	})
}

// accounts returns the ledger accounts of the money of the connection.
func (c Connection) accounts(platforms []ident.Platform) []LedgerAccount {
	if len(c.Platforms) > 0 {
		platforms = c.Platforms
	}
	var accounts []LedgerAccount
	for _, p := range platforms {
		for _, r := range c.Rails {
			accounts = append(accounts, LedgerAccount{p, r.LedgerPath()})
		}
	}
	return accounts
}

func (g Group) shares(other Group) bool {
	own := make(map[LedgerAccount]bool, len(g.Accounts))
	for _, a := range g.Accounts {
		own[a] = true
	}
	return slices.ContainsFunc(other.Accounts, func(a LedgerAccount) bool { return own[a] })
}

// Proof compares what the ledger says is at the partners of a group with what the partners say.
type Proof struct {
	Connections []string
	Currency    money.Currency
	// From and To are the earliest and the latest time of the balances of the connections.
	From, To time.Time
	// Partners is the sum of the balances. LedgerFrom and LedgerTo are those of the ledger accounts at the two times.
	Partners, LedgerFrom, LedgerTo money.Total
	// Out and In is what was in flight between the two times: handed over, and not yet in the ledger, so that it may be in the
	// balances or not.
	Out, In money.Total
	State   ProofState
	// Difference is what the partners hold more (or, below zero, less) than the ledger and what was in flight explain.
	Difference money.Total
	// Suspects are payments of the amount of the difference, by their end-to-end ids.
	Suspects []string
	// Problem says why there is no proof.
	Problem  string
	ProvedAt time.Time
}

// Concluded returns the proof with its result.
func (p Proof) Concluded() Proof {
	low, high := p.LedgerFrom, p.LedgerTo
	if high.Sub(low).Sign() < 0 {
		low, high = high, low
	}
	low, high = low.Sub(p.Out), high.Add(p.In)
	p.State, p.Difference = Proved, money.Total{}
	if missing := p.Partners.Sub(low); missing.Sign() < 0 {
		p.State, p.Difference = Different, missing
	}
	if surplus := p.Partners.Sub(high); surplus.Sign() > 0 {
		p.State, p.Difference = Different, surplus
	}
	return p
}
