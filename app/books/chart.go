package books

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/csvcell"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// ChartAccount is a line of the chart of a platform: a built-in one, or an account that finance has added.
type ChartAccount struct {
	ledger.ChartLine
	// GL is its account of the general ledger in currencies without a line of their own.
	GL books.GLAccount
	// Added is the account that finance has added; nil for a built-in line.
	Added *books.AddedAccount
}

// Chart returns the lines of the built-in chart, followed by the accounts that were added, by path.
func (s *Service) Chart(ctx context.Context, p ident.Platform) ([]ChartAccount, error) {
	mapping, err := s.Store.GLMapping(ctx, p, noMoment)
	if err != nil {
		return nil, err
	}
	added, err := s.Store.AddedAccounts(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	var chart []ChartAccount
	for _, line := range ledger.Chart() {
		chart = append(chart, ChartAccount{ChartLine: line, GL: mapping.Resolve(line.Path, "")})
	}
	for _, path := range slices.Sorted(maps.Keys(added)) {
		chart = append(chart, newChartAccount(added[path], mapping))
	}
	return chart, nil
}

func newChartAccount(a books.AddedAccount, mapping books.MappingVersion) ChartAccount {
	return ChartAccount{ChartLine: ledger.ChartLine{Path: a.Path, Class: a.Class(), Description: a.Description},
		GL: mapping.Resolve(a.Path, ""), Added: &a}
}

// AddAccount adds an account to the chart, or makes a proposal of that. Faults: INVALID_INPUT; CONFLICT if it was
// added before, or if there are too many; those of foureyes.Run.
func (s *Service) AddAccount(ctx context.Context, p ident.Platform, c Change, request *ports.IdempotentRequest,
	a books.AddedAccount) (proposal.Outcome[ChartAccount], error) {
	return run(ctx, s, s.addition(), p, c, request, additionRequest{a.Path, a.Name, a.Description, c.Note})
}

// additionRequest is the stored form of an account to add.
type additionRequest struct {
	Path        string `json:"path"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Note        string `json:"note,omitempty"`
}

func (r additionRequest) account() books.AddedAccount {
	return books.AddedAccount{Path: r.Path, Name: r.Name, Description: r.Description}
}

func (s *Service) addition() foureyes.Operation[Tx, additionRequest, ChartAccount] {
	return foureyes.Operation[Tx, additionRequest, ChartAccount]{ID: "addLedgerAccount", Action: books.ActionChart,
		Check: func(_ context.Context, _ ident.Platform, r additionRequest) error {
			if bad := append(r.account().Check(), Change{Note: r.Note}.problems()...); len(bad) > 0 {
				return fault.Invalid(bad...)
			}
			return nil
		},
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r additionRequest) (ChartAccount, string, error) {
			a := r.account()
			changed, err := changeAccount(ctx, tx, c, r.Note, r.Path, func(all books.AddedAccounts) (books.AddedAccount, error) {
				if _, exists := all[a.Path]; exists {
					return a, conflict("Account exists", "The account %s was added before. Change it with PATCH /ledger/chart/{account} or `causeway "+
						"ledger chart change`.", a.Path)
				}
				if len(all) >= books.MaxAddedAccounts {
					return a, conflict("Too many accounts", "A platform can add %d accounts.", books.MaxAddedAccounts)
				}
				return a, nil
			})
			return changed, r.Path, err
		}}
}

// AccountChange changes what is not nil of an account.
type AccountChange struct {
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
	Retired     *bool   `json:"retired,omitempty"`
}

// ChangeAccount changes an account that was added, or makes a proposal of that. A change to what it is already changes
// nothing. Faults: INVALID_INPUT; NOT_FOUND; those of foureyes.Run.
func (s *Service) ChangeAccount(ctx context.Context, p ident.Platform, c Change, path string,
	change AccountChange) (proposal.Outcome[ChartAccount], error) {
	return run(ctx, s, s.accountChange(), p, c, nil, accountChangeRequest{path, change, c.Note})
}

// accountChangeRequest is the stored form of a change of an account.
type accountChangeRequest struct {
	Account string `json:"account"`
	AccountChange
	Note string `json:"note,omitempty"`
}

func (s *Service) accountChange() foureyes.Operation[Tx, accountChangeRequest, ChartAccount] {
	return foureyes.Operation[Tx, accountChangeRequest, ChartAccount]{ID: "changeLedgerAccount", Action: books.ActionChart,
		Check: func(_ context.Context, _ ident.Platform, r accountChangeRequest) error { return checkNote(r.Note) },
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r accountChangeRequest) (ChartAccount, string, error) {
			changed, err := changeAccount(ctx, tx, c, r.Note, r.Account, func(all books.AddedAccounts) (books.AddedAccount, error) {
				a, exists := all[r.Account]
				if !exists {
					return a, fault.New(fault.NotFound, "No account %.80q was added to the chart. List the chart with GET /ledger/chart or `causeway "+
						"ledger chart list`.", r.Account)
				}
				if r.Name != nil {
					a.Name = *r.Name
				}
				if r.Description != nil {
					a.Description = *r.Description
				}
				if r.Retired != nil {
					a.Retired = *r.Retired
				}
				if bad := a.Check(); len(bad) > 0 {
					return a, fault.Invalid(bad...)
				}
				return a, nil
			})
			return changed, r.Account, err
		}}
}

// changeAccount saves what decide makes of the accounts, unless it is what the account with the path is.
func changeAccount(ctx context.Context, tx Tx, c foureyes.Change, note, path string,
	decide func(books.AddedAccounts) (books.AddedAccount, error)) (changed ChartAccount, err error) {
	if _, err := tx.LockPeriods(ctx, c.Platform); err != nil {
		return changed, err
	}
	all, err := tx.AddedAccounts(ctx, c.Platform, nil)
	if err != nil {
		return changed, err
	}
	a, err := decide(all)
	if err != nil {
		return changed, err
	}
	mapping, err := tx.GLMapping(ctx, c.Platform, noMoment)
	if err != nil {
		return changed, err
	}
	if a == all[path] && c.Approval.IsZero() {
		return newChartAccount(a, mapping), nil
	}
	a.Version, a.At, a.By, a.Approval, a.Note = all[path].Version+1, c.At, c.By, c.Approval, note
	return newChartAccount(a, mapping), tx.SaveAddedAccount(ctx, c.Platform, a)
}

// ChartColumns are the columns of the chart as a table.
var ChartColumns = []string{"path", "class", "name", "description", "retired", "gl_code", "gl_name"}

// ChartRows returns the chart as the rows of a table. Built-in accounts have no name, and are never retired.
func ChartRows(chart []ChartAccount) [][]string {
	rows := make([][]string, len(chart))
	for i, a := range chart {
		var name, retired string
		if a.Added != nil {
			name, retired = a.Added.Name, strconv.FormatBool(a.Added.Retired)
		}
		rows[i] = []string{a.Path, string(a.Class), csvcell.Escape(name), csvcell.Escape(a.Description), retired, csvcell.Escape(a.GL.Code),
			csvcell.Escape(a.GL.Name)}
	}
	return rows
}
