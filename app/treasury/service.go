// Package treasury holds the use cases on money at partners: what is held for customers against what is owed
// to them, kept for every day, and the movements of money between accounts.
//
// It decides nothing about customers' payments, and payments never wait for it.
package treasury

import (
	"context"
	"slices"
	"strings"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/report"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store  Store
	Ledger Finance
	// Balances reads the balances of single accounts.
	Balances LedgerReader
	// KeptRates are the market rates at which reports are valued.
	KeptRates KeptRates
	// Proofs and Connections say what partners confirm that they hold.
	Proofs      RailProofReader
	Connections RailConnectionReader
	Clock       ports.Clock
	IDs         ports.IDs
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Account is an account at a partner with its purpose, and every change of it.
type Account struct {
	Path     string
	Purpose  safeguarding.Purpose
	Balances []ports.LedgerAccount // of each currency; nil without postings
	Changes  []ports.AccountPurpose
}

// Accounts lists the accounts at partners that have postings or whose purpose was set, by path.
func (s *Service) Accounts(ctx context.Context, p ident.Platform) ([]Account, error) {
	purposes, changes, err := s.purposes(ctx, p)
	if err != nil {
		return nil, err
	}
	balances, err := s.Ledger.CurrentBalances(ctx, p, []string{"chains/", "own/", "rails/", "transit/client-money", "transit/treasury"}, "")
	if err != nil {
		return nil, err
	}
	var accounts []Account
	index := map[string]int{}
	at := func(path string) *Account {
		i, ok := index[path]
		if !ok {
			i = len(accounts)
			purpose, _ := purposes.Of(path)
			index[path], accounts = i, append(accounts, Account{Path: path, Purpose: purpose})
		}
		return &accounts[i]
	}
	for _, b := range balances {
		a := at(b.Account.Path)
		a.Balances = append(a.Balances, b)
	}
	for _, c := range changes {
		a := at(c.Path)
		a.Changes = append(a.Changes, c)
	}
	slices.SortFunc(accounts, func(a, b Account) int { return strings.Compare(a.Path, b.Path) })
	return accounts, nil
}

// purposes returns the purposes in force and all their changes.
func (s *Service) purposes(ctx context.Context, p ident.Platform) (safeguarding.Purposes, []ports.AccountPurpose, error) {
	changes, err := s.Store.AccountPurposes(ctx, p)
	return purposesOf(changes), changes, err
}

func purposesOf(changes []ports.AccountPurpose) safeguarding.Purposes {
	purposes := safeguarding.Purposes{}
	for _, c := range changes { // by version: the last one counts
		purposes[c.Path] = c.Purpose
	}
	return purposes
}

// purposesAt returns the purposes that were in force at a moment: a report of a past day has those of that day.
func (s *Service) purposesAt(ctx context.Context, p ident.Platform, at time.Time) (safeguarding.Purposes, error) {
	changes, err := s.Store.AccountPurposes(ctx, p)
	return purposesOf(slices.DeleteFunc(changes, func(c ports.AccountPurpose) bool { return c.At.After(at) })), err
}

// SetPurpose says whose money an account at a partner holds, or makes a proposal of that. Money of customers that
// is in it counts no more as held for them if the purpose becomes OWN, so that is refused if it would leave less
// than is owed. Faults: INVALID_INPUT; CONFLICT; those of foureyes.Run.
func (s *Service) SetPurpose(ctx context.Context, p ident.Platform, change ports.AccountPurpose) (proposal.Outcome[Account], error) {
	return foureyes.Run(ctx, s.foureyes(), s.purposeChange(), p, change.By, nil, newPurposeRequest(change))
}

// SetPurposeAlone is the change of an operator, whatever the settings.
func (s *Service) SetPurposeAlone(ctx context.Context, p ident.Platform, change ports.AccountPurpose) error {
	_, err := foureyes.RunAlone(ctx, s.foureyes(), s.purposeChange(), p, change.By, nil, newPurposeRequest(change))
	return err
}

func (s *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

// Executors carry out the approved proposals of this service.
func (s *Service) Executors() []foureyes.Executor {
	executors := []foureyes.Executor{s.arrival().Executor(s.foureyes()), s.purposeChange().Executor(s.foureyes())}
	for _, kind := range treasury.Kinds() {
		executors = append(executors, s.movement(kind).Executor(s.foureyes()))
	}
	return executors
}

// purposeRequest is the stored form of a change of a purpose.
type purposeRequest struct {
	Account string               `json:"account"`
	Purpose safeguarding.Purpose `json:"purpose"`
	Note    string               `json:"note,omitempty"`
}

func newPurposeRequest(c ports.AccountPurpose) purposeRequest {
	return purposeRequest{c.Path, c.Purpose, c.Note}
}

func (s *Service) purposeChange() foureyes.Operation[Tx, purposeRequest, Account] {
	return foureyes.Operation[Tx, purposeRequest, Account]{ID: "setSafeguardingAccountPurpose", Action: books.ActionTreasury,
		Check: func(_ context.Context, _ ident.Platform, r purposeRequest) error {
			return safeguarding.CheckPurpose(r.Account, r.Purpose)
		},
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r purposeRequest) (Account, string, error) {
			account, err := s.setPurpose(ctx, tx, c, r)
			return account, r.Account, err
		}}
}

func (s *Service) setPurpose(ctx context.Context, tx Tx, c foureyes.Change, r purposeRequest) (Account, error) {
	if err := tx.LockSafeguarding(ctx, c.Platform); err != nil {
		return Account{}, err
	}
	before, changes, err := s.purposes(ctx, c.Platform)
	if err != nil {
		return Account{}, err
	}
	if r.Purpose == safeguarding.Own {
		if err := s.checkReclassified(ctx, c.Platform, before, r.Account, c.At); err != nil {
			return Account{}, err
		}
	}
	stored, err := tx.SetAccountPurpose(ctx, c.Platform, ports.AccountPurpose{Path: r.Account, Purpose: r.Purpose, At: c.At, By: c.By,
		Approval: c.Approval, Note: r.Note})
	if err != nil {
		return Account{}, err
	}
	account := Account{Path: r.Account, Purpose: r.Purpose}
	for _, change := range append(changes, stored) {
		if change.Path == r.Account {
			account.Changes = append(account.Changes, change)
		}
	}
	account.Balances, err = s.Ledger.AccountsAtCutoff(ctx, c.Platform, r.Account, "", ports.Cutoff{})
	return account, err
}

// tooSlow returns what to use in place of a report that read for too long.
func tooSlow(err error) error {
	return report.TooSlow(err, "Use the report that is kept for the day, or `causeway ledger safeguarding`.")
}
