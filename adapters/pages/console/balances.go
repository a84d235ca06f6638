package console

import (
	"context"
	"fmt"
	"math/big"

	"causeway/app/accounts"
	"causeway/core/account"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/rail"
	"causeway/core/safeguarding"
	"causeway/ports"
)

// Accounts are the use cases on internal accounts.
type Accounts interface {
	ListInternal(ctx context.Context, p ident.Platform, owner accounts.Owner, f ports.InternalAccountFilter) (ports.Page[account.WithBalance],
		error)
	List(ctx context.Context, p ident.Platform, owner accounts.Owner, f ports.ExternalAccountFilter) (ports.Page[account.External], error)
}

// maxAccounts is how many accounts of a platform or a customer are shown.
const maxAccounts = 100

// level is a bar of what there is, with a line at a limit that it must not fall below or exceed.
type level struct {
	Label string
	// Name and Value are the texts beside the bar.
	Name, Value string
	Class       string
	Bar, Line   int
}

// The width of a bar whose amount or limit is the larger one, and its height.
const (
	levelWidth  = 300
	levelHeight = 18
)

// Width and Height are those of the drawing.
func (level) Width() int  { return levelWidth + 4 }
func (level) Height() int { return levelHeight }

// newLevel draws an amount beside a limit. isBelow: the amount must not fall below the limit; otherwise it must not exceed it.
func newLevel(name string, amount, limit money.Total, c money.Currency, isBelow bool, what string) level {
	a, b := parseTotal(amount), parseTotal(limit)
	larger := a
	if b.Cmp(a) > 0 {
		larger = b
	}
	l := level{Name: name, Value: amount.Major(c), Class: "done", Label: fmt.Sprintf("%s: %s %s, %s %s", name, amount.Major(c), c, what,
		limit.Major(c))}
	if larger.Sign() > 0 {
		scale := func(n *big.Int) int {
			if n.Sign() <= 0 {
				return 0
			}
			return int(new(big.Int).Div(new(big.Int).Mul(n, big.NewInt(levelWidth)), larger).Int64())
		}
		l.Bar, l.Line = scale(a), scale(b)
	}
	if cmp := a.Cmp(b); isBelow && cmp < 0 || !isBelow && cmp >= 0 {
		l.Class = "lost"
	}
	return l
}

func parseTotal(t money.Total) *big.Int {
	n, _ := new(big.Int).SetString(t.String(), 10)
	return n
}

// balances are the balances of a platform by currency, with the lines that they must keep to.
type balances struct {
	Levels []level
	Table  *table
}

// balancesOf returns what the platform owes to customers and what is held for them, and its own accounts.
func (c *Console) balancesOf(r *request) (balances, error) {
	figures, err := c.Treasury.Coverage(r.Context(), r.platform.ID)
	if err != nil {
		return balances{}, err
	}
	own, err := c.Accounts.ListInternal(r.Context(), r.platform.ID, accounts.OwnedByPlatform,
		ports.InternalAccountFilter{Paging: ports.Paging{Limit: maxAccounts, WithoutTotal: true}})
	if err != nil {
		return balances{}, err
	}
	b, base := newBalances(figures, own.Items), basePath(r.platform.ID)
	for _, row := range b.Table.Rows {
		for i := range row[1:4] {
			if row[i+1].Text != "" {
				row[i+1].Link = base + "/safeguarding"
			}
		}
		if row[4].Text != "" {
			row[4].Link = figureLink(base, "platform/<InternalAccount>", money.Currency(row[0].Text), financials.Entries{}, "")
		}
	}
	return b, nil
}

func newBalances(figures []safeguarding.Figures, own []account.WithBalance) balances {
	b := balances{Table: &table{Label: "Balances by currency", Columns: columns("Currency", ">Held for customers", ">Owed to customers",
		">Difference", ">Your own accounts"), Empty: "Nothing is held, and nothing owed."}}
	sums, order := map[money.Currency]money.Total{}, []money.Currency{}
	for _, a := range own {
		if _, known := sums[a.Currency]; !known {
			order = append(order, a.Currency)
		}
		sums[a.Currency] = sums[a.Currency].Add(money.TotalOf(a.Balance))
	}
	seen := map[money.Currency]bool{}
	for _, f := range figures {
		seen[f.Currency] = true
		b.Levels = append(b.Levels, newLevel(string(f.Currency), f.Resource, f.Requirement, f.Currency, true, "owed to customers"))
		b.Table.Rows = append(b.Table.Rows, []cell{plain(string(f.Currency)), amountCell(f.Resource.Major(f.Currency)),
			amountCell(f.Requirement.Major(f.Currency)), amountCell(f.Difference().Major(f.Currency)),
			amountCell(sums[f.Currency].Major(f.Currency))})
	}
	for _, currency := range order {
		if !seen[currency] {
			b.Table.Rows = append(b.Table.Rows, []cell{plain(string(currency)), amountCell(""), amountCell(""), amountCell(""),
				amountCell(sums[currency].Major(currency))})
		}
	}
	return b
}

// maxLevels is how many connections the overview shows.
const maxLevels = 10

// connectionLevels returns what connections have paid out beside their limits, and what they hold, for those who may see them.
func (c *Console) connectionLevels(r *request, p page) (*table, error) {
	if p.IsSandbox() || !p.Person.May(person.ViewConnections, ident.Platform{}) {
		return nil, nil
	}
	ctx := ports.ForAllPlatforms(r.Context())
	listed, _, err := c.Rails.List(ctx)
	if err != nil {
		return nil, err
	}
	rows := table{Label: "Connections", Columns: columns("Connection", "Currency", ">Available", ">Paid out today", ">Limit of a day",
		"Waits for money")}
	for _, l := range listed[:min(len(listed), maxLevels)] {
		if l.Retired {
			continue
		}
		shown, err := c.Rails.Show(ctx, l.Name)
		if err != nil {
			return nil, err
		}
		for _, a := range shown.Accounts {
			rows.Rows = append(rows.Rows, accountCells(l.Name, shown.Limits, a))
		}
	}
	if len(rows.Rows) == 0 {
		return nil, nil
	}
	return &rows, nil
}

func accountCells(name string, limits []rail.Limit, a rail.Account) []cell {
	row := []cell{linked(name, root+"/connections/"+name), plain(string(a.Currency)), amountCell("unknown"), {}, {}, {}}
	if available, known := a.Available(); known {
		row[2] = amountCell(major(available))
	}
	var used, limit int64
	for _, u := range a.Usage {
		used += u.Day
	}
	for _, l := range limits {
		if l.Currency == a.Currency && l.Rail == "" {
			limit = l.PerDay
		}
	}
	row[3], row[4] = minorCell(used, a.Currency), amountCell("none")
	if limit > 0 {
		row[4] = minorCell(limit, a.Currency)
	}
	if a.Waiting {
		row[5] = plain("yes")
	}
	return row
}
