package account

import (
	"fmt"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
)

// FundingReference is the code of an internal account in the memo of a payment to
// it: FUND- and 12 digits and capital letters.
func FundingReference(id ident.InternalAccount) string { return "FUND-" + ident.Code(id.UUID()) }

// Funding asks a rail for the ways to pay into an account with this reference, whose
// owner has this name.
type Funding func(owner, reference string, currency money.Currency) ([]Instruction, error)

// Instructed is the account with the ways to pay in. There are none into an embedded
// wallet: what it holds is under its owner's keys.
func (a Internal) Instructed(owner string, funding Funding) (Internal, error) {
	a.Instructions = []Instruction{}
	if a.Type == EmbeddedWallet {
		return a, nil
	}
	ways, err := funding(owner, a.Reference, a.Currency)
	if err != nil {
		return a, fmt.Errorf("ways to pay into %s: %w", a.ID, err)
	}
	for _, way := range ways {
		way.PlatformAccount = a.Customer.IsZero()
		a.Instructions = append(a.Instructions, way)
	}
	return a, nil
}

// Opening is what is needed to open the internal accounts of one owner.
type Opening struct {
	Platform ident.Platform
	// Customer owns the accounts; zero for the platform itself.
	Customer ident.Customer
	// Owner is the name that bank accounts are held for.
	Owner string
	// Funding is nil where no rail is connected: the accounts get their instructions
	// once one is.
	Funding Funding
	NewID   ident.Source
	Now     time.Time
}

// Accounts opens one account for each currency.
func (o Opening) Accounts(currencies []money.Currency) ([]Internal, error) {
	accounts := make([]Internal, 0, len(currencies))
	for _, currency := range currencies {
		opened, err := NewInternal(ident.NewInternalAccount(o.NewID, o.Now), o.Platform, o.Customer, currency, o.Now)
		if err != nil {
			return nil, err
		}
		if o.Funding != nil {
			if opened, err = opened.Instructed(o.Owner, o.Funding); err != nil {
				return nil, err
			}
		}
		accounts = append(accounts, opened)
	}
	return accounts, nil
}
